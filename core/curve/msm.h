// Multi-scalar multiplication: sum of scalar * point over arrays that stay where they are (a mapped key, a slot).
//
// Points are packed as in a .zkey file (x then y, Montgomery, infinity all zero), scalars are 32 bytes, canonical, little-endian;
// neither needs any alignment and nothing is copied. Every point must be on the curve with coordinates < q, every scalar < r; points
// outside the subgroup are allowed only if the caller does not mind that a scalar s > r/2 counts as -(r - s).
//
// Method (README.md has the figures): Pippenger's buckets, filled by sorting and batched affine additions. Scalars 0 and points at
// infinity are dropped, scalars 1 and r-1 are summed apart, the others are folded to |s| <= r/2 and cut into signed windows whose
// widths follow from how many scalars reach how high. For each window the digits are sorted by bucket, each bucket's segment is
// summed as a balanced tree of affine additions that share inversions, and the buckets are reduced by row and column sums. Equal points,
// opposite points and infinity are dealt with pair by pair; duplicates in a key are common.
//
// Threads: tbb::parallel_for in the caller's arena. Not constant time.
// Memory: 4 bytes per scalar for the list of what counts, 8 bytes per scalar and window in flight (as many windows as threads, at most
// all of them; ranges of at most 2^22 scalars at a time) with one and a half arrays of buckets each (2^(width-1) points), and about
// 10 KiB for each byte of a point as work space of each thread. All that was derived from scalars is wiped. Throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <functional>

#include "core/base/bytes.h"
#include "core/curve/point.h"
#include "core/field/moduli.h"

namespace proofline {

struct MsmOptions {
  // Width of every window, 1 to 16. 0: chosen from the scalars.
  int window_bits = 0;
  // Points and scalars are taken in ranges of at most this many. 0: 2^22. Each range costs one more addition per bucket.
  size_t range = 0;
  // Called after the last use of points [first, first + count), in order and from the calling thread: a caller that mapped a file can give
  // the pages back.
  std::function<void(size_t first, size_t count)> range_done;
};

// Preconditions: points.size() = n * 2 * F::kBytes and scalars.size() = n * 32 for one n < 2^31. Fr is the scalar field of F's group.
template <class Fr, class F>
Xyzz<F> Msm(ByteSpan points, ByteSpan scalars, const MsmOptions& options = {});

// The same by double-and-add, one point after the other: the reference.
template <class F>
Xyzz<F> NaiveMsm(ByteSpan points, ByteSpan scalars) {
  Xyzz<F> sum = Xyzz<F>::Infinity();
  for (size_t i = 0; i * kFrBytes < scalars.size(); ++i) {
    auto limbs = LoadLe<std::array<uint64_t, 4>>(scalars.data() + i * kFrBytes);
    sum.Add(ScalarMul(Affine<F>::Load(points.data() + i * Affine<F>::kBytes), std::span<const uint64_t>(limbs)));
  }
  return sum;
}

}  // namespace proofline
