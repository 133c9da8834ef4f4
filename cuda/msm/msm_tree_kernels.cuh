// Kernels of the rounds of msm_tree.h. Thread level.
#pragma once

#include "cuda/arith/inverse.cuh"
#include "cuda/msm/msm_kernels.cuh"
#include "cuda/msm/msm_tree.h"

namespace proofline::cuda {

#ifdef __CUDACC__

// The list before a round: points one behind the other, or, before the first, the bases that the digits' values name.
template <class F, bool kFirst>
struct PairList {
  const uint32_t* keys;
  const uint32_t* values;
  const Affine<F>* points;
  const uint32_t* length;

  __device__ const Affine<F>* At(uint64_t i) const { return points + (kFirst ? values[i] & 0x7fffffffu : i); }
  __device__ F X(uint64_t i) const { return LoadVector(&At(i)->x); }
  __device__ Affine<F> Point(uint64_t i) const {
    if constexpr (!kFirst) return LoadVector(points + i);
    const uint32_t value = values[i];
    Affine<F> p = LoadVector(points + (value & 0x7fffffffu));
    if (value >> 31) p.y = -p.y;
    return p;
  }
};

// What the usual formula cannot do: one of them at infinity, the same point twice, a point and its negative. By value, in and out: what has an
// address stays in local memory, on the usual way too.
template <class F>
struct UnusualPair {
  bool inverts;  // d and slope hold denominator and numerator; else `sum` is the sum and there is nothing to invert
  F d, slope;
  Affine<F> sum;
};
template <class F>
__device__ __noinline__ UnusualPair<F> LookAtUnusualPair(Affine<F> p, Affine<F> q) {
  UnusualPair<F> out{};
  if (p.IsInfinity() || q.IsInfinity()) {
    out.sum = p.IsInfinity() ? q : p;
    return out;
  }
  out.d = q.x - p.x;
  out.slope = q.y - p.y;
  out.inverts = true;
  if (!out.d.IsZero()) return out;
  if (!out.slope.IsZero() || p.y.IsZero()) {
    out.inverts = false;
    out.sum = {F::Zero(), F::Zero()};
    return out;
  }
  out.d = p.y.Double();
  const F xx = p.x.Square();
  out.slope = xx.Double() + xx;
  return out;
}
template <class F>
__device__ bool MayBeUnusual(const F& x1, const F& x2, const F& d) {
  return d.IsZero() || x1.IsZero() || x2.IsZero();
}

// products[j] = the product of the denominators of the thread's pairs before j, totals[t] = of all of them.
template <class F, bool kFirst>
__global__ void __launch_bounds__(kMsmThreads) MsmPairProductsKernel(PairList<F, kFirst> list, uint32_t pairs_each, F* products, F* totals) {
  const uint64_t n = *list.length;
  const uint64_t first = uint64_t{blockIdx.x} * pairs_each * kMsmThreads + threadIdx.x;
  F product = F::One();
#pragma unroll 1
  for (uint32_t k = 0; k < pairs_each; ++k) {
    const uint64_t j = first + uint64_t{k} * kMsmThreads, i = 2 * j;
    if (i + 1 >= n) break;
    const uint32_t key = list.keys[i];
    if (key != list.keys[i + 1] || (key & kDigitMask) == 0) continue;
    const F x1 = list.X(i), x2 = list.X(i + 1);
    F d = x2 - x1;
    if (MayBeUnusual(x1, x2, d)) {
      const UnusualPair<F> unusual = LookAtUnusualPair(list.Point(i), list.Point(i + 1));
      if (!unusual.inverts) continue;
      d = unusual.d;
    }
    StoreVector(products + j, product);
    product = product * d;
  }
  StoreVector(totals + uint64_t{blockIdx.x} * kMsmThreads + threadIdx.x, product);
}

// totals[i] = 1 / totals[i]; `each` of them a thread.
template <class F>
__global__ void __launch_bounds__(kMsmThreads) MsmInvertKernel(F* totals, F* prefixes, uint64_t count, uint32_t each, uint64_t threads) {
  const uint64_t t = uint64_t{blockIdx.x} * kMsmThreads + threadIdx.x;
  if (t >= threads) return;
  F product = F::One();
#pragma unroll 1
  for (uint64_t i = t; i < count; i += threads) {
    StoreVector(prefixes + i, product);
    product = product * LoadVector(totals + i);
  }
  F inverse = Inverse(product);
#pragma unroll 1
  for (uint32_t k = each; k-- > 0;) {
    const uint64_t i = t + uint64_t{k} * threads;
    if (i >= count) continue;
    const F total = LoadVector(totals + i);
    StoreVector(totals + i, inverse * LoadVector(prefixes + i));
    inverse = inverse * total;
  }
}

// Copies of 16 bytes that arrive in shared memory while the thread computes.
__device__ inline void FetchVector(uint4* shared, const uint4* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))), "l"(from) : "memory");
}
__device__ inline void EndFetch() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ inline void WaitForFetchBefore() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }

// A pair on its way: both points, vector by vector, neighbouring threads side by side. Each thread sees its own alone, so nobody waits for others.
template <class F>
struct FetchedPair {
  static constexpr int kVectors = sizeof(Affine<F>) / 16, kFieldVectors = sizeof(F) / 16;
  // Two points and, where a second block still has room for its own beside that, the product of the denominators before this one.
  static constexpr bool kWithProduct = kFieldVectors <= 3;
  static constexpr int kAllVectors = 2 * kVectors + (kWithProduct ? kFieldVectors : 0);
  static constexpr size_t kBytes = size_t{2} * kAllVectors * kMsmThreads * 16;  // two pairs
  uint4* vectors;  // of this thread's first

  __device__ static FetchedPair Of(uint4* shared, int which) { return {shared + which * kAllVectors * kMsmThreads + threadIdx.x}; }
  __device__ void FetchProduct(const F* from) const {
#pragma unroll
    for (int v = 0; v < kFieldVectors; ++v) FetchVector(vectors + (2 * kVectors + v) * kMsmThreads, reinterpret_cast<const uint4*>(from) + v);
  }
  __device__ F Product() const {
    F x;
    uint4* to = reinterpret_cast<uint4*>(&x);
#pragma unroll
    for (int v = 0; v < kFieldVectors; ++v) to[v] = vectors[(2 * kVectors + v) * kMsmThreads];
    return x;
  }
  __device__ void Fetch(int side, const Affine<F>* from) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) FetchVector(vectors + (side * kVectors + v) * kMsmThreads, reinterpret_cast<const uint4*>(from) + v);
  }
  __device__ Affine<F> Get(int side) const {
    Affine<F> p;
    uint4* to = reinterpret_cast<uint4*>(&p);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) to[v] = vectors[(side * kVectors + v) * kMsmThreads];
    return p;
  }
};

// What a thread knows of a pair before its points are there.
struct PairHead {
  uint32_t left = kNoKey, right = kNoKey;  // keys; kNoKey: nothing there
  uint32_t at = 0;  // where it goes
  bool minus_left = false, minus_right = false;
};

template <class F, bool kFirst>
__device__ PairHead FetchPair(const PairList<F, kFirst>& list, uint64_t j, uint64_t n, const F* products, const uint32_t* offsets, const FetchedPair<F>& to) {
  PairHead head;
  const uint64_t i = 2 * j;
  if (i < n) head.at = offsets[j];
  if (i < n) head.left = list.keys[i];
  if (i + 1 < n) head.right = list.keys[i + 1];
  uint64_t at[2] = {i, i + 1};
  if (kFirst) {
    if (head.left & kDigitMask) {
      const uint32_t value = list.values[i];
      at[0] = value & 0x7fffffffu, head.minus_left = value >> 31;
    }
    if (head.right & kDigitMask) {
      const uint32_t value = list.values[i + 1];
      at[1] = value & 0x7fffffffu, head.minus_right = value >> 31;
    }
  }
  if (head.left & kDigitMask) to.Fetch(0, list.points + at[0]);
  if (head.right & kDigitMask) to.Fetch(1, list.points + at[1]);
  if (FetchedPair<F>::kWithProduct && head.left == head.right && (head.left & kDigitMask)) to.FetchProduct(products + j);
  EndFetch();
  return head;
}

// The entries behind the round: sums of pairs, and what has no partner.
template <class F, bool kFirst>
__global__ void __launch_bounds__(kMsmThreads) MsmPairSumsKernel(PairList<F, kFirst> list, uint32_t pairs_each, const uint32_t* offsets,
                                                                 const F* products, const F* inverses, uint32_t* out_keys, Affine<F>* out) {
  extern __shared__ uint4 shared_pairs[];
  const uint64_t n = *list.length;
  const uint64_t first = uint64_t{blockIdx.x} * pairs_each * kMsmThreads + threadIdx.x;
  if (2 * first >= n) return;
  F inverse = LoadVector(inverses + uint64_t{blockIdx.x} * kMsmThreads + threadIdx.x);
  const auto pair_at = [&](uint32_t k) { return first + uint64_t{k} * kMsmThreads; };
  PairHead next = FetchPair(list, pair_at(pairs_each - 1), n, products, offsets, FetchedPair<F>::Of(shared_pairs, (pairs_each - 1) % 2));
#pragma unroll 1
  for (uint32_t k = pairs_each; k-- > 0;) {
    const uint64_t j = pair_at(k);
    const PairHead head = next;
    const FetchedPair<F> pair = FetchedPair<F>::Of(shared_pairs, k % 2);
    if (k > 0)
      next = FetchPair(list, pair_at(k - 1), n, products, offsets, FetchedPair<F>::Of(shared_pairs, (k - 1) % 2));
    else
      EndFetch();
    if (2 * j >= n) continue;
    uint32_t at = head.at;
    WaitForFetchBefore();
    const auto point = [&](int side) {
      Affine<F> p = pair.Get(side);
      if (kFirst && (side ? head.minus_right : head.minus_left)) p.y = -p.y;
      return p;
    };
    if (head.left != head.right || (head.left & kDigitMask) == 0) {
      if (head.left & kDigitMask) {
        out_keys[at] = head.left;
        StoreVector(out + at, point(0));
        ++at;
      }
      if (head.right & kDigitMask) {
        out_keys[at] = head.right;
        StoreVector(out + at, point(1));
      }
      continue;
    }
    out_keys[at] = head.left;
    F product;
    if constexpr (FetchedPair<F>::kWithProduct)
      product = pair.Product();
    else
      product = LoadVector(products + j);
    const Affine<F> p = point(0), q = point(1);
    F d = q.x - p.x, slope = q.y - p.y;
    if (MayBeUnusual(p.x, q.x, d)) {
      const UnusualPair<F> unusual = LookAtUnusualPair(p, q);
      if (!unusual.inverts) {
        StoreVector(out + at, unusual.sum);
        continue;
      }
      d = unusual.d, slope = unusual.slope;
    }
    const F one = inverse * product;
    inverse = inverse * d;
    slope = slope * one;
    Affine<F> sum;
    sum.x = slope.Square() - p.x - q.x;
    sum.y = slope * (p.x - sum.x) - p.y;
    StoreVector(out + at, sum);
  }
}

#endif  // __CUDACC__

}  // namespace proofline::cuda
