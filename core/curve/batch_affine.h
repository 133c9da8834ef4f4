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
template <class F>
class BatchAdder {
 public:
  static constexpr size_t kBatch = 512;

  BatchAdder() : before_(std::make_unique_for_overwrite<F[]>(kBatch + 1)) {}

  // sink(k) = left + right for k in [0, count), pairs taken from source(k). All reads of a batch's pairs happen before or at the
  // same k as its writes, from the last k of the batch to the first; batches go upwards. Source has:
  //   void SubXs(size_t k, F& dx)      dx = right.x - left.x
  //   pair Points(size_t k)            AffinePair or AffinePairView
  //   bool HasZeroX(size_t k)          left.x = 0 or right.x = 0; a source whose points are never infinity leaves it out
  //   void Prefetch(size_t k)          may be called for k < count only
  // and Sink: Affine<F>& operator()(size_t k), where the sum goes.
  template <class Source, class Sink>
  void Run(size_t count, const Source& source, const Sink& sink) {
    for (size_t first = 0; first < count; first += kBatch) {
      RunBatch(first, std::min(count, first + kBatch), count, source, sink);
    }
  }

 private:
  static constexpr size_t kPrefetchDistance = 24;

  // True for every pair that the chord formula gets wrong (and for a few others: x = 0 beside an infinity that may be).
  template <class Source>
  static bool IsExceptional(const Source& source, size_t k, const F& dx) {
    if constexpr (requires { source.HasZeroX(k); }) {
      return dx.IsZero() || source.HasZeroX(k);
    } else {
      return dx.IsZero();
    }
  }

  template <class Source, class Sink>
  void RunBatch(size_t first, size_t last, size_t count, const Source& source, const Sink& sink) {
    using namespace batch_affine_detail;
    F* before = before_.get();
    before[0] = F::One();
    for (size_t k = first; k < last; ++k, ++before) {
      if (k + kPrefetchDistance < count) source.Prefetch(k + kPrefetchDistance);
      F dx;
      source.SubXs(k, dx);
      if (IsExceptional(source, k, dx)) [[unlikely]] {
        const auto& pair = source.Points(k);
        dx = Denominator(pair.p, pair.q);
      }
      F::Mul(before[1], before[0], dx);
    }
    F inverse = before->Inverse();
    for (size_t k = last; k-- > first;) {
      --before;
      const auto& pair = source.Points(k);
      F slope;
      F::Mul(slope, inverse, *before);
      F dx;
      F::Sub(dx, pair.q.x, pair.p.x);
      if (IsExceptional(source, k, dx)) [[unlikely]] {
        inverse *= Denominator(pair.p, pair.q);
        Affine<F> sum;
        Sum(pair.p, pair.q, slope, sum);
        sink(k) = sum;
        continue;
      }
      inverse *= dx;
      F::Sub(dx, pair.q.y, pair.p.y);
      slope *= dx;
      FromSlope(pair.p, pair.q.x, slope, sink(k));
    }
  }

  std::unique_ptr<F[]> before_;  // product of the denominators before each pair of the batch
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
    void Prefetch(size_t) const {}
  };
  adder.Run(count, Source{left, right}, [to](size_t k) -> Affine<F>& { return to[k]; });
}

}  // namespace proofline
