// Sums of many independent pairs of affine points with shared inversions (Montgomery's trick): 5 multiplications and a squaring a
// pair, against 8 + 2 for adding an affine point to an XYZZ one.
//
// Every pair may be exceptional - either side infinity, equal points, opposite points - and is then handled alone: the denominator that
// enters the shared product is never zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "core/curve/point.h"

namespace proofline {

namespace batch_affine_detail {

// What stands for the pair in the shared product: never 0.
template <class F>
F Denominator(const Affine<F>& p, const Affine<F>& q) {
  if (p.IsInfinity() || q.IsInfinity()) return F::One();
  F dx = q.x - p.x;
  if (!dx.IsZero()) return dx;
  if (p.y == q.y && !p.y.IsZero()) return p.y.Double();
  return F::One();
}

// y = -y if `negate`, without a branch: signs of digits are random, and every second branch would be mispredicted.
template <class F>
inline void NegateIf(F& y, bool negate) {
  if constexpr (requires { y.c0; }) {
    NegateIf(y.c0, negate);
    NegateIf(y.c1, negate);
  } else {
    const F negated = -y;
    const uint64_t mask = 0 - uint64_t{negate};
    for (int i = 0; i < F::kLimbs; ++i) {
      uint64_t word = negated.limbs[i];
      __asm__("" : "+r"(word));  // keeps the words apart: wider loads of `negated`, just stored in words, would stall
      y.limbs[i] ^= (y.limbs[i] ^ word) & mask;
    }
  }
}

// out = p + q where slope is the chord's or the tangent's. Every value is made where it stays: copying one that was just stored word by
// word would stall (see Fp::operator*=).
template <class F>
inline void FromSlope(const Affine<F>& p, const F& qx, const F& slope, Affine<F>& out) {
  F::Square(out.x, slope);
  out.x -= p.x;
  out.x -= qx;
  F::Sub(out.y, p.x, out.x);
  out.y *= slope;
  out.y -= p.y;
}

// out = p + q given the inverse of Denominator(p, q).
template <class F>
[[gnu::noinline]] void Sum(const Affine<F>& p, const Affine<F>& q, const F& inverse, Affine<F>& out) {
  if (p.IsInfinity()) {
    out = q;
  } else if (q.IsInfinity()) {
    out = p;
  } else if (p.x == q.x) {
    if (!(p.y == q.y) || p.y.IsZero()) {
      out = Affine<F>::Infinity();
    } else {
      const F xx = p.x.Square();
      FromSlope(p, q.x, (xx.Double() + xx) * inverse, out);
    }
  } else {
    FromSlope(p, q.x, (q.y - p.y) * inverse, out);
  }
}

}  // namespace batch_affine_detail

template <class F>
struct AffinePair {
  Affine<F> p, q;
};
// A pair that needs no copy; the points outlive it and are not where the sum goes.
template <class F>
struct AffinePairView {
  const Affine<F>& p;
  const Affine<F>& q;
};

// The running products of one batch; one per thread. An inversion costs about 85 multiplications, a sixth of one for each of 512 pairs;
// more pairs would save less than their points cost, once those leave the first- and second-level caches before they are read again.
//
// Pairs go in groups of four, pair k in lane k mod 4, each lane with a running product of its own: neighbouring multiplications are then
// independent of each other, and run at the processor's throughput and not at the latency of one (11.8 against 15.1 ns on a Zen 5).
template <class F>
class BatchAdder {
 public:
  static constexpr size_t kBatch = 512;

  BatchAdder() : before_(std::make_unique_for_overwrite<F[]>(kBatch + kLanes)) {}

  // sink(k) = left + right for k in [0, count), pairs taken from source(k). All reads of a batch's pairs happen before or in the same
  // group of four as its writes, from the last group of the batch to the first; batches go upwards. Source has:
  //   void SubXs(size_t k, F& dx)      dx = right.x - left.x
  //   pair Points(size_t k)            AffinePair or AffinePairView
  //   bool HasZeroX(size_t k)          left.x = 0 or right.x = 0; a source whose points are never infinity leaves it out
  //   void PrefetchNextBatch(size_t k) optional: fetch what pair k + kBatch will read; called while the additions of k's batch
  //                                    keep the processor busy
  // and Sink: Affine<F>& operator()(size_t k), where the sum goes.
  template <class Source, class Sink>
  void Run(size_t count, const Source& source, const Sink& sink) {
    for (size_t first = 0; first < count; first += kBatch) {
      RunBatch(first, std::min(count, first + kBatch), source, sink);
    }
  }

 private:
  static constexpr size_t kLanes = 4;

  // True for every pair that the chord formula gets wrong (and for a few others: x = 0 beside an infinity that may be).
  template <class Source>
  static bool IsExceptional(const Source& source, size_t k, const F& dx) {
    if constexpr (requires { source.HasZeroX(k); }) {
      return dx.IsZero() | source.HasZeroX(k);
    } else {
      return dx.IsZero();
    }
  }

  template <class Source, class Sink>
  void RunBatch(size_t first, size_t last, const Source& source, const Sink& sink) {
    F inverse[kLanes];
    InvertLanes(MultiplyUp(first, last, source), inverse);
    size_t k = last;
    for (; (k - first) % kLanes != 0; --k) AddOne(first, k - 1, source, sink, inverse[(k - 1 - first) % kLanes]);
    for (; k > first; k -= kLanes) AddFour(first, k - kLanes, source, sink, inverse);
  }

  // before_[i] = product of the denominators before pair i of the batch in its lane. Returns where each lane's whole product is: at
  // before_[result], ..., before_[result + 3], in the order of lanes from result % 4 on.
  template <class Source>
  size_t MultiplyUp(size_t first, size_t last, const Source& source) {
    for (size_t lane = 0; lane < kLanes; ++lane) before_[lane] = F::One();
    for (size_t k = first; k < last; ++k) {
      F dx;
      source.SubXs(k, dx);
      if (IsExceptional(source, k, dx)) [[unlikely]] {
        const auto& pair = source.Points(k);
        dx = batch_affine_detail::Denominator(pair.p, pair.q);
      }
      F::Mul(before_[k - first + kLanes], before_[k - first], dx);
    }
    return last - first;
  }

  // inverse[lane] = 1 / the lane's whole product, with one inversion.
  void InvertLanes(size_t end, F* inverse) {
    const F* whole[kLanes];
    for (size_t i = 0; i < kLanes; ++i) whole[(end + i) % kLanes] = &before_[end + i];
    const F low = *whole[0] * *whole[1];
    const F high = *whole[2] * *whole[3];
    const F both = (low * high).Inverse();
    const F low_inverse = both * high;
    const F high_inverse = both * low;
    F::Mul(inverse[0], low_inverse, *whole[1]);
    F::Mul(inverse[1], low_inverse, *whole[0]);
    F::Mul(inverse[2], high_inverse, *whole[3]);
    F::Mul(inverse[3], high_inverse, *whole[2]);
  }

  // One pair, exceptional or not; `inverse` is its lane's.
  template <class Source, class Sink>
  void AddOne(size_t first, size_t k, const Source& source, const Sink& sink, F& inverse) {
    using namespace batch_affine_detail;
    const auto& pair = source.Points(k);
    const F inverse_dx = inverse * before_[k - first];
    inverse *= Denominator(pair.p, pair.q);
    Affine<F> sum;
    Sum(pair.p, pair.q, inverse_dx, sum);
    sink(k) = sum;
  }

  template <class Source, class Sink>
  void AddFour(size_t first, size_t k, const Source& source, const Sink& sink, F* inverse) {
    using Pair = decltype(source.Points(k));
    const Pair pairs[kLanes] = {source.Points(k), source.Points(k + 1), source.Points(k + 2), source.Points(k + 3)};
    F dx[kLanes];
    bool exceptional = false;
    for (size_t i = 0; i < kLanes; ++i) {
      F::Sub(dx[i], pairs[i].q.x, pairs[i].p.x);
      exceptional |= IsExceptional(source, k + i, dx[i]);
      if constexpr (requires { source.PrefetchNextBatch(k); }) source.PrefetchNextBatch(k + i);
    }
    if (exceptional) [[unlikely]] {
      for (size_t i = 0; i < kLanes; ++i) AddOne(first, k + i, source, sink, inverse[i]);
      return;
    }
    const F* before = &before_[k - first];
    F slope[kLanes];
    for (size_t i = 0; i < kLanes; ++i) F::Mul(slope[i], inverse[i], before[i]);
    for (size_t i = 0; i < kLanes; ++i) inverse[i] *= dx[i];
    for (size_t i = 0; i < kLanes; ++i) F::Sub(dx[i], pairs[i].q.y, pairs[i].p.y);
    for (size_t i = 0; i < kLanes; ++i) slope[i] *= dx[i];
    Affine<F>* sums[kLanes];
    for (size_t i = 0; i < kLanes; ++i) sums[i] = &sink(k + i);
    // As FromSlope, each step for all four.
    for (size_t i = 0; i < kLanes; ++i) F::Square(sums[i]->x, slope[i]);
    for (size_t i = 0; i < kLanes; ++i) {
      sums[i]->x -= pairs[i].p.x;
      sums[i]->x -= pairs[i].q.x;
      F::Sub(sums[i]->y, pairs[i].p.x, sums[i]->x);
    }
    for (size_t i = 0; i < kLanes; ++i) sums[i]->y *= slope[i];
    for (size_t i = 0; i < kLanes; ++i) sums[i]->y -= pairs[i].p.y;
  }

  std::unique_ptr<F[]> before_;
};

// to[k] = left[k] + right[k], k < count. `to` may be `left` or `right`, else they do not overlap.
template <class F>
void BatchAdd(BatchAdder<F>& adder, const Affine<F>* left, const Affine<F>* right, Affine<F>* to, size_t count) {
  struct Source {
    const Affine<F>* left;
    const Affine<F>* right;
    void SubXs(size_t k, F& dx) const { F::Sub(dx, right[k].x, left[k].x); }
    bool HasZeroX(size_t k) const { return left[k].x.IsZero() | right[k].x.IsZero(); }
    AffinePair<F> Points(size_t k) const { return {left[k], right[k]}; }
  };
  adder.Run(count, Source{left, right}, [to](size_t k) -> Affine<F>& { return to[k]; });
}

}  // namespace proofline
