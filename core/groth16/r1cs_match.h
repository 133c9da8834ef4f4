// Is a key of the circuit whose constraints are given?
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/status.h"
#include "core/groth16/r1cs.h"
#include "core/groth16/types.h"

namespace proofline {

// The first constraint whose row of A or B in the key's coefficients is not that of the constraint system; nullopt: all are the same. The
// rows are compared at one random assignment, so two different ones pass for the same with a chance below 2^-250. A row that only
// the key has (behind the constraints it holds one for each public signal and the constant) is named by its place. Of C a key has no coefficients.
//
// Curve, n_wires and n_public must agree (the caller's check). Allocates 32 bytes a wire and 64 a row of the domain. Runs in the caller's
// TBB arena. kInvalidFile as Backend::ComputeRows; kMismatch if there are more constraints than the domain holds; kIo if the kernel gives no randomness.
Result<std::optional<uint64_t>> FirstRowUnlike(const R1csView& r1cs, const ProvingKeyView& key);

}  // namespace proofline
