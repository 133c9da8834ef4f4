// Where everything of one key and one proof lies in a card's arena. Host arithmetic only.
//
// Resident while the key is: its five queries and the roots of unity. Of a proof: the witness, the vectors a and b, and one space that
// holds the vector c first and every query's workspace after it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "core/groth16/types.h"
#include "cuda/msm/msm.h"

namespace proofline::gpu_worker {

enum Query { kQueryH, kQueryA, kQueryB1, kQueryB2, kQueryC, kQueryCount };

struct CudaPlace {
  uint64_t offset = 0, bytes = 0;
};

struct CudaLayout {
  std::array<cuda::MsmPlan, kQueryCount> plans;
  std::array<CudaPlace, kQueryCount> points, sums;
  CudaPlace roots, witness, a, b, shared;
  uint64_t resident_bytes = 0, total_bytes = 0;
};

// kUnsupported for a domain that the transform cannot do; kResource, with numbers, when it does not fit.
Result<CudaLayout> LayOutProof(const ProvingKeyView& key, uint64_t arena_bytes);

}  // namespace proofline::gpu_worker
