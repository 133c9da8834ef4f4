// The prover on this machine's processor. prove_cpu.cc reads like the paper (Groth, EUROCRYPT 2016, section 3.2), with the basis for H and
// the densities that the key has; core/groth16/backend.h is what the rest of the program calls.
#pragma once

#include "core/groth16/backend.h"

namespace proofline {

// Curve is Bn254<Arith> or Bls12381<Arith> of core/curve/curve.h; both Ariths are instantiated in prove_cpu.cc.
//
// The contract is Backend::Prove's. Sizes are checked (kMismatch); contents are not: values must be < r, points on the curve. Memory: two
// vectors of the domain and half a vector of twiddles, less one and a half of them once the quotient is known, and the scratch of one
// MSM, and 128 MiB for a key with densities. Vectors made of the witness are wiped. kResource if memory is short.
template <class Curve>
Result<Proof> ProveCpu(const ProvingKeyView& key, ByteSpan witness, ByteSpan rows_a, ByteSpan rows_b,
                       const Blinding& blinding, const StageObserver& observer);

// The contract is Backend::Assemble's.
template <class Curve>
Proof AssembleProof(const ProvingKeyView& key, const QuerySums& sums, const Blinding& blinding);

}  // namespace proofline
