// Points on the device: the twins of core's Affine and Xyzz, same formulas (Explicit-Formulas Database, XYZZ: madd-2008-s, add-2008-s,
// dbl-2008-s-1), same bytes, all exceptional cases handled. Thread level: one thread, one point.
#pragma once

#include "cuda/arith/field.cuh"

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
    return {x3, m * (s - x3) - wv * y, v * zz, wv * zzz};
  }

  // *this += p.
  PL_HD void AddMixed(const Affine<F>& p) {
    if (p.IsInfinity()) return;
    if (IsInfinity()) {
      *this = {p.x, p.y, F::One(), F::One()};
      return;
    }
    const F dx = p.x * zz - x;
    const F dy = p.y * zzz - y;
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
    const F u1 = x * p.zz;
    const F s1 = y * p.zzz;
    const F dx = p.x * zz - u1;
    const F dy = p.y * zzz - s1;
    if (dx.IsZero()) {
      *this = dy.IsZero() ? p.Double() : Infinity();
      return;
    }
    zz = zz * p.zz;
    zzz = zzz * p.zzz;
    Finish(dx, dy, u1, s1);
  }

 private:
  PL_HD void Finish(const F& dx, const F& dy, const F& u1, const F& s1) {
    const F pp = dx.Square();
    const F ppp = dx * pp;
    const F q = u1 * pp;
    const F x3 = dy.Square() - ppp - q.Double();
    y = dy * (q - x3) - s1 * ppp;
    x = x3;
    zz = zz * pp;
    zzz = zzz * ppp;
  }
};

}  // namespace proofline::cuda
