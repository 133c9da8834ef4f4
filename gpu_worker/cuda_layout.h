// Where everything of one key and one proof lies in a card's arena. Host arithmetic only.
//
// Resident while the key is: its five queries and the roots of unity. Of a proof: the witness, the vectors a, b and c, and the workspaces of
// the queries. Where there is room each query has its own, and they run side by side: below 2^22 points a single one leaves most of the card
// idle. Otherwise they share one and run one after the other.
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
  std::array<CudaPlace, kQueryCount> work;  // H's holds the vector c first
  CudaPlace roots, witness, a, b;
  bool side_by_side = false;
  uint64_t resident_bytes = 0, total_bytes = 0;
};

// kUnsupported for a domain that the transform cannot do; kResource, with numbers, when it does not fit.
Result<CudaLayout> LayOutProof(const ProvingKeyView& key, uint64_t arena_bytes);

}  // namespace proofline::gpu_worker
