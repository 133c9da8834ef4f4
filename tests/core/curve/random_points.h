// Points of the whole curve, hardly ever of its subgroup: y is a square root of x^3 + b.
#pragma once

#include <optional>
#include <random>

#include "core/curve/curve.h"
#include "tests/core/field/hostile.h"

namespace proofline {

// q = 3 mod 4 on both curves: a^((q+1)/4) if a is a square.
template <class M, class A>
std::optional<Fp<M, A>> SquareRoot(const Fp<M, A>& a) {
  auto exponent = LimbsDiv(M::kValue, 4);  // (q - 3) / 4
  Fp<M, A> root = a.Pow(exponent) * a;
  if (root.Square() == a) return root;
  return std::nullopt;
}

// With n the root of the norm: c0 = sqrt((a0 +- n) / 2), c1 = a1 / (2 c0).
template <class Fq>
std::optional<Fq2<Fq>> SquareRoot(const Fq2<Fq>& a) {
  std::optional<Fq> n = SquareRoot(a.c0.Square() + a.c1.Square());
  if (!n) return std::nullopt;
  Fq half = Fq::FromU64(2).Inverse();
  for (const Fq& norm : {*n, -*n}) {
    std::optional<Fq> c0 = SquareRoot((a.c0 + norm) * half);
    if (!c0) continue;
    Fq2<Fq> root{*c0, a.c1 * c0->Double().Inverse()};
    if (root.Square() == a) return root;
  }
  return std::nullopt;
}

template <class M, class A>
void SetRandom(Fp<M, A>& x, std::mt19937_64& rng) {
  x = Fp<M, A>::FromRaw(RandomLimbs<M>(rng));
}
template <class Fq>
void SetRandom(Fq2<Fq>& x, std::mt19937_64& rng) {
  SetRandom(x.c0, rng);
  SetRandom(x.c1, rng);
}

template <class F>
Affine<F> RandomCurvePoint(const F& b, std::mt19937_64& rng) {
  for (;;) {
    F x;
    SetRandom(x, rng);
    std::optional<F> y = SquareRoot(x.Square() * x + b);
    if (y) return {x, *y};
  }
}

}  // namespace proofline
