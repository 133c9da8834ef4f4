// The host side of one group's MSM: included by one .cu a group, so that builds go side by side.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include "core/curve/curve.h"
#include "cuda/device/check.h"
#include "cuda/msm/msm_kernels.cuh"
#include "cuda/msm/msm_layout.h"
#include "cuda/msm/msm_tree_queue.cuh"

namespace proofline::cuda {

inline DigitWindows DigitWindowsOf(const MsmPlan& plan) {
  DigitWindows windows{};
  windows.count = static_cast<int>(plan.windows.size());
  for (int w = 0; w < windows.count; ++w) {
    const MsmWindow& window = plan.windows[w];
    windows.at[w] = {window.first_bit, window.bits, window.first_bucket};
    const int bit = window.first_bit + window.bits - 1;
    if (window.is_signed) windows.offset[bit / 32] |= 1u << (bit % 32);
  }
  return windows;
}

// `count` keys and values by their lowest `bits`, from the first pair of arrays into the second, all from element `at`.
inline Status QueueSort(uint8_t* workspace, const size_t (&keys)[2], const size_t (&values)[2], size_t sort, size_t sort_bytes, size_t at,
                        uint32_t count, int bits, cudaStream_t stream) {
  const auto array = [&](size_t offset) { return reinterpret_cast<uint32_t*>(workspace + offset) + at; };
  PL_CUDA_RETURN_IF_ERROR(cub::DeviceRadixSort::SortPairs(workspace + sort, sort_bytes, array(keys[0]), array(keys[1]), array(values[0]),
                                                          array(values[1]), count, 0, bits, stream));
  return OkStatus();
}

// Digits of windows [first, first + count), sorted window by window into keys[1], values[1].
template <class FrM>
Status QueueSortedDigits(const MsmPlan& plan, const MsmLayout& layout, const void* scalars, uint8_t* workspace, uint32_t first,
                         uint32_t count, cudaStream_t stream) {
  MsmDigitsKernel<FrM><<<BlocksFor(plan.n), kMsmThreads, 0, stream>>>(
      static_cast<const Field<FrM>*>(scalars), nullptr, plan.n, 0, first, count, DigitWindowsOf(plan),
      first + count == plan.windows.size(), reinterpret_cast<uint32_t*>(workspace + layout.keys[0]),
      reinterpret_cast<uint32_t*>(workspace + layout.values[0]));
  PL_CUDA_CHECK_LAUNCH();
  for (uint32_t w = 0; w < count; ++w)
    PL_RETURN_IF_ERROR(QueueSort(workspace, layout.keys, layout.values, layout.sort, layout.sort_bytes, size_t{w} * plan.n, plan.n,
                                 plan.windows[first + w].bits + 1, stream));
  return OkStatus();
}

// Into the buckets.
template <class F>
Status QueueBuckets(const MsmLayout& layout, const SortedList<F>& list, const BucketOfKey& bucket_of, uint8_t* workspace, cudaStream_t stream) {
  auto* buckets = reinterpret_cast<Xyzz<F>*>(workspace + layout.buckets);
  const uint32_t* keys = list.keys;
  uint64_t items = list.items, chunk = layout.chunk;
  const Xyzz<F>* sums = nullptr;
  for (const MsmLayout::Leftovers& level : layout.leftovers) {
    auto* out_keys = reinterpret_cast<uint32_t*>(workspace + level.keys);
    auto* out_sums = reinterpret_cast<Xyzz<F>*>(workspace + level.sums);
    const uint64_t chunks = (items + chunk - 1) / chunk;
    if (sums == nullptr)
      MsmAccumulateKernel<F><<<BlocksFor(chunks), kMsmThreads, 0, stream>>>(keys, list.values, static_cast<uint32_t>(items), list.length, layout.chunk,
                                                                           list.points, bucket_of, buckets, out_keys, out_sums);
    else
      MsmMergeKernel<F><<<BlocksFor(chunks), kMsmThreads, 0, stream>>>(keys, sums, static_cast<uint32_t>(items), bucket_of,
                                                                      buckets, out_keys, out_sums);
    PL_CUDA_CHECK_LAUNCH();
    if (chunks <= 1) break;
    keys = out_keys;
    sums = out_sums;
    items = chunks;
    chunk = kMergeChunk;
  }
  return OkStatus();
}

// Sorted digits of windows [first, first + count), one window behind the other, the first with plan.ones more, into their buckets. The keys count
// windows from `first`.
template <class F>
Status QueueDigitsToBuckets(const MsmPlan& plan, const MsmLayout& layout, const void* bases, const uint32_t* keys, const uint32_t* values,
                            uint8_t* workspace, uint32_t first, uint32_t count, cudaStream_t stream) {
  BucketOfKey bucket_of{};
  for (uint32_t w = 0; w < count; ++w) bucket_of.first_bucket[w] = plan.windows[first + w].first_bucket;
  const uint32_t at_once = layout.tree.rounds > 0 ? layout.tree.windows : count;
  for (uint32_t w = 0; w < count; w += at_once) {
    const uint64_t at = uint64_t{w} * plan.n + (w > 0 ? plan.ones : 0);
    SortedList<F> list{keys + at, values + at, static_cast<const Affine<F>*>(bases), nullptr,
                       uint64_t{std::min(at_once, count - w)} * plan.n + (w == 0 ? plan.ones : 0)};
    if constexpr (kHasTree<F>) {
      if (layout.tree.rounds > 0) PL_RETURN_IF_ERROR(QueueTree(layout, list, workspace, stream));
    }
    PL_RETURN_IF_ERROR(QueueBuckets(layout, list, bucket_of, workspace, stream));
  }
  return OkStatus();
}

template <class F>
Status QueueWindowSums(const MsmPlan& plan, const MsmLayout& layout, uint8_t* workspace, void* result, cudaStream_t stream) {
  ReduceWindows windows{};
  const unsigned count = static_cast<unsigned>(plan.windows.size());
  for (unsigned w = 0; w < count; ++w) {
    windows.first_bucket[w] = plan.windows[w].first_bucket;
    windows.buckets[w] = plan.windows[w].buckets;
  }
  const auto at = [&](size_t i) {
    return i + 1 == layout.folds.size() ? static_cast<Xyzz<F>*>(result)
                                        : reinterpret_cast<Xyzz<F>*>(workspace + layout.folds[i].sums);
  };
  MsmReduceKernel<F><<<dim3(BlocksFor(layout.folds[0].stride), count), kMsmThreads, 0, stream>>>(
      reinterpret_cast<Xyzz<F>*>(workspace + layout.buckets), windows, layout.bucket_chunk, layout.folds[0].stride, at(0));
  PL_CUDA_CHECK_LAUNCH();
  for (size_t i = 1; i < layout.folds.size(); ++i) {
    MsmFoldKernel<F><<<dim3(BlocksFor(layout.folds[i].stride), count), kMsmThreads, 0, stream>>>(
        at(i - 1), layout.folds[i - 1].stride, layout.folds[i].stride, at(i));
    PL_CUDA_CHECK_LAUNCH();
  }
  return OkStatus();
}

template <class FrM, class F>
Status QueueMsm(const MsmPlan& plan, const void* bases, const void* scalars, void* workspace, void* result,
                StreamHandle stream) {
  if (plan.n == 0) {
    PL_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(result, 0, plan.result_bytes, stream));
    return OkStatus();
  }
  const MsmLayout layout = LayOutMsm(plan);
  auto* bytes = static_cast<uint8_t*>(workspace);
  PL_CUDA_RETURN_IF_ERROR(
      cudaMemsetAsync(bytes + layout.buckets, 0, size_t{plan.bucket_count} * sizeof(Xyzz<F>), stream));
  for (uint32_t first = 0; first < plan.windows.size(); first += plan.windows_at_once) {
    const uint32_t count = std::min<uint32_t>(plan.windows_at_once, plan.windows.size() - first);
    PL_RETURN_IF_ERROR(QueueSortedDigits<FrM>(plan, layout, scalars, bytes, first, count, stream));
    PL_RETURN_IF_ERROR(QueueDigitsToBuckets<F>(plan, layout, bases, reinterpret_cast<uint32_t*>(bytes + layout.keys[1]),
                                               reinterpret_cast<uint32_t*>(bytes + layout.values[1]), bytes, first, count, stream));
  }
  return QueueWindowSums<F>(plan, layout, bytes, result, stream);
}

// The contract is MsmQueueDigits'.
template <class FrM>
Status QueueDigits(const MsmPlan& plan, const void* scalars, const void* indices, uint32_t indices_n, void* digits, StreamHandle stream) {
  const MsmDigitsLayout layout = LayOutMsmDigits(plan);
  if (layout.entries == 0) return OkStatus();
  auto* bytes = static_cast<uint8_t*>(digits);
  auto* keys = reinterpret_cast<uint32_t*>(bytes + layout.keys[0]);
  auto* values = reinterpret_cast<uint32_t*>(bytes + layout.values[0]);
  const auto* list = static_cast<const uint32_t*>(indices);
  const int windows = static_cast<int>(plan.windows.size());
  if (plan.n > 0) {
    MsmDigitsKernel<FrM><<<BlocksFor(plan.n), kMsmThreads, 0, stream>>>(static_cast<const Field<FrM>*>(scalars), list, plan.n, plan.ones, 0,
                                                                        windows, DigitWindowsOf(plan), true, keys, values);
    PL_CUDA_CHECK_LAUNCH();
  }
  if (plan.ones > 0) {
    MsmOnesKernel<<<BlocksFor(plan.ones), kMsmThreads, 0, stream>>>(list + indices_n - 1, plan.ones, keys + plan.n, values + plan.n);
    PL_CUDA_CHECK_LAUNCH();
  }
  size_t at = 0;
  for (int w = 0; w < windows; ++w) {
    const uint32_t count = plan.n + (w == 0 ? plan.ones : 0);
    if (count > 0)
      PL_RETURN_IF_ERROR(QueueSort(bytes, layout.keys, layout.values, layout.sort, layout.sort_bytes, at, count, plan.windows[w].bits + 1, stream));
    at += count;
  }
  return OkStatus();
}

// The contract is MsmQueueSums'.
template <class F>
Status QueueSums(const MsmPlan& plan, const void* bases, const void* digits, void* workspace, void* result, StreamHandle stream) {
  const MsmDigitsLayout list = LayOutMsmDigits(plan);
  if (list.entries == 0) {
    PL_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(result, 0, plan.result_bytes, stream));
    return OkStatus();
  }
  const MsmLayout layout = LayOutMsm(plan);
  auto* bytes = static_cast<uint8_t*>(workspace);
  const auto* sorted = static_cast<const uint8_t*>(digits);
  PL_CUDA_RETURN_IF_ERROR(
      cudaMemsetAsync(bytes + layout.buckets, 0, size_t{plan.bucket_count} * sizeof(Xyzz<F>), stream));
  PL_RETURN_IF_ERROR(QueueDigitsToBuckets<F>(plan, layout, bases, reinterpret_cast<const uint32_t*>(sorted + list.keys[1]),
                                             reinterpret_cast<const uint32_t*>(sorted + list.values[1]), bytes, 0,
                                             static_cast<uint32_t>(plan.windows.size()), stream));
  return QueueWindowSums<F>(plan, layout, bytes, result, stream);
}

// sum over windows of 2^first_bit * sum, by Horner from the top.
template <class Point>
std::vector<uint8_t> FinishMsm(const MsmPlan& plan, ByteSpan result) {
  using Sum = proofline::Xyzz<typename Point::Field>;
  Sum total = Sum::Infinity();
  for (size_t w = plan.windows.size(); w-- > 0;) {
    if (w + 1 < plan.windows.size())
      for (int b = 0; b < plan.windows[w].bits; ++b) total = total.Double();
    total.Add(LoadLe<Sum>(result.data() + w * sizeof(Sum)));
  }
  std::vector<uint8_t> bytes(Point::kBytes);
  total.ToAffine().Store(bytes.data());
  return bytes;
}

}  // namespace proofline::cuda
