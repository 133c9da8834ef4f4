// Points on the device: the twins of core's Affine and Xyzz, same formulas (Explicit-Formulas Database, XYZZ: madd-2008-s, add-2008-s,
// dbl-2008-s-1), same bytes, all exceptional cases handled. Thread level: one thread, one point.
#pragma once

#include "cuda/arith/field2.cuh"

namespace proofline::cuda {

template <class F>
struct Affine {
  F x, y;
  PL_HD bool IsInfinity() const { return x.IsZero() && y.IsZero(); }
};

template <class F>
struct Xyzz {
  F x, y, zz, zzz;

  PL_HD static Xyzz Infinity() { return {F::Zero(), F::Zero(), F::Zero(), F::Zero()}; }
  PL_HD bool IsInfinity() const { return zz.IsZero(); }
  PL_HD static Xyzz FromAffine(const Affine<F>& p) {
    if (p.IsInfinity()) return Infinity();
    return {p.x, p.y, F::One(), F::One()};
  }

  PL_HD Xyzz Double() const {
    const F u = y.Double();
    const F v = u.Square();
    const F wv = u * v;
    const F s = x * v;
    const F xx = x.Square();
    const F m = xx.Double() + xx;
    const F x3 = m.Square() - s.Double();
    return {x3, F::DifferenceOfProducts(m, s - x3, wv, y), v * zz, wv * zzz};
  }

  // *this += p.
  PL_HD void AddMixed(const Affine<F>& p) {
    if (p.IsInfinity()) return;
    if (IsInfinity()) {
      *this = {p.x, p.y, F::One(), F::One()};
      return;
    }
    F dx, dy;
    F::Multiply(dx, p.x, zz);
    F::Multiply(dy, p.y, zzz);
    dx = dx - x;
    dy = dy - y;
    if (dx.IsZero()) {
      *this = dy.IsZero() ? Xyzz{p.x, p.y, F::One(), F::One()}.Double() : Infinity();
      return;
    }
    Finish(dx, dy, x, y);
  }

  // *this += p.
  PL_HD void Add(const Xyzz& p) {
    if (p.IsInfinity()) return;
    if (IsInfinity()) {
      *this = p;
      return;
    }
    F u1, s1, dx, dy;
    F::Multiply(u1, x, p.zz);
    F::Multiply(s1, y, p.zzz);
    F::Multiply(dx, p.x, zz);
    F::Multiply(dy, p.y, zzz);
    dx = dx - u1;
    dy = dy - s1;
    if (dx.IsZero()) {
      *this = dy.IsZero() ? p.Double() : Infinity();
      return;
    }
    F::Multiply(zz, zz, p.zz);
    F::Multiply(zzz, zzz, p.zzz);
    Finish(dx, dy, u1, s1);
  }

 private:
  // The same steps for both additions, in place: dx and dy are spent. u1 and s1 may be x and y.
  PL_HD void Finish(F& dx, F& dy, const F& u1, const F& s1) {
    F pp;
    F::Square(pp, dx);
    F::Multiply(zz, zz, pp);
    F& ppp = dx;
    F::Multiply(ppp, dx, pp);
    F::Multiply(zzz, zzz, ppp);
    F& q = pp;
    F::Multiply(q, u1, pp);
    F::Square(x, dy);
    x = x - ppp - q.Double();
    q = q - x;
    F::SubtractProducts(y, dy, q, s1, ppp);
  }
};

}  // namespace proofline::cuda
