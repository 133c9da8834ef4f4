// Fq6 = Fq2[v] / (v^3 - xi) and the two non-residues xi: 9 + u on BN254, 1 + u on BLS12-381 (as in EIP-197 and the pairing-friendly curves
// draft). All towers of the pairing are built over a policy `Xi` that names its Fq2 and knows how to multiply by xi.
#pragma once

#include "core/field/fq2.h"

namespace proofline {

template <class F2>
struct Bn254Xi {
  using Fq2 = F2;
  static Fq2 Value() { return {Fq2::Fq::FromU64(9), Fq2::Fq::One()}; }
  // (9 + u)(c0 + c1 u) = 9 c0 - c1 + (9 c1 + c0) u
  static Fq2 Mul(const Fq2& a) {
    Fq2 nine = a.Double().Double().Double() + a;
    return {nine.c0 - a.c1, nine.c1 + a.c0};
  }
};

template <class F2>
struct Bls12381Xi {
  using Fq2 = F2;
  static Fq2 Value() { return {Fq2::Fq::One(), Fq2::Fq::One()}; }
  static Fq2 Mul(const Fq2& a) { return {a.c0 - a.c1, a.c0 + a.c1}; }
};

// c0 + c1 v + c2 v^2.
template <class XiT>
struct Fq6 {
  using Xi = XiT;
  using Fq2 = typename Xi::Fq2;

  Fq2 c0, c1, c2;

  static Fq6 Zero() { return Fq6{}; }
  static Fq6 One() { return {Fq2::One(), Fq2::Zero(), Fq2::Zero()}; }
  bool IsZero() const { return c0.IsZero() && c1.IsZero() && c2.IsZero(); }
  friend bool operator==(const Fq6& a, const Fq6& b) { return a.c0 == b.c0 && a.c1 == b.c1 && a.c2 == b.c2; }

  friend Fq6 operator+(const Fq6& a, const Fq6& b) { return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2}; }
  friend Fq6 operator-(const Fq6& a, const Fq6& b) { return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2}; }
  Fq6 operator-() const { return {-c0, -c1, -c2}; }
  Fq6 Double() const { return {c0.Double(), c1.Double(), c2.Double()}; }
  // Karatsuba: 6 multiplications in Fq2.
  [[gnu::noinline]] friend Fq6 operator*(const Fq6& a, const Fq6& b) {
    Fq2 v0 = a.c0 * b.c0, v1 = a.c1 * b.c1, v2 = a.c2 * b.c2;
    return {v0 + Xi::Mul((a.c1 + a.c2) * (b.c1 + b.c2) - v1 - v2),
            (a.c0 + a.c1) * (b.c0 + b.c1) - v0 - v1 + Xi::Mul(v2),
            (a.c0 + a.c2) * (b.c0 + b.c2) - v0 - v2 + v1};
  }
  Fq6 Square() const { return *this * *this; }
  // Times b0 + b1 v: 5 multiplications in Fq2.
  [[gnu::noinline]] Fq6 MulBy01(const Fq2& b0, const Fq2& b1) const {
    Fq2 v0 = c0 * b0, v1 = c1 * b1;
    return {v0 + Xi::Mul(c2 * b1), (c0 + c1) * (b0 + b1) - v0 - v1, c2 * b0 + v1};
  }
  Fq6 MulByV() const { return {Xi::Mul(c2), c0, c1}; }
  // 1/x; 0 for 0. From the norm to Fq2: x * (A + B v + C v^2) = c0 A + xi (c1 C + c2 B).
  [[gnu::noinline]] Fq6 Inverse() const {
    Fq2 a = c0.Square() - Xi::Mul(c1 * c2);
    Fq2 b = Xi::Mul(c2.Square()) - c0 * c1;
    Fq2 c = c1.Square() - c0 * c2;
    Fq2 norm_inverse = (c0 * a + Xi::Mul(c1 * c + c2 * b)).Inverse();
    return {a * norm_inverse, b * norm_inverse, c * norm_inverse};
  }
};

}  // namespace proofline
