// Groth16 (Groth, EUROCRYPT 2016) in the two forms that keys come in, snarkjs's and bellperson's: what a proof, a verification key, a
// proving key are, independent of any file. core/formats fills these types after its checks; nothing here reads a file.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/field/moduli.h"

namespace proofline {

// Affine point with canonical (not Montgomery) little-endian coordinates, each < q. BN254 uses the first 32 bytes of each
// coordinate, the rest is 0. The point at infinity has `infinity` set and all coordinates 0.
struct G1Point {
  std::array<uint8_t, 48> x{}, y{};
  bool infinity = false;
  bool operator==(const G1Point&) const = default;
};

// Coordinates c0 + c1 * u over Fq2 = Fq[u]/(u^2 + 1).
struct G2Point {
  std::array<uint8_t, 48> x0{}, x1{}, y0{}, y1{};
  bool infinity = false;
  bool operator==(const G2Point&) const = default;
};

struct Proof {
  CurveId curve = CurveId::kBn254;
  G1Point a;
  G2Point b;
  G1Point c;
  bool operator==(const Proof&) const = default;
};

// A value of Fr, canonical, little-endian, < r.
using FrCanonical = std::array<uint8_t, kFrBytes>;

struct VerificationKey {
  CurveId curve = CurveId::kBn254;
  G1Point alpha1;
  G2Point beta2, gamma2, delta2;
  std::vector<G1Point> ic;  // n_public + 1
  uint32_t n_public() const { return static_cast<uint32_t>(ic.size() - 1); }
};

// The ways of laying out keys. bellperson's are over BLS12-381 in practice; a prepared one is made from such a key and its circuit (prepare.h).
enum class KeyForm : uint8_t { kSnarkjs, kBellperson, kPrepared };

// The non-residue whose power is the domain's root of unity, see core/poly/domain.h: row i of a circuit is omega^i.
constexpr uint64_t DomainNonResidue(CurveId curve, KeyForm form) {
  if (curve == CurveId::kBn254) return Bn254FrModulus::kNonResidue;
  return form == KeyForm::kSnarkjs ? Bls12381FrModulus::kNonResidue : 7;
}

// The basis that a key's H query is for, which decides what its scalars are. With a, b, c the interpolants of the rows on the domain and
// Z = X^domain - 1:
enum class HBasis : uint8_t {
  kOddCoset,  // domain points L'_(2i+1)(tau) / delta: the values of a*b - c on the odd points of the domain of twice the size
  kMonomial,  // domain - 1 points tau^i Z(tau) / delta: the coefficients of (a*b - c) / Z
  kOddCosetProducts,  // domain points: the values of a*b alone on those odd points; what c comes to is in the C query
};

// A proving key where it lies (a mapped .zkey, or the image of a .params file). Every span is a packed array of one form: Montgomery
// coordinates, affine, infinity = all zero, no alignment promised. Lengths have been checked against the counts; the contents of the
// coefficients (matrix, constraint and signal indices) have been checked too; points may be unchecked, see CheckPoints in backend.h.
// The memory belongs to whoever made the view and outlives it.
struct ProvingKeyView {
  CurveId curve = CurveId::kBn254;
  uint32_t n_vars = 0;    // the constant 1 counts
  uint32_t n_public = 0;  // the constant 1 does not
  uint32_t log2_domain = 0;
  KeyForm form = KeyForm::kSnarkjs;
  uint32_t domain() const { return uint32_t{1} << log2_domain; }
  HBasis h_basis() const {
    return form == KeyForm::kSnarkjs ? HBasis::kOddCoset : form == KeyForm::kBellperson ? HBasis::kMonomial : HBasis::kOddCosetProducts;
  }
  uint32_t h_count() const { return h_basis() == HBasis::kMonomial ? domain() - 1 : domain(); }
  // The C query is for the last so many variables: the private ones, or all.
  uint32_t c_count() const { return form == KeyForm::kPrepared ? n_vars : n_vars - n_public - 1; }
  uint64_t domain_non_residue() const { return DomainNonResidue(curve, form); }

  ByteSpan alpha1, beta1, delta1;  // one G1 each
  ByteSpan beta2, gamma2, delta2;  // one G2 each
  ByteSpan ic;                     // n_public + 1 G1
  ByteSpan a, b1;                  // G1, one for each variable that a_density, b_density name
  ByteSpan b2;                     // G2, as b1
  ByteSpan c;                      // c_count() G1
  ByteSpan h;                      // h_count() G1
  // Which variables have a point in A, and in B1 and B2: bit i % 64 of the little-endian 64-bit word i / 64, for n_vars bits, the rest
  // 0. As many bits as points are set. Empty: all of them have one.
  ByteSpan a_density, b_density;
  // Records of 12 + 32 bytes: u32 matrix (0 = A, 1 = B), u32 constraint, u32 signal, value * 2^512 mod r. Empty for a key that does
  // not hold its circuit (bellperson's), or that was read without: the rows then come from elsewhere.
  ByteSpan coefficients;
  static constexpr size_t kCoefficientBytes = 12 + kFrBytes;
  size_t coefficient_count() const { return coefficients.size() / kCoefficientBytes; }
};

}  // namespace proofline
