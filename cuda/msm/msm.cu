#include "cuda/msm/msm.h"

#include <cub/device/device_radix_sort.cuh>

#include "cuda/device/check.h"
#include "cuda/msm/msm_group.h"
#include "cuda/msm/msm_layout.h"

namespace proofline::cuda {
namespace {

const MsmGroupCode& CodeOf(MsmGroup group) {
  switch (group) {
    case MsmGroup::kBn254G1: return kMsmBn254G1;
    case MsmGroup::kBn254G2: return kMsmBn254G2;
    case MsmGroup::kBls12381G1: return kMsmBls12381G1;
    case MsmGroup::kBls12381G2: return kMsmBls12381G2;
  }
  return kMsmBn254G1;
}

}  // namespace

size_t MsmSortBytes(uint32_t n) {
  size_t bytes = 0;
  const uint32_t* in = nullptr;
  uint32_t* out = nullptr;
  cub::DeviceRadixSort::SortPairs(nullptr, bytes, in, out, in, out, n, 0, 32, cudaStream_t{});
  return bytes;
}

Status MsmQueue(const MsmPlan& plan, const void* bases, const void* scalars, void* workspace, void* result,
                StreamHandle stream) {
  return CodeOf(plan.group).queue(plan, bases, scalars, workspace, result, stream);
}

std::vector<uint8_t> MsmFinish(const MsmPlan& plan, ByteSpan result) { return CodeOf(plan.group).finish(plan, result); }

}  // namespace proofline::cuda
