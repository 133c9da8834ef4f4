// Kernels of the multi-scalar multiplication. Thread level unless said otherwise; see msm.h for the method.
#pragma once

#include "cuda/arith/point.cuh"
#include "cuda/msm/msm_layout.h"

namespace proofline::cuda {

// A sort key: the window above, the digit's magnitude below; a magnitude of 0 is in no bucket.
inline constexpr int kDigitBits = 26;
inline constexpr uint32_t kDigitMask = (1u << kDigitBits) - 1;
inline constexpr uint32_t kNoKey = 0;

struct DigitWindow {
  int first_bit, bits;
  uint32_t first_bucket;
};
struct DigitWindows {
  static constexpr int kMax = 64;
  DigitWindow at[kMax];
  int count;
  uint32_t offset[8];  // sum of 2^(first_bit + bits - 1) over all signed windows: makes every digit of them non-negative
};

#ifdef __CUDACC__

template <class T>
__device__ T LoadVector(const T* p) {
  static_assert(sizeof(T) % 16 == 0);
  T x;
  const uint4* from = reinterpret_cast<const uint4*>(p);
  uint4* to = reinterpret_cast<uint4*>(&x);
#pragma unroll
  for (size_t i = 0; i < sizeof(T) / 16; ++i) to[i] = from[i];
  return x;
}
template <class T>
__device__ void StoreVector(T* p, const T& x) {
  const uint4* from = reinterpret_cast<const uint4*>(&x);
  uint4* to = reinterpret_cast<uint4*>(p);
#pragma unroll
  for (size_t i = 0; i < sizeof(T) / 16; ++i) to[i] = from[i];
}

// Of the i-th scalar, which is scalar k = indices[i], or i without indices: keys[w n + i] = key of its digit in window first_window + w,
// values[w n + i] = k with the sign in bit 31. Behind the first window's digits is room for `gap` others.
template <class FrM>
__global__ void MsmDigitsKernel(const Field<FrM>* scalars, const uint32_t* indices, uint32_t n, uint32_t gap, int first_window,
                                int window_count, DigitWindows windows, bool top_included, uint32_t* keys, uint32_t* values) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  using Fr = Field<FrM>;
  const uint32_t index = indices ? indices[i] : i;
  Fr s = LoadVector(scalars + index);
  // r - s < s exactly when s > r/2.
  const Fr negated = -s;
  bool smaller = false, decided = false;
#pragma unroll
  for (int k = Fr::kWords - 1; k >= 0; --k) {
    if (!decided && negated.w[k] != s.w[k]) {
      decided = true;
      smaller = negated.w[k] < s.w[k];
    }
  }
  const bool flip = smaller && !s.IsZero();
#pragma unroll
  for (int k = 0; k < Fr::kWords; ++k) s.w[k] = flip ? negated.w[k] : s.w[k];
  uint32_t t[Fr::kWords + 1];
  Carry c;
  t[0] = add_cc(s.w[0], windows.offset[0], c);
#pragma unroll
  for (int k = 1; k < Fr::kWords - 1; ++k) t[k] = addc_cc(s.w[k], windows.offset[k], c);
  t[Fr::kWords - 1] = addc(s.w[Fr::kWords - 1], windows.offset[Fr::kWords - 1], c);
  t[Fr::kWords] = 0;

  for (int w = 0; w < window_count; ++w) {
    const DigitWindow window = windows.at[first_window + w];
    const bool is_top = top_included && w == window_count - 1;
    const int word = window.first_bit / 32, shift = window.first_bit % 32;
    uint32_t lo = 0, hi = 0;
#pragma unroll
    for (int k = 0; k < Fr::kWords; ++k) {
      if (k == word) lo = t[k], hi = t[k + 1];
    }
    const uint32_t raw = __funnelshift_r(lo, hi, shift) & ((1u << (window.bits + (is_top ? 1 : 0))) - 1);
    int digit = is_top ? int(raw) : int(raw) - (1 << (window.bits - 1));
    const bool negative = digit < 0;
    const uint32_t magnitude = negative ? -digit : digit;
    const size_t at = size_t(w) * n + i + (w > 0 ? gap : 0);
    keys[at] = uint32_t(w) << kDigitBits | magnitude;
    values[at] = index | (uint32_t(negative != flip) << 31);
  }
}

// Digit 1 of window 0 for each index in last[0], last[-1], ...
inline __global__ void MsmOnesKernel(const uint32_t* last, uint32_t n, uint32_t* keys, uint32_t* values) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  keys[i] = 1;
  values[i] = *(last - i);
}

// The rare cases of an addition, kept out of the loop's code.
template <class F>
__device__ __noinline__ void DoublePoint(Xyzz<F>& p) {
  p = p.Double();
}

// Where a key's bucket lies: the first bucket of each window of this launch.
struct BucketOfKey {
  uint32_t first_bucket[DigitWindows::kMax];
  __device__ uint32_t operator()(uint32_t key) const { return first_bucket[key >> kDigitBits] + (key & kDigitMask) - 1; }
};

// Sums runs of equal keys in sorted[first, last): a run that begins in this chunk goes to its bucket by `finish(key, sum)`, the
// rest of a run from an earlier chunk to `leftover`.
template <class F, class Load, class Finish>
__device__ void SumChunk(const uint32_t* keys, uint32_t first, uint32_t last, uint32_t& leftover_key, Xyzz<F>* leftover,
                         const Load& add_to, const Finish& finish) {
  leftover_key = kNoKey;
  uint32_t key = keys[first];
  bool began_before = first != 0 && keys[first - 1] == key;
  Xyzz<F> sum = Xyzz<F>::Infinity();
  for (uint32_t i = first; i < last; ++i) {
    const uint32_t next = keys[i];
    if (next != key) {
      if (key & kDigitMask) {
        if (began_before) {
          leftover_key = key;
          StoreVector(leftover, sum);
        } else {
          finish(key, sum);
        }
      }
      key = next;
      began_before = false;
      sum = Xyzz<F>::Infinity();
    }
    if (key & kDigitMask) add_to(sum, i);
  }
  if (key & kDigitMask) {
    if (began_before) {
      leftover_key = key;
      StoreVector(leftover, sum);
    } else {
      finish(key, sum);
    }
  }
}

// Chunk t of the sorted digit list into buckets and leftovers. With `length`, n is only the most there can be, and `bases` are one behind the
// other as the keys are; `values` is not read.
template <class F>
__global__ void __launch_bounds__(kMsmThreads) MsmAccumulateKernel(const uint32_t* keys, const uint32_t* values, uint32_t n,
                                                                   const uint32_t* length, uint32_t chunk, const Affine<F>* bases,
                                                                   BucketOfKey bucket_of, Xyzz<F>* buckets,
                                                                   uint32_t* leftover_keys, Xyzz<F>* leftovers) {
  const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
  const uint64_t first = uint64_t{t} * chunk;
  if (first >= n) return;
  const bool in_order = length != nullptr;
  if (in_order) n = *length;
  if (first >= n) {
    leftover_keys[t] = kNoKey;
    return;
  }
  const uint32_t last = static_cast<uint32_t>(first + chunk < n ? first + chunk : n);
  uint32_t leftover_key;
  SumChunk<F>(
      keys, static_cast<uint32_t>(first), last, leftover_key, leftovers + t,
      [&](Xyzz<F>& sum, uint32_t i) {
        const uint32_t value = in_order ? i : values[i];
        Affine<F> p = LoadVector(bases + (value & 0x7fffffffu));
        if (value >> 31) p.y = -p.y;
        sum.AddMixed(p);
      },
      [&](uint32_t key, const Xyzz<F>& sum) { StoreVector(buckets + bucket_of(key), sum); });
  leftover_keys[t] = leftover_key;
}

// The same over the leftovers of a list: equal keys are neighbours there too.
template <class F>
__global__ void __launch_bounds__(kMsmThreads) MsmMergeKernel(const uint32_t* keys, const Xyzz<F>* sums, uint32_t n,
                                                              BucketOfKey bucket_of, Xyzz<F>* buckets,
                                                              uint32_t* leftover_keys, Xyzz<F>* leftovers) {
  const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
  const uint64_t first = uint64_t{t} * kMergeChunk;
  if (first >= n) return;
  const uint32_t last = static_cast<uint32_t>(first + kMergeChunk < n ? first + kMergeChunk : n);
  uint32_t leftover_key;
  SumChunk<F>(
      keys, static_cast<uint32_t>(first), last, leftover_key, leftovers + t,
      [&](Xyzz<F>& sum, uint32_t i) { sum.Add(LoadVector(sums + i)); },
      [&](uint32_t key, const Xyzz<F>& sum) {
        Xyzz<F>* at = buckets + bucket_of(key);
        Xyzz<F> bucket = LoadVector(at);
        bucket.Add(sum);
        StoreVector(at, bucket);
      });
  leftover_keys[t] = leftover_key;
}


struct ReduceWindows {
  uint32_t first_bucket[DigitWindows::kMax];
  uint32_t buckets[DigitWindows::kMax];
};

// sums[w * stride + t] = sum over the window's buckets j of chunk t of (j + 1) * bucket j. Grid: x over chunks, y over windows.
template <class F>
__global__ void __launch_bounds__(kMsmThreads) MsmReduceKernel(const Xyzz<F>* buckets, ReduceWindows windows,
                                                               uint32_t bucket_chunk, uint32_t stride, Xyzz<F>* sums) {
  const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= stride) return;
  const uint32_t w = blockIdx.y;
  const uint32_t count = windows.buckets[w];
  const uint32_t first = t * bucket_chunk;
  Xyzz<F> weighted = Xyzz<F>::Infinity();
  if (first < count) {
    const uint32_t last = first + bucket_chunk < count ? first + bucket_chunk : count;
    const Xyzz<F>* window = buckets + windows.first_bucket[w];
    Xyzz<F> plain = Xyzz<F>::Infinity();
    // Two additions an iteration through one copy of the code: even turns take a bucket in, odd turns weigh.
    for (uint32_t turn = 2 * (last - first); turn-- > 0;) {
      const bool take = turn & 1;
      Xyzz<F> left = take ? plain : weighted;
      const Xyzz<F> right = take ? LoadVector(window + first + turn / 2) : plain;
      left.Add(right);
      if (take)
        plain = left;
      else
        weighted = left;
    }
    // The chunk's own offset: first * plain, by double-and-add.
    Xyzz<F> shifted = Xyzz<F>::Infinity();
    for (int bit = 31 - __clz(first | 1); bit >= 0; --bit) {
      DoublePoint(shifted);
      if ((first >> bit) & 1) shifted.Add(plain);
    }
    if (first) weighted.Add(shifted);
  }
  StoreVector(sums + size_t{w} * stride + t, weighted);
}

// out[w * out_stride + t] = sum of in[w * in_stride + (t * kMergeChunk ...)].
template <class F>
__global__ void __launch_bounds__(kMsmThreads) MsmFoldKernel(const Xyzz<F>* in, uint32_t in_stride, uint32_t out_stride,
                                                             Xyzz<F>* out) {
  const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= out_stride) return;
  const uint32_t w = blockIdx.y;
  Xyzz<F> sum = Xyzz<F>::Infinity();
  for (uint32_t i = t * kMergeChunk; i < in_stride && i < (t + 1) * kMergeChunk; ++i)
    sum.Add(LoadVector(in + size_t{w} * in_stride + i));
  StoreVector(out + size_t{w} * out_stride + t, sum);
}

#endif  // __CUDACC__

}  // namespace proofline::cuda
