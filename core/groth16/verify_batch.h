// Many proofs for one verification key by one product of pairings: the small-exponent test of Bellare, Garay and Rabin ("Fast batch
// verification for modular exponentiation and digital signatures", EUROCRYPT 1998) with 128-bit coefficients from the kernel's generator.
// Points are checked for their subgroups first, without which the test proves nothing.
//
// A proof costs one Miller loop and two multiplications by 128 bits, and the batch three Miller loops and a final exponentiation.
#pragma once

#include <span>

#include "core/base/status.h"
#include "core/groth16/types.h"

namespace proofline {

// Borrowed for the call.
struct ProofClaim {
  const Proof& proof;
  std::span<const FrCanonical> publics;
};

// kOk if each proof verifies (a batch with a proof that does not gets through with a chance of 2^-128). Otherwise the failure of the first
// proof at fault, with its number: the errors of Backend::Verify. An empty batch is kInvalidArgument. Runs in the caller's TBB arena.
Status VerifyBatch(const VerificationKey& vk, std::span<const ProofClaim> claims);

}  // namespace proofline
