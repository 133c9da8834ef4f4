// The scalar field of Filecoin's circuits, and what stands for its values where only the shape of a circuit is wanted.
#pragma once

#include <array>

#include "core/field/fp.h"
#include "core/groth16/types.h"

namespace proofline::filecoin {

// Montgomery form, see core/field.
using Fr = Fp<Bls12381FrModulus>;
inline constexpr int kFrBits = 255;

// A value that nobody asks for: all arithmetic on it is nothing.
struct NoScalar {
  friend NoScalar operator+(NoScalar, NoScalar) { return {}; }
  friend NoScalar operator-(NoScalar, NoScalar) { return {}; }
  friend NoScalar operator*(NoScalar, NoScalar) { return {}; }
  friend NoScalar operator*(NoScalar, const Fr&) { return {}; }
  friend NoScalar operator+(NoScalar, const Fr&) { return {}; }
  NoScalar& operator+=(NoScalar) { return *this; }
};

// 2^k mod r. Precondition: 0 <= k < 256.
const Fr& PowerOfTwo(int k);

// Values that fit a machine word, bytes, and back.
inline Fr FrOf(const FrCanonical& bytes) { return Fr::LoadCanon(bytes.data()); }
inline FrCanonical CanonicalOf(const Fr& x) {
  FrCanonical out;
  x.StoreCanon(out.data());
  return out;
}

}  // namespace proofline::filecoin
