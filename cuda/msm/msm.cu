#include "cuda/msm/msm.h"

#include "cuda/device/check.h"
#include "cuda/msm/msm_group.h"
#include "cuda/msm/msm_present.h"

namespace proofline::cuda {
namespace {

constexpr uint32_t kClassifyThreads = 256, kClassifyEach = 16, kClassifyTile = kClassifyThreads * kClassifyEach;
enum Class : uint32_t { kWide = 0, kOne = 1, kZero = 2 };

__device__ Class ClassOf(const uint4* scalar) {
  const uint4 low = scalar[0], high = scalar[1];
  const bool small = (low.y | low.z | low.w | high.x | high.y | high.z | high.w) == 0 && low.x <= 1;
  return !small ? kWide : low.x == 1 ? kOne : kZero;
}

// Block level: a tile of scalars. Each thread counts itself into its warp, each warp into the block, each block into the whole list, so that
// one atomic a block and class reaches global memory.
__global__ void __launch_bounds__(kClassifyThreads) MsmClassifyKernel(const uint4* scalars, const uint32_t* present, uint32_t n,
                                                                       uint32_t* indices, uint32_t* counts) {
  __shared__ uint32_t block_count[2], block_first[2];
  if (threadIdx.x < 2) block_count[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t first = blockIdx.x * kClassifyTile + threadIdx.x;
  const uint32_t lane = threadIdx.x % 32;
  Class class_of[kClassifyEach];
  uint32_t rank[kClassifyEach];
#pragma unroll
  for (uint32_t k = 0; k < kClassifyEach; ++k) {
    const uint32_t i = first + k * kClassifyThreads;
    const bool counts_in = i < n && (present == nullptr || (present[i / 32] >> (i % 32)) & 1);
    class_of[k] = counts_in ? ClassOf(scalars + 2 * size_t{i}) : kZero;
    for (uint32_t which : {kWide, kOne}) {
      const uint32_t mine = __ballot_sync(0xffffffffu, class_of[k] == which);
      uint32_t before = 0;
      if (lane == 0 && mine) before = atomicAdd(&block_count[which], __popc(mine));
      before = __shfl_sync(0xffffffffu, before, 0);
      if (class_of[k] == which) rank[k] = before + __popc(mine & ((1u << lane) - 1));
    }
  }
  __syncthreads();
  if (threadIdx.x < 2) block_first[threadIdx.x] = atomicAdd(&counts[threadIdx.x], block_count[threadIdx.x]);
  __syncthreads();
#pragma unroll
  for (uint32_t k = 0; k < kClassifyEach; ++k) {
    const uint32_t i = first + k * kClassifyThreads;
    if (class_of[k] == kWide) indices[block_first[kWide] + rank[k]] = i;
    if (class_of[k] == kOne) indices[n - 1 - block_first[kOne] - rank[k]] = i;
  }
}

const MsmGroupCode& CodeOf(MsmGroup group) {
  switch (group) {
    case MsmGroup::kBn254G1: return kMsmBn254G1;
    case MsmGroup::kBn254G2: return kMsmBn254G2;
    case MsmGroup::kBls12381G1: return kMsmBls12381G1;
    case MsmGroup::kBls12381G2: return kMsmBls12381G2;
  }
  return kMsmBn254G1;
}

// Bit i % 32 of word i / 32: base i, of `vectors` times 16 bytes, is not all zero.
__global__ void MsmMarkPresentKernel(const uint4* bases, uint32_t vectors, uint32_t n, bool add, uint32_t* present) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t any = 0;
  for (uint32_t k = 0; i < n && k < vectors && any == 0; ++k) {
    const uint4 v = bases[size_t{i} * vectors + k];
    any = v.x | v.y | v.z | v.w;
  }
  const uint32_t word = __ballot_sync(0xffffffffu, any != 0);
  if (threadIdx.x % 32 == 0 && i < n) present[i / 32] = word | (add ? present[i / 32] : 0);
}

}  // namespace

Status MsmQueue(const MsmPlan& plan, const void* bases, const void* scalars, void* workspace, void* result,
                StreamHandle stream) {
  return CodeOf(plan.group).queue(plan, bases, scalars, workspace, result, stream);
}

Status MsmClassify(const void* scalars, uint32_t n, void* indices, void* classes, StreamHandle stream) {
  return MsmClassifyPresent(scalars, nullptr, n, indices, classes, stream);
}

Status MsmClassifyPresent(const void* scalars, const void* present, uint32_t n, void* indices, void* classes, StreamHandle stream) {
  static_assert(sizeof(MsmClasses) == 8 && offsetof(MsmClasses, ones) == 4);
  PL_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(classes, 0, sizeof(MsmClasses), stream));
  if (n == 0) return OkStatus();
  MsmClassifyKernel<<<(n + kClassifyTile - 1) / kClassifyTile, kClassifyThreads, 0, stream>>>(
      static_cast<const uint4*>(scalars), static_cast<const uint32_t*>(present), n, static_cast<uint32_t*>(indices),
      static_cast<uint32_t*>(classes));
  PL_CUDA_CHECK_LAUNCH();
  return OkStatus();
}

Status MsmMarkPresent(MsmGroup group, const void* bases, uint32_t n, bool add, void* present, StreamHandle stream) {
  if (n == 0) return OkStatus();
  MsmMarkPresentKernel<<<(n + kClassifyThreads - 1) / kClassifyThreads, kClassifyThreads, 0, stream>>>(
      static_cast<const uint4*>(bases), static_cast<uint32_t>(MsmPointBytes(group) / 16), n, add, static_cast<uint32_t*>(present));
  PL_CUDA_CHECK_LAUNCH();
  return OkStatus();
}

Status MsmQueueDigits(const MsmPlan& plan, const void* scalars, const void* indices, uint32_t indices_n, void* digits, StreamHandle stream) {
  return CodeOf(plan.group).digits(plan, scalars, indices, indices_n, digits, stream);
}

Status MsmQueueSums(const MsmPlan& plan, const void* bases, const void* digits, void* workspace, void* result, StreamHandle stream) {
  return CodeOf(plan.group).sums(plan, bases, digits, workspace, result, stream);
}

std::vector<uint8_t> MsmFinish(const MsmPlan& plan, ByteSpan result) { return CodeOf(plan.group).finish(plan, result); }

}  // namespace proofline::cuda
