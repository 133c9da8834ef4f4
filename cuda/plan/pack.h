// Inside cuda/plan: offsets for a list of buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/plan/plan.h"

namespace proofline::cuda {

// Sets the offsets so that buffers with a phase in common lie apart, and returns the end of the highest one. Resident buffers lie lowest.
// Depends on nothing but the list.
uint64_t Pack(std::vector<PlannedBuffer>& buffers);

}  // namespace proofline::cuda
