// Definitions of Msm. Included only by the files that instantiate it (msm_<curve>.cc).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/base/secret.h"
#include "core/curve/msm.h"
#include "core/curve/msm_buckets.h"
#include "core/curve/msm_windows.h"

namespace proofline {

namespace msm_detail {

inline bool AllZero(const uint8_t* p, size_t bytes) {
  uint64_t acc = 0;
  for (size_t i = 0; i < bytes && acc == 0; i += 8) acc |= LoadLe<uint64_t>(p + i);
  return acc == 0;
}

// One range of an MSM: up to 2^31 scalars with their points.
template <class Fr, class F>
class RangeMsm {
  using Folding = ScalarFolding<typename Fr::Modulus>;

 public:
  RangeMsm(const uint8_t* points, const uint8_t* scalars, size_t count)
      : points_(points), scalars_(scalars), count_(count), bases_(points) {}

  Xyzz<F> Run(int window_bits) {
    Sift();
    const MsmWindows cut = window_bits == 0 ? MsmWindows::Choose(bit_lengths_, Fr::Modulus::kValue)
                                            : MsmWindows::Uniform(bit_lengths_, Fr::Modulus::kValue, window_bits);
    const std::vector<MsmWindow>& windows = cut.windows();
    std::vector<Xyzz<F>> sums(windows.size());
    tbb::parallel_for(
        tbb::blocked_range<size_t>(0, windows.size() + 1, 1),
        [&](const tbb::blocked_range<size_t>& range) {
          for (size_t w = range.begin(); w < range.end(); ++w) {
            // Isolated: a thread that waits inside one window must not start another one, or the buffers in flight would add up.
            tbb::this_task_arena::isolate([&] {
              if (w == windows.size()) {
                ones_sum_ = OnesSum();
              } else {
                sums[w] = WindowSum(cut, windows[w]);
              }
            });
          }
        },
        tbb::simple_partitioner());

    Xyzz<F> total = Xyzz<F>::Infinity();
    for (size_t w = windows.size(); w-- > 0;) {
      for (int i = 0; i < windows[w].bits; ++i) total = total.Double();
      total.Add(sums[w]);
    }
    total.Add(ones_sum_);
    return total;
  }

 private:
  static constexpr size_t kSiftChunk = 4096;
  static constexpr size_t kSortChunk = size_t{1} << 16;

  ScalarLimbs Scalar(size_t i) const { return LoadLe<ScalarLimbs>(scalars_ + i * kFrBytes); }

  // What scalar i is, kZero too where the point is infinity.
  ScalarClass ClassOf(size_t i) const {
    const ScalarClass c = Folding::Classify(Scalar(i));
    if (c != ScalarClass::kZero && AllZero(points_ + i * Affine<F>::kBytes, Affine<F>::kBytes)) return ScalarClass::kZero;
    return c;
  }

  // Lists the wide scalars and the ones, and counts bit lengths. Twice over the scalars: to count, then to place.
  void Sift() {
    struct Counts {
      uint32_t wide = 0, ones = 0;
    };
    const size_t chunks = (count_ + kSiftChunk - 1) / kSiftChunk;
    std::vector<Counts> counts(chunks + 1);
    tbb::enumerable_thread_specific<BitLengthCounts> lengths{BitLengthCounts{}};
    auto chunk_range = [&](size_t c) { return std::pair{c * kSiftChunk, std::min(count_, (c + 1) * kSiftChunk)}; };
    tbb::parallel_for(size_t{0}, chunks, [&](size_t c) {
      BitLengthCounts& local = lengths.local();
      auto [first, last] = chunk_range(c);
      for (size_t i = first; i < last; ++i) {
        const ScalarClass what = ClassOf(i);
        if (what == ScalarClass::kZero) continue;
        if (what != ScalarClass::kWide) {
          ++counts[c].ones;
          continue;
        }
        ++counts[c].wide;
        ++local[BitLength(Folding::Fold(Scalar(i)).magnitude)];
      }
    });
    Counts total;
    for (Counts& c : counts) {
      const Counts here = c;
      c = total;
      total.wide += here.wide;
      total.ones += here.ones;
    }
    for (const BitLengthCounts& local : lengths)
      for (size_t i = 0; i < local.size(); ++i) bit_lengths_[i] += local[i];

    wide_ = SecretBuffer<Entry>(total.wide);
    ones_ = SecretBuffer<Entry>(total.ones);
    tbb::parallel_for(size_t{0}, chunks, [&](size_t c) {
      Counts at = counts[c];
      auto [first, last] = chunk_range(c);
      for (size_t i = first; i < last; ++i) {
        const Entry entry = static_cast<Entry>(i);
        // In the list of wide ones the sign bit says that the scalar is above (r-1)/2.
        switch (ClassOf(i)) {
          case ScalarClass::kZero: break;
          case ScalarClass::kOne: ones_[at.ones++] = entry; break;
          case ScalarClass::kMinusOne: ones_[at.ones++] = entry | kNegated; break;
          case ScalarClass::kWide:
            wide_[at.wide++] = entry | (Folding::Fold(Scalar(i)).negative ? kNegated : 0);
            break;
        }
      }
    });
  }

  Xyzz<F> OnesSum() {
    const std::array<uint32_t, 2> starts = {0, static_cast<uint32_t>(ones_.size())};
    Affine<F> sum;
    FillBuckets<F>(workspaces_, bases_, ones_.span(), starts, &sum);
    return Xyzz<F>::FromAffine(sum);
  }

  // What a window needs while it is in flight; one per thread, kept from window to window.
  struct WindowBuffers {
    SecretBuffer<uint32_t> digits;
    SecretBuffer<Entry> sorted;
    std::vector<uint32_t> starts;  // where each bucket's entries begin, and the end
    std::vector<uint32_t> places;
    Scratch<Affine<F>> buckets, columns;
  };

  Xyzz<F> WindowSum(const MsmWindows& cut, const MsmWindow& window) {
    WindowBuffers& buffers = window_buffers_.local();
    SortByBucket(cut, window, buffers);
    const BucketGrid grid(window.bucket_count);
    Affine<F>* buckets = buffers.buckets.Get(grid.rows * grid.columns);
    FillBuckets<F>(workspaces_, bases_, {buffers.sorted.data(), buffers.starts.back()}, buffers.starts, buckets);
    return ReduceBuckets(workspaces_, buckets, window.bucket_count, buffers.columns);
  }

  // Puts the entries with a digit in this window into `sorted`, by bucket: a counting sort over chunks.
  void SortByBucket(const MsmWindows& cut, const MsmWindow& window, WindowBuffers& buffers) {
    const size_t buckets = window.bucket_count;
    const size_t chunks = std::clamp<size_t>(wide_.size() / kSortChunk, 1, 2 * tbb::this_task_arena::max_concurrency());
    auto chunk_range = [&](size_t c) {
      return std::pair{wide_.size() * c / chunks, wide_.size() * (c + 1) / chunks};
    };
    if (buffers.digits.size() != wide_.size()) {
      buffers.digits = SecretBuffer<uint32_t>(wide_.size());
      buffers.sorted = SecretBuffer<Entry>(wide_.size());
    }
    buffers.places.assign(chunks * buckets, 0);  // per chunk and bucket: first a count, then where the next entry goes
    tbb::parallel_for(size_t{0}, chunks, [&](size_t c) {
      uint32_t* count = buffers.places.data() + c * buckets;
      auto [first, last] = chunk_range(c);
      for (size_t i = first; i < last; ++i) {
        const Entry entry = wide_[i];
        const uint32_t digit = cut.Digit(Scalar(entry & ~kNegated), entry & kNegated, window);
        buffers.digits[i] = digit;
        if (digit != 0) ++count[(digit & ~kNegated) - 1];
      }
    });
    uint32_t next = 0;
    buffers.starts.resize(buckets + 1);
    for (size_t b = 0; b < buckets; ++b) {
      buffers.starts[b] = next;
      for (size_t c = 0; c < chunks; ++c) next += std::exchange(buffers.places[c * buckets + b], next);
    }
    buffers.starts[buckets] = next;
    tbb::parallel_for(size_t{0}, chunks, [&](size_t c) {
      uint32_t* place = buffers.places.data() + c * buckets;
      auto [first, last] = chunk_range(c);
      for (size_t i = first; i < last; ++i) {
        const uint32_t digit = buffers.digits[i];
        if (digit != 0) buffers.sorted[place[(digit & ~kNegated) - 1]++] = (wide_[i] & ~kNegated) | (digit & kNegated);
      }
    });
  }

  const uint8_t* points_;
  const uint8_t* scalars_;
  const size_t count_;
  const Bases<F> bases_;
  Workspaces<F> workspaces_;
  tbb::enumerable_thread_specific<WindowBuffers> window_buffers_;
  BitLengthCounts bit_lengths_{};
  SecretBuffer<Entry> wide_, ones_;
  Xyzz<F> ones_sum_ = Xyzz<F>::Infinity();
};

}  // namespace msm_detail

template <class Fr, class F>
Xyzz<F> Msm(ByteSpan points, ByteSpan scalars, const MsmOptions& options) {
  const size_t count = scalars.size() / kFrBytes;
  const size_t range = options.range == 0 ? size_t{1} << 22 : options.range;
  Xyzz<F> total = Xyzz<F>::Infinity();
  for (size_t first = 0; first < count; first += range) {
    const size_t here = std::min(range, count - first);
    msm_detail::RangeMsm<Fr, F> msm(points.data() + first * Affine<F>::kBytes, scalars.data() + first * kFrBytes, here);
    total.Add(msm.Run(options.window_bits));
    if (options.range_done) options.range_done(first, here);
  }
  return total;
}

}  // namespace proofline
