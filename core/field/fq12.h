// Fq12 = Fq6[w] / (w^2 - v), the field in which pairings take their values. As w^6 = xi, an element is also
// a0 + a1 w + ... + a5 w^5 over Fq2 with (a0, a2, a4) = c0 and (a1, a3, a5) = c1.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/field/fq6.h"
#include "core/field/limbs.h"

namespace proofline {

// c0 + c1 w.
template <class XiT>
struct Fq12 {
  using Xi = XiT;
  using Fq2 = typename Xi::Fq2;
  using Fq6 = proofline::Fq6<Xi>;

  Fq6 c0, c1;

  static Fq12 One() { return {Fq6::One(), Fq6::Zero()}; }
  bool IsOne() const { return *this == One(); }
  friend bool operator==(const Fq12& a, const Fq12& b) { return a.c0 == b.c0 && a.c1 == b.c1; }

  // Karatsuba: 18 multiplications in Fq2.
  [[gnu::noinline]] friend Fq12 operator*(const Fq12& a, const Fq12& b) {
    Fq6 v0 = a.c0 * b.c0, v1 = a.c1 * b.c1;
    return {v0 + v1.MulByV(), (a.c0 + a.c1) * (b.c0 + b.c1) - v0 - v1};
  }
  Fq12& operator*=(const Fq12& b) { return *this = *this * b; }
  // Complex squaring: 12 multiplications in Fq2.
  [[gnu::noinline]] Fq12 Square() const {
    Fq6 m = c0 * c1;
    return {(c0 + c1) * (c0 + c1.MulByV()) - m - m.MulByV(), m.Double()};
  }
  // The q^6-th power; on values of a pairing the inverse.
  Fq12 Conjugate() const { return {c0, -c1}; }
  // 1/x; 0 for 0.
  [[gnu::noinline]] Fq12 Inverse() const {
    Fq6 n = (c0.Square() - c1.Square().MulByV()).Inverse();
    return {c0 * n, -(c1 * n)};
  }
  // The q-th power: a_i becomes conj(a_i) xi^(i (q-1)/6).
  [[gnu::noinline]] Fq12 Frobenius() const {
    const std::array<Fq2, 6>& g = FrobeniusConstants();
    return {{c0.c0.Conjugate(), c0.c1.Conjugate() * g[2], c0.c2.Conjugate() * g[4]},
            {c1.c0.Conjugate() * g[1], c1.c1.Conjugate() * g[3], c1.c2.Conjugate() * g[5]}};
  }
  // xi^(i (q-1)/6) for i = 0..5.
  static const std::array<Fq2, 6>& FrobeniusConstants() {
    static const std::array<Fq2, 6> constants = [] {
      Fq2 first = Xi::Value().Pow(LimbsDiv(LimbsSub(Fq2::Fq::Modulus::kValue, 1), 6));
      std::array<Fq2, 6> powers;
      powers[0] = Fq2::One();
      for (int i = 1; i < 6; ++i) powers[i] = powers[i - 1] * first;
      return powers;
    }();
    return constants;
  }
  // The square of an element of the cyclotomic subgroup, x^(q^4 - q^2 + 1) = 1: Granger and Scott, "Faster squaring in the cyclotomic
  // subgroup of sixth degree extensions" (PKC 2010), section 3.2.
  [[gnu::noinline]] Fq12 CyclotomicSquare() const {
    auto [t0, t1] = SquareFq4(c0.c0, c1.c1);
    auto [t2, t3] = SquareFq4(c1.c0, c0.c2);
    auto [t4, t5] = SquareFq4(c0.c1, c1.c2);
    return {{ThreeMinusTwo(t0, c0.c0), ThreeMinusTwo(t2, c0.c1), ThreeMinusTwo(t4, c0.c2)},
            {ThreePlusTwo(Xi::Mul(t5), c1.c0), ThreePlusTwo(t1, c1.c1), ThreePlusTwo(t3, c1.c2)}};
  }
  // this^e by square and multiply, for any element.
  Fq12 Pow(std::span<const uint64_t> e) const {
    Fq12 r = One();
    for (size_t i = e.size() * 64; i-- > 0;) {
      r = r.Square();
      if ((e[i / 64] >> (i % 64)) & 1) r *= *this;
    }
    return r;
  }
  // this^e, for elements of the cyclotomic subgroup.
  Fq12 CyclotomicPow(uint64_t e) const {
    Fq12 r = One();
    for (int i = 64 - (e == 0 ? 64 : __builtin_clzll(e)); i-- > 0;) {
      r = r.CyclotomicSquare();
      if ((e >> i) & 1) r *= *this;
    }
    return r;
  }

 private:
  struct Pair {
    Fq2 a, b;
  };
  // (a + b s)^2 with s^2 = xi.
  [[gnu::noinline]] static Pair SquareFq4(const Fq2& a, const Fq2& b) {
    Fq2 aa = a.Square(), bb = b.Square();
    return {aa + Xi::Mul(bb), (a + b).Square() - aa - bb};
  }
  static Fq2 ThreeMinusTwo(const Fq2& t, const Fq2& z) { return (t - z).Double() + t; }
  static Fq2 ThreePlusTwo(const Fq2& t, const Fq2& z) { return (t + z).Double() + t; }
};

}  // namespace proofline
