// Points of y^2 = x^3 + b over a field F (Fq for G1, Fq2 for G2), affine and XYZZ.
//
// The curves here have b != 0 and odd order of the subgroup in use, but the formulas below are right for every point of the curve:
// infinity on either side, equal points, P and -P, y = 0. Coordinates are in Montgomery form, fully reduced. Formulas: Explicit-Formulas
// Database, short Weierstrass, "XYZZ" coordinates (Sutherland 2008): add-2008-s, madd-2008-s, dbl-2008-s-1, mdbl-2008-s-1, with a = 0.
// Not constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.h"

namespace proofline {

// (0, 0) is infinity: no curve here has that point.
template <class F>
struct Affine {
  using Field = F;
  static constexpr size_t kBytes = 2 * F::kBytes;

  F x, y;

  static Affine Infinity() { return Affine{}; }
  // The form of a .zkey file: x then y, Montgomery, infinity all zero, any alignment. Coordinates must be < q (see F::IsReduced).
  static Affine Load(const void* bytes) {
    return {F::LoadMont(bytes), F::LoadMont(static_cast<const uint8_t*>(bytes) + F::kBytes)};
  }
  void Store(void* bytes) const {
    x.StoreMont(bytes);
    y.StoreMont(static_cast<uint8_t*>(bytes) + F::kBytes);
  }
  bool IsInfinity() const { return x.IsZero() && y.IsZero(); }
  // -infinity is infinity: -0 is 0.
  Affine operator-() const { return {x, -y}; }
  friend bool operator==(const Affine& a, const Affine& b) { return a.x == b.x && a.y == b.y; }
};

// x = X / ZZ, y = Y / ZZZ with ZZ^3 = ZZZ^2; ZZ = 0 is infinity.
template <class F>
struct Xyzz {
  using Field = F;

  F x, y, zz, zzz;

  static Xyzz Infinity() { return Xyzz{}; }
  static Xyzz FromAffine(const Affine<F>& p) {
    if (p.IsInfinity()) return Infinity();
    return {p.x, p.y, F::One(), F::One()};
  }
  bool IsInfinity() const { return zz.IsZero(); }
  Xyzz operator-() const { return {x, -y, zz, zzz}; }

  // *this += p.
  void AddMixed(const Affine<F>& p) {
    if (p.IsInfinity()) return;
    if (IsInfinity()) {
      *this = FromAffine(p);
      return;
    }
    F dx = p.x * zz - x;
    F dy = p.y * zzz - y;
    if (dx.IsZero()) {
      *this = dy.IsZero() ? DoubleAffine(p) : Infinity();
      return;
    }
    Finish(dx, dy, x, y);
  }

  // *this += p.
  void Add(const Xyzz& p) {
    if (p.IsInfinity()) return;
    if (IsInfinity()) {
      *this = p;
      return;
    }
    F u1 = x * p.zz;
    F s1 = y * p.zzz;
    F dx = p.x * zz - u1;
    F dy = p.y * zzz - s1;
    if (dx.IsZero()) {
      *this = dy.IsZero() ? p.Double() : Infinity();
      return;
    }
    zz *= p.zz;
    zzz *= p.zzz;
    Finish(dx, dy, u1, s1);
  }

  Xyzz Double() const {
    F u = y.Double();  // 0 exactly for infinity (y may be anything there) and for points of order 2
    F v = u.Square();
    F w = u * v;
    F s = x * v;
    F xx = x.Square();
    F m = xx.Double() + xx;
    F x3 = m.Square() - s.Double();
    return {x3, m * (s - x3) - w * y, v * zz, w * zzz};
  }

  static Xyzz DoubleAffine(const Affine<F>& p) {
    F u = p.y.Double();
    F v = u.Square();
    F w = u * v;
    F s = p.x * v;
    F xx = p.x.Square();
    F m = xx.Double() + xx;
    F x3 = m.Square() - s.Double();
    return {x3, m * (s - x3) - w * p.y, v, w};
  }

  // One inversion; see BatchToAffine for many points.
  Affine<F> ToAffine() const { return ToAffineWith(zzz.Inverse()); }
  // `zzz_inverse` = 1 / zzz; anything for infinity.
  Affine<F> ToAffineWith(const F& zzz_inverse) const {
    if (IsInfinity()) return Affine<F>::Infinity();
    F z_inverse = zz * zzz_inverse;
    return {x * z_inverse.Square(), y * zzz_inverse};
  }

  // Equal as points, whatever the representatives.
  friend bool operator==(const Xyzz& a, const Xyzz& b) {
    if (a.IsInfinity() || b.IsInfinity()) return a.IsInfinity() && b.IsInfinity();
    return a.x * b.zz == b.x * a.zz && a.y * b.zzz == b.y * a.zzz;
  }

 private:
  // The common tail of both additions: zz and zzz hold the product of the two sides' (or ours, where the other's is 1), dx != 0.
  void Finish(const F& dx, const F& dy, const F& u1, const F& s1) {
    F pp = dx.Square();
    F ppp = dx * pp;
    F q = u1 * pp;
    F x3 = dy.Square() - ppp - q.Double();
    F y3 = dy * (q - x3) - s1 * ppp;
    x = x3;
    y = y3;
    zz *= pp;
    zzz *= ppp;
  }
};

// out[i] = points[i], with one inversion in all (Montgomery's trick). The spans have equal length and do not overlap.
template <class F>
void BatchToAffine(std::span<const Xyzz<F>> points, std::span<Affine<F>> out) {
  std::vector<F> before(points.size());  // the product of all zzz before i that are not 0
  F product = F::One();
  for (size_t i = 0; i < points.size(); ++i) {
    before[i] = product;
    if (!points[i].IsInfinity()) product *= points[i].zzz;
  }
  F inverse = product.Inverse();
  for (size_t i = points.size(); i-- > 0;) {
    out[i] = points[i].ToAffineWith(inverse * before[i]);
    if (!points[i].IsInfinity()) inverse *= points[i].zzz;
  }
}

// [scalar] p by double-and-add: the reference for everything faster. `scalar`: little-endian 64-bit words, canonical, any length.
template <class F>
Xyzz<F> ScalarMul(const Affine<F>& p, std::span<const uint64_t> scalar) {
  Xyzz<F> r = Xyzz<F>::Infinity();
  for (size_t i = scalar.size() * 64; i-- > 0;) {
    r = r.Double();
    if ((scalar[i / 64] >> (i % 64)) & 1) r.AddMixed(p);
  }
  return r;
}

template <class F>
Xyzz<F> ScalarMul(const Xyzz<F>& p, std::span<const uint64_t> scalar) {
  Xyzz<F> r = Xyzz<F>::Infinity();
  for (size_t i = scalar.size() * 64; i-- > 0;) {
    r = r.Double();
    if ((scalar[i / 64] >> (i % 64)) & 1) r.Add(p);
  }
  return r;
}

// [k] p for a field element k of Fr.
template <class F, class Fr>
Xyzz<F> ScalarMulFr(const Affine<F>& p, const Fr& k) {
  Fr canon = k.ToCanon();
  return ScalarMul(p, std::span<const uint64_t>(canon.limbs));
}

}  // namespace proofline
