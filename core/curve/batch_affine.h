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

// True for every pair that the plain chord formula gets wrong, and for a few it gets right (x = 0 on either side).
template <class F>
inline bool IsExceptional(const F& x1, const F& x2, const F& dx) {
  return dx.IsZero() | x1.IsZero() | x2.IsZero();
}

// What stands for the pair in the shared product: never 0.
template <class F>
F Denominator(const Affine<F>& p, const Affine<F>& q) {
  if (p.IsInfinity() || q.IsInfinity()) return F::One();
  F dx = q.x - p.x;
  if (!dx.IsZero()) return dx;
  if (p.y == q.y && !p.y.IsZero()) return p.y.Double();
  return F::One();
}

// p + q where slope is the chord's or the tangent's.
template <class F>
inline Affine<F> FromSlope(const Affine<F>& p, const F& qx, const F& slope) {
  Affine<F> r;
  r.x = slope.Square() - p.x - qx;
  r.y = slope * (p.x - r.x) - p.y;
  return r;
}

// p + q given the inverse of Denominator(p, q).
template <class F>
Affine<F> Sum(const Affine<F>& p, const Affine<F>& q, const F& inverse) {
  if (p.IsInfinity()) return q;
  if (q.IsInfinity()) return p;
  if (p.x == q.x) {
    if (!(p.y == q.y) || p.y.IsZero()) return Affine<F>::Infinity();
    F xx = p.x.Square();
    return FromSlope(p, q.x, (xx.Double() + xx) * inverse);
  }
  return FromSlope(p, q.x, (q.y - p.y) * inverse);
}

}  // namespace batch_affine_detail

// The running products of one batch; one per thread. An inversion costs about 85 multiplications, a sixth of one for each of 512 pairs;
// more pairs would save less than their points cost, once those leave the first- and second-level caches before they are read again.
template <class F>
class BatchAdder {
 public:
  static constexpr size_t kBatch = 512;

  BatchAdder() : before_(std::make_unique_for_overwrite<F[]>(kBatch)) {}

  // sink(k, left + right) for k in [0, count), pairs taken from source(k). All reads of a batch's pairs happen before or at the
  // same k as its writes, from the last k of the batch to the first; batches go upwards. Source has:
  //   void Xs(size_t k, F& x1, F& x2)                      the abscissas only
  //   void Points(size_t k, Affine<F>& p, Affine<F>& q)
  //   void Prefetch(size_t k)                              may be called for k < count only
  template <class Source, class Sink>
  void Run(size_t count, const Source& source, const Sink& sink) {
    for (size_t first = 0; first < count; first += kBatch) {
      RunBatch(first, std::min(count, first + kBatch), count, source, sink);
    }
  }

 private:
  static constexpr size_t kPrefetchDistance = 24;

  template <class Source, class Sink>
  void RunBatch(size_t first, size_t last, size_t count, const Source& source, const Sink& sink) {
    using namespace batch_affine_detail;
    F product = F::One();
    for (size_t k = first; k < last; ++k) {
      if (k + kPrefetchDistance < count) source.Prefetch(k + kPrefetchDistance);
      F x1, x2;
      source.Xs(k, x1, x2);
      F dx = x2 - x1;
      if (IsExceptional(x1, x2, dx)) [[unlikely]] {
        Affine<F> p, q;
        source.Points(k, p, q);
        dx = Denominator(p, q);
      }
      before_[k - first] = product;
      product *= dx;
    }
    F inverse = product.Inverse();
    for (size_t k = last; k-- > first;) {
      Affine<F> p, q;
      source.Points(k, p, q);
      F dx = q.x - p.x;
      F inverse_dx = inverse * before_[k - first];
      if (IsExceptional(p.x, q.x, dx)) [[unlikely]] {
        inverse *= Denominator(p, q);
        sink(k, Sum(p, q, inverse_dx));
        continue;
      }
      inverse *= dx;
      sink(k, FromSlope(p, q.x, (q.y - p.y) * inverse_dx));
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
    void Xs(size_t k, F& x1, F& x2) const {
      x1 = left[k].x;
      x2 = right[k].x;
    }
    void Points(size_t k, Affine<F>& p, Affine<F>& q) const {
      p = left[k];
      q = right[k];
    }
    void Prefetch(size_t) const {}
  };
  adder.Run(count, Source{left, right}, [to](size_t k, const Affine<F>& sum) { to[k] = sum; });
}

}  // namespace proofline
