// The optimal ate pairing of both curves (Vercauteren 2010), as products over several pairs.
//
// Points must be on their curves and in their subgroups (IsOnCurve, IsInSubgroup); a point that is not gives a meaningless value, but no
// crash. A pair with infinity on either side contributes 1.
//
// Miller loops run over |z| on BLS12-381 and over 6x + 2 with two Frobenius lines on BN254. The twisted points stay affine: all pairs of
// a step share one inversion. Lines are scaled by factors that the final exponentiation maps to 1.
//
// The final exponentiations raise to a fixed multiple of (q^12 - 1)/r that is prime to r:
//   BN254      2x (6x^2 + 3x + 1) times (Fuentes-Castaneda, Knapp, Rodriguez-Henriquez 2011)
//   BLS12-381  3 times (Hayashida, Hayasaka, Teruya 2020)
// snarkjs 0.7 uses the same multiples, so Pairing(alpha, beta) is what it prints as vk_alphabeta_12 (a test holds its values).
#pragma once

#include <span>

#include "core/curve/curve.h"
#include "core/field/fq12.h"

namespace proofline {

template <class Curve>
struct G1G2Pair {
  typename Curve::G1 p;
  typename Curve::G2 q;
};

template <class Curve>
using Gt = Fq12<typename Curve::Xi>;

// Allocates a few hundred bytes a pair.
template <class Curve>
Gt<Curve> MultiMillerLoop(std::span<const G1G2Pair<Curve>> pairs);

// Precondition: f != 0.
template <class Curve>
Gt<Curve> FinalExponentiation(const Gt<Curve>& f);

// True if the product of e(p, q) over all pairs is 1; an empty product is.
template <class Curve>
bool PairingProductIsOne(std::span<const G1G2Pair<Curve>> pairs);

// e(p, q), with the exponent above.
template <class Curve>
Gt<Curve> Pairing(const typename Curve::G1& p, const typename Curve::G2& q);

}  // namespace proofline
