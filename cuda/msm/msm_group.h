// Inside cuda/msm: one group's MSM, each in a .cu of its own.
#pragma once

#include "cuda/msm/msm.h"

namespace proofline::cuda {

struct MsmGroupCode {
  Status (*queue)(const MsmPlan&, const void* bases, const void* scalars, void* workspace, void* result, StreamHandle);
  Status (*digits)(const MsmPlan&, const void* scalars, const void* indices, uint32_t indices_n, void* digits, StreamHandle);
  Status (*sums)(const MsmPlan&, const void* bases, const void* digits, void* workspace, void* result, StreamHandle);
  std::vector<uint8_t> (*finish)(const MsmPlan&, ByteSpan result);
};
extern const MsmGroupCode kMsmBn254G1, kMsmBn254G2, kMsmBls12381G1, kMsmBls12381G2;

}  // namespace proofline::cuda
