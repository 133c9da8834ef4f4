// Definitions of Msm. Included only by the files that instantiate it (msm_<curve>.cc).
#pragma once

#include <algorithm>
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
    const MsmWindows cut = window_bits == 0 ? MsmWindows::Choose(bit_lengths_, Folding::kHalf)
                                            : MsmWindows::Uniform(bit_lengths_, Folding::kHalf, window_bits);
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
        switch (ClassOf(i)) {
          case ScalarClass::kZero: break;
          case ScalarClass::kOne: ones_[at.ones++] = entry; break;
          case ScalarClass::kMinusOne: ones_[at.ones++] = entry | kNegated; break;
          case ScalarClass::kWide: wide_[at.wide++] = entry; break;
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

  Xyzz<F> WindowSum(const MsmWindows& cut, const MsmWindow& window) {
    const BucketGrid grid(window.bucket_count);
    auto buckets = std::make_unique_for_overwrite<Affine<F>[]>(grid.rows * grid.columns);
    {
      std::vector<uint32_t> starts(window.bucket_count + 1);
      SecretBuffer<Entry> sorted = SortByBucket(cut, window, starts);
      FillBuckets<F>(workspaces_, bases_, {sorted.data(), starts.back()}, starts, buckets.get());
    }
    return ReduceBuckets(workspaces_, buckets.get(), window.bucket_count);
  }

  // The entries with a digit in this window, by bucket (a counting sort over chunks). starts[b]: where bucket b begins.
  SecretBuffer<Entry> SortByBucket(const MsmWindows& cut, const MsmWindow& window, std::vector<uint32_t>& starts) {
    const size_t buckets = window.bucket_count;
    const size_t chunks = std::max<size_t>(1, wide_.size() / kSortChunk);
    auto chunk_range = [&](size_t c) {
      return std::pair{wide_.size() * c / chunks, wide_.size() * (c + 1) / chunks};
    };
    SecretBuffer<uint32_t> digits(wide_.size());
    std::vector<uint32_t> places(chunks * buckets);  // per chunk and bucket: first a count, then where the next entry goes
    tbb::parallel_for(size_t{0}, chunks, [&](size_t c) {
      uint32_t* count = places.data() + c * buckets;
      auto [first, last] = chunk_range(c);
      for (size_t i = first; i < last; ++i) {
        const uint32_t digit = cut.Digit(Folding::Fold(Scalar(wide_[i])), window);
        digits[i] = digit;
        if (digit != 0) ++count[(digit & ~kNegated) - 1];
      }
    });
    uint32_t next = 0;
    for (size_t b = 0; b < buckets; ++b) {
      starts[b] = next;
      for (size_t c = 0; c < chunks; ++c) {
        const uint32_t count = places[c * buckets + b];
        places[c * buckets + b] = next;
        next += count;
      }
    }
    starts[buckets] = next;
    SecretBuffer<Entry> sorted(next);
    tbb::parallel_for(size_t{0}, chunks, [&](size_t c) {
      uint32_t* place = places.data() + c * buckets;
      auto [first, last] = chunk_range(c);
      for (size_t i = first; i < last; ++i) {
        const uint32_t digit = digits[i];
        if (digit != 0) sorted[place[(digit & ~kNegated) - 1]++] = wide_[i] | (digit & kNegated);
      }
    });
    return sorted;
  }

  const uint8_t* points_;
  const uint8_t* scalars_;
  const size_t count_;
  const Bases<F> bases_;
  Workspaces<F> workspaces_;
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
