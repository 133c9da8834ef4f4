// What of the tree does not depend on a group: where the entries behind a round go.
#include <cub/device/device_scan.cuh>

#include "cuda/device/check.h"
#include "cuda/msm/msm_kernels.cuh"
#include "cuda/msm/msm_tree.h"

namespace proofline::cuda {
namespace {

constexpr uint32_t kThreads = 256;

__global__ void MsmPairCountsKernel(const uint32_t* keys, const uint32_t* length, uint64_t pairs, uint32_t* counts) {
  const uint64_t j = uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (j > pairs) return;
  const uint64_t n = *length, i = 2 * j;
  const uint32_t left = i < n ? keys[i] & kDigitMask : 0, right = i + 1 < n ? keys[i + 1] & kDigitMask : 0;
  const bool same = left != 0 && right != 0 && keys[i] == keys[i + 1];
  counts[j] = same ? 1 : (left != 0) + (right != 0);
}

__global__ void MsmLengthKernel(uint32_t* length, uint32_t n) { *length = n; }

}  // namespace

Status MsmQueueLength(uint32_t* length, uint32_t n, StreamHandle stream) {
  MsmLengthKernel<<<1, 1, 0, stream>>>(length, n);
  PL_CUDA_CHECK_LAUNCH();
  return OkStatus();
}

Status MsmQueuePairOffsets(const uint32_t* keys, const uint32_t* length, uint64_t pairs, uint32_t* offsets, uint32_t* next_length, void* scan,
                           size_t scan_bytes, StreamHandle stream) {
  MsmPairCountsKernel<<<static_cast<unsigned>((pairs + kThreads) / kThreads), kThreads, 0, stream>>>(keys, length, pairs, offsets);
  PL_CUDA_CHECK_LAUNCH();
  PL_CUDA_RETURN_IF_ERROR(cub::DeviceScan::ExclusiveSum(scan, scan_bytes, offsets, offsets, static_cast<uint32_t>(pairs + 1), stream));
  PL_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(next_length, offsets + pairs, 4, cudaMemcpyDeviceToDevice, stream));
  return OkStatus();
}

}  // namespace proofline::cuda
