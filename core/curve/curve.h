// The two curves: BN254 (alt_bn128, EIP-196/197) and BLS12-381 (draft-irtf-cfrg-pairing-friendly-curves), as traits that
// templates take: `template <class Curve>`, with Curve = Bn254<AdxArith>, Bls12381<PortableArith>, ...
//
//   BN254      E: y^2 = x^3 + 3      E': y^2 = x^3 + 3 / (9 + u)    seed x = 0x44e992b44a6909f1    G1 has no cofactor
//   BLS12-381  E: y^2 = x^3 + 4      E': y^2 = x^3 + 4 (1 + u)      seed z = -0xd201000000010000   both groups have cofactors
//
// "On the curve" is not "in the subgroup": points from outside need both. The fast subgroup tests use the endomorphisms and rely on the
// point being on its curve; infinity is in both groups and on both curves.
#pragma once

#include <array>
#include <span>

#include "core/curve/point.h"
#include "core/field/arith.h"
#include "core/field/fp.h"
#include "core/field/fq2.h"
#include "core/field/fq6.h"
#include "core/field/hex.h"
#include "core/field/limbs.h"
#include "core/field/moduli.h"

namespace proofline {

namespace curve_detail {

template <class F>
F FromHex(const std::array<uint64_t, F::kLimbs>& canonical) {
  return F::FromRaw(canonical).ToMont();
}

template <class F>
bool IsOnCurve(const Affine<F>& p, const F& b) {
  return p.IsInfinity() || p.y.Square() == p.x.Square() * p.x + b;
}

// [order] p = infinity, by double-and-add: the reference for the fast subgroup tests.
template <class F, size_t N>
bool IsKilledBy(const Affine<F>& p, const std::array<uint64_t, N>& order) {
  return ScalarMul(p, std::span<const uint64_t>(order)).IsInfinity();
}

// psi = untwist, Frobenius, twist on E': (x, y) -> (conj(x) cx, conj(y) cy). It acts on the subgroup of order r as multiplication by q.
template <class F2>
struct Psi {
  F2 cx, cy;
  Affine<F2> operator()(const Affine<F2>& p) const { return {p.x.Conjugate() * cx, p.y.Conjugate() * cy}; }
  Xyzz<F2> operator()(const Xyzz<F2>& p) const {
    return {p.x.Conjugate() * cx, p.y.Conjugate() * cy, p.zz.Conjugate(), p.zzz.Conjugate()};
  }
};

}  // namespace curve_detail

template <class ArithT>
struct Bn254 {
  using Arith = ArithT;
  using Fr = Fp<Bn254FrModulus, Arith>;
  using Fq = Fp<Bn254FqModulus, Arith>;
  using Fq2 = proofline::Fq2<Fq>;
  using Xi = Bn254Xi<Fq2>;  // the non-residue of the tower
  using G1 = Affine<Fq>;
  using G2 = Affine<Fq2>;
  static constexpr CurveId kId = CurveId::kBn254;
  // q, r and the trace are polynomials in x: q = 36x^4 + 36x^3 + 24x^2 + 6x + 1, r = q - 6x^2.
  static constexpr uint64_t kX = 0x44e992b44a6909f1;

  static Fq B1() { return Fq::FromU64(3); }
  static Fq2 B2() {
    static const Fq2 b2 = Xi::Value().Inverse().Scale(B1());
    return b2;
  }
  static G1 Generator1() { return {Fq::One(), Fq::FromU64(2)}; }
  static G2 Generator2();

  static bool IsOnCurve(const G1& p) { return curve_detail::IsOnCurve(p, B1()); }
  static bool IsOnCurve(const G2& p) { return curve_detail::IsOnCurve(p, B2()); }
  // Precondition: on the curve.
  static bool IsInSubgroup(const G1&) { return true; }
  static bool IsInSubgroup(const G2& p);
  template <class F>
  static bool IsInSubgroupNaive(const Affine<F>& p) {
    return curve_detail::IsKilledBy(p, Bn254FrModulus::kValue);
  }
  // D-type twist: cx = xi^((q-1)/3), cy = xi^((q-1)/2).
  static const curve_detail::Psi<Fq2>& PsiMap() {
    static const curve_detail::Psi<Fq2> psi{Xi::Value().Pow(LimbsDiv(LimbsSub(Bn254FqModulus::kValue, 1), 3)),
                                            Xi::Value().Pow(LimbsDiv(LimbsSub(Bn254FqModulus::kValue, 1), 2))};
    return psi;
  }
};

template <class ArithT>
struct Bls12381 {
  using Arith = ArithT;
  using Fr = Fp<Bls12381FrModulus, Arith>;
  using Fq = Fp<Bls12381FqModulus, Arith>;
  using Fq2 = proofline::Fq2<Fq>;
  using Xi = Bls12381Xi<Fq2>;  // the non-residue of the tower
  using G1 = Affine<Fq>;
  using G2 = Affine<Fq2>;
  static constexpr CurveId kId = CurveId::kBls12381;
  // z = -kAbsZ; r = z^4 - z^2 + 1, q = (z - 1)^2 r / 3 + z.
  static constexpr uint64_t kAbsZ = 0xd201000000010000;

  static Fq B1() { return Fq::FromU64(4); }
  static Fq2 B2() { return {B1(), B1()}; }
  static G1 Generator1();
  static G2 Generator2();

  static bool IsOnCurve(const G1& p) { return curve_detail::IsOnCurve(p, B1()); }
  static bool IsOnCurve(const G2& p) { return curve_detail::IsOnCurve(p, B2()); }
  // Precondition: on the curve.
  static bool IsInSubgroup(const G1& p);
  static bool IsInSubgroup(const G2& p);
  template <class F>
  static bool IsInSubgroupNaive(const Affine<F>& p) {
    return curve_detail::IsKilledBy(p, Bls12381FrModulus::kValue);
  }
  // A cube root of one in Fq, 2^((q-1)/3): (x, y) -> (beta x, y) is multiplication by -z^2 on G1.
  static Fq Beta() {
    return curve_detail::FromHex<Fq>(
        HexLimbs<6>("5f19672fdf76ce51ba69c6076a0f77eaddb3a93be6f89688de17d813620a00022e01fffffffefffe"));
  }
  // M-type twist: cx = xi^-((q-1)/3), cy = xi^-((q-1)/2).
  static const curve_detail::Psi<Fq2>& PsiMap() {
    static const curve_detail::Psi<Fq2> psi{Xi::Value().Pow(LimbsDiv(LimbsSub(Bls12381FqModulus::kValue, 1), 3)).Inverse(),
                                            Xi::Value().Pow(LimbsDiv(LimbsSub(Bls12381FqModulus::kValue, 1), 2)).Inverse()};
    return psi;
  }
};

template <class Arith>
typename Bn254<Arith>::G2 Bn254<Arith>::Generator2() {
  using curve_detail::FromHex;
  return {{FromHex<Fq>(HexLimbs<4>("1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed")),
           FromHex<Fq>(HexLimbs<4>("198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2"))},
          {FromHex<Fq>(HexLimbs<4>("12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa")),
           FromHex<Fq>(HexLimbs<4>("090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b"))}};
}

template <class Arith>
typename Bls12381<Arith>::G1 Bls12381<Arith>::Generator1() {
  using curve_detail::FromHex;
  return {FromHex<Fq>(HexLimbs<6>("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905"
                                  "a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb")),
          FromHex<Fq>(HexLimbs<6>("08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af6"
                                  "00db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1"))};
}

template <class Arith>
typename Bls12381<Arith>::G2 Bls12381<Arith>::Generator2() {
  using curve_detail::FromHex;
  return {{FromHex<Fq>(HexLimbs<6>("024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02"
                                   "b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8")),
           FromHex<Fq>(HexLimbs<6>("13e02b6052719f607dacd3a088274f65596bd0d09920b61a"
                                   "b5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"))},
          {FromHex<Fq>(HexLimbs<6>("0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a7"
                                   "6d429a695160d12c923ac9cc3baca289e193548608b82801")),
           FromHex<Fq>(HexLimbs<6>("0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af"
                                   "267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be"))}};
}

// [x + 1] P + psi([x] P) + psi^2([x] P) = psi^3([2x] P): El Housni, Guillevic, Piellard, "Co-factor clearing and subgroup membership
// testing on pairing-friendly curves" (AFRICACRYPT 2022), section 4.3.
template <class Arith>
bool Bn254<Arith>::IsInSubgroup(const G2& p) {
  const auto& psi = PsiMap();
  const std::array<uint64_t, 1> seed = {kX};
  Xyzz<Fq2> xp = ScalarMul(p, std::span<const uint64_t>(seed));
  Xyzz<Fq2> psi_xp = psi(xp);
  Xyzz<Fq2> psi2_xp = psi(psi_xp);
  Xyzz<Fq2> right = psi(psi2_xp).Double();
  Xyzz<Fq2> left = xp;
  left.AddMixed(p);
  left.Add(psi_xp);
  left.Add(psi2_xp);
  return left == right;
}

// phi(P) = -[z^2] P: Scott, "A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves" (2021), section 6.
template <class Arith>
bool Bls12381<Arith>::IsInSubgroup(const G1& p) {
  const std::array<uint64_t, 1> z = {kAbsZ};
  Xyzz<Fq> z2p = ScalarMul(ScalarMul(p, std::span<const uint64_t>(z)), std::span<const uint64_t>(z));
  return Xyzz<Fq>::FromAffine({p.x * Beta(), p.y}) == -z2p;
}

// psi(P) = [z] P: Scott, the same paper, section 4.
template <class Arith>
bool Bls12381<Arith>::IsInSubgroup(const G2& p) {
  const std::array<uint64_t, 1> z = {kAbsZ};
  return Xyzz<Fq2>::FromAffine(PsiMap()(p)) == -ScalarMul(p, std::span<const uint64_t>(z));
}

extern template struct Bn254<PortableArith>;
extern template struct Bn254<AdxArith>;
extern template struct Bls12381<PortableArith>;
extern template struct Bls12381<AdxArith>;

}  // namespace proofline
