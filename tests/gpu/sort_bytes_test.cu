// The bounds on the workspaces of sort and scan, computed on the host, against the library's own answers for this card.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <cstdint>
#include <cstdio>

#include "cuda/msm/msm_layout.h"

int main() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::printf("skipped: no CUDA device\n");
    return 77;
  }
  int low = 0;
  for (uint64_t n : {1ull, 1000ull, 100'000ull, 1ull << 20, (1ull << 23) - 1, 1ull << 27, (1ull << 28) + 5, 1ull << 30, (1ull << 31) - 1}) {
    size_t wanted = 0;
    const uint32_t* in = nullptr;
    uint32_t* out = nullptr;
    const cudaError_t error =
        cub::DeviceRadixSort::SortPairs(nullptr, wanted, in, out, in, out, static_cast<uint32_t>(n), 0, 32, cudaStream_t{});
    const size_t bound = proofline::cuda::MsmSortBytes(static_cast<uint32_t>(n));
    const bool fine = error == cudaSuccess && wanted != 0 && wanted <= bound;
    std::printf("%10llu pairs: wanted %zu, bound %zu%s\n", static_cast<unsigned long long>(n), wanted, bound, fine ? "" : "  WRONG");
    low += !fine;
    size_t scan = 0;
    const cudaError_t scanned = cub::DeviceScan::ExclusiveSum(nullptr, scan, in, out, static_cast<uint32_t>(n), cudaStream_t{});
    const bool enough = scanned == cudaSuccess && scan != 0 && scan <= proofline::cuda::MsmScanBytes(n);
    std::printf("%10llu words: wanted %zu, bound %zu%s\n", static_cast<unsigned long long>(n), scan, proofline::cuda::MsmScanBytes(n), enough ? "" : "  WRONG");
    low += !enough;
  }
  return low == 0 ? 0 : 1;
}
