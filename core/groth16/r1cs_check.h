// Does a witness satisfy a constraint system, and where not.
#pragma once

#include "core/groth16/r1cs.h"
#include "core/groth16/types.h"

namespace proofline {

struct R1csCheck {
  uint64_t unsatisfied_count = 0;
  uint32_t first = 0;  // the lowest unsatisfied constraint; meaningless if there is none
};

// `witness`: n_wires canonical values of 32 bytes, each < r (checked by the caller). Runs in the caller's TBB arena; allocates nothing
// that grows with the circuit.
R1csCheck CheckR1cs(const R1csView& r1cs, ByteSpan witness);

// What the three sums of one constraint come to, canonical. Secret, as the witness is.
struct ConstraintValues {
  FrCanonical a{}, b{}, c{};
};
ConstraintValues EvaluateConstraint(const R1csView& r1cs, uint32_t index, ByteSpan witness);

}  // namespace proofline
