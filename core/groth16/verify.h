// Groth16 verification (Groth, EUROCRYPT 2016, section 3.2) by one product of pairings:
//   e(-A, B) e(alpha, beta) e(IC_0 + sum public_i IC_(i+1), gamma) e(C, delta) = 1
// Four Miller loops, one final exponentiation. The pairing e(alpha, beta) is computed here; a value for it in a file is never used.
//
// Nothing is trusted: every coordinate is compared with q, every point checked for its curve and its subgroup, every public value
// compared with r, before anything is computed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/curve/msm.h"
#include "core/curve/pairing.h"
#include "core/groth16/convert.h"
#include "core/groth16/first_bad.h"

namespace proofline {

template <class Curve>
struct LoadedVerificationKey {
  typename Curve::G1 alpha1;
  typename Curve::G2 beta2, gamma2, delta2;
  std::vector<typename Curve::G1> ic;
};

namespace verify_detail {

inline Status BadPoint(std::string_view what, PointFault fault) {
  return Status(ErrorCode::kInvalidFile, std::string(what) + " " + std::string(PointFaultText(fault)));
}

template <class Curve, class Plain, class Point>
Status LoadNonZero(std::string_view what, const Plain& in, Point* out) {
  PointFault fault = LoadPoint<Curve>(in, out);
  if (fault == PointFault::kNone && out->IsInfinity()) fault = PointFault::kInfinity;
  return fault == PointFault::kNone ? OkStatus() : BadPoint(what, fault);
}

inline Status CurveMismatch(std::string_view what, CurveId found, CurveId expected) {
  return Status(ErrorCode::kMismatch, std::string(what) + " is for " + std::string(CurveJsonName(found)) + ", expected " +
                                          std::string(CurveJsonName(expected)));
}

}  // namespace verify_detail

// kInvalidFile naming the point that is at fault. alpha, beta, gamma and delta must not be infinity; points of IC may be.
template <class Curve>
Status LoadVerificationKey(const VerificationKey& vk, LoadedVerificationKey<Curve>* out) {
  using verify_detail::LoadNonZero;
  if (vk.curve != Curve::kId) return verify_detail::CurveMismatch("the verification key", vk.curve, Curve::kId);
  if (vk.ic.empty()) return Status(ErrorCode::kInvalidFile, "IC has no points, expected nPublic + 1");
  PL_RETURN_IF_ERROR(LoadNonZero<Curve>("vk_alpha_1", vk.alpha1, &out->alpha1));
  PL_RETURN_IF_ERROR(LoadNonZero<Curve>("vk_beta_2", vk.beta2, &out->beta2));
  PL_RETURN_IF_ERROR(LoadNonZero<Curve>("vk_gamma_2", vk.gamma2, &out->gamma2));
  PL_RETURN_IF_ERROR(LoadNonZero<Curve>("vk_delta_2", vk.delta2, &out->delta2));
  out->ic.resize(vk.ic.size());
  size_t bad = FirstBad(vk.ic.size(), 64, [&](size_t i) { return LoadPoint<Curve>(vk.ic[i], &out->ic[i]) == PointFault::kNone; });
  if (bad == vk.ic.size()) return OkStatus();
  return verify_detail::BadPoint("IC[" + std::to_string(bad) + "]", LoadPoint<Curve>(vk.ic[bad], &out->ic[bad]));
}

// IC_0 + sum public_i IC_(i+1). `publics` are < r and as many as ic.size() - 1.
template <class Curve>
typename Curve::G1 PublicPoint(const std::vector<typename Curve::G1>& ic, std::span<const FrCanonical> publics) {
  using G1 = typename Curve::G1;
  using Fq = typename Curve::Fq;
  constexpr size_t kMsmFrom = 8;  // below that, double-and-add is faster
  Xyzz<Fq> sum = Xyzz<Fq>::Infinity();
  if (publics.size() < kMsmFrom) {
    for (size_t i = 0; i < publics.size(); ++i) {
      auto scalar = LoadLe<std::array<uint64_t, 4>>(publics[i].data());
      sum.Add(ScalarMul(ic[i + 1], std::span<const uint64_t>(scalar)));
    }
  } else {
    std::vector<uint8_t> points(publics.size() * G1::kBytes);
    for (size_t i = 0; i < publics.size(); ++i) ic[i + 1].Store(&points[i * G1::kBytes]);
    ByteSpan scalars(publics[0].data(), publics.size() * kFrBytes);
    sum = Msm<typename Curve::Fr, Fq>(points, scalars);
  }
  sum.AddMixed(ic[0]);
  return sum.ToAffine();
}

template <class Curve>
struct LoadedProof {
  typename Curve::G1 a, c;
  typename Curve::G2 b;
};

template <class Curve>
Status LoadProof(const Proof& proof, LoadedProof<Curve>* out) {
  if (proof.curve != Curve::kId) return verify_detail::CurveMismatch("the proof", proof.curve, Curve::kId);
  PL_RETURN_IF_ERROR(verify_detail::LoadNonZero<Curve>("pi_a", proof.a, &out->a));
  PL_RETURN_IF_ERROR(verify_detail::LoadNonZero<Curve>("pi_b", proof.b, &out->b));
  return verify_detail::LoadNonZero<Curve>("pi_c", proof.c, &out->c);
}

// As many public values as the key is for, each < r.
template <class Curve>
Status CheckPublics(const VerificationKey& vk, std::span<const FrCanonical> publics) {
  if (publics.size() != vk.n_public())
    return Status(ErrorCode::kMismatch, std::to_string(publics.size()) + " public values, the verification key is for " +
                                            std::to_string(vk.n_public()));
  for (size_t i = 0; i < publics.size(); ++i)
    if (!Curve::Fr::IsReduced(publics[i].data()))
      return Status(ErrorCode::kInvalidFile, "public value " + std::to_string(i) + " is not below the group order r");
  return OkStatus();
}

// Backend::Verify's contract.
template <class Curve>
Status VerifyProof(const VerificationKey& vk, std::span<const FrCanonical> publics, const Proof& proof) {
  LoadedVerificationKey<Curve> key;
  PL_RETURN_IF_ERROR(LoadVerificationKey<Curve>(vk, &key));
  LoadedProof<Curve> loaded;
  if (proof.curve != Curve::kId) return verify_detail::CurveMismatch("the proof", proof.curve, Curve::kId);
  PL_RETURN_IF_ERROR(CheckPublics<Curve>(vk, publics));
  PL_RETURN_IF_ERROR(LoadProof<Curve>(proof, &loaded));
  const G1G2Pair<Curve> pairs[] = {{-loaded.a, loaded.b},
                                   {key.alpha1, key.beta2},
                                   {PublicPoint<Curve>(key.ic, publics), key.gamma2},
                                   {loaded.c, key.delta2}};
  if (PairingProductIsOne<Curve>(pairs)) return OkStatus();
  return Status(ErrorCode::kInvalidProof, "the proof is not valid for these public values and this verification key");
}

// Backend::AlphaBeta's contract. Zeros if a point of the key is bad.
template <class Curve>
std::array<std::array<uint8_t, 48>, 12> ComputeAlphaBeta(const VerificationKey& vk) {
  std::array<std::array<uint8_t, 48>, 12> out{};
  typename Curve::G1 alpha;
  typename Curve::G2 beta;
  if (LoadPoint<Curve>(vk.alpha1, &alpha) != PointFault::kNone || LoadPoint<Curve>(vk.beta2, &beta) != PointFault::kNone) return out;
  const Gt<Curve> value = Pairing<Curve>(alpha, beta);
  size_t i = 0;
  for (const auto* half : {&value.c0, &value.c1})
    for (const auto* x : {&half->c0, &half->c1, &half->c2})
      for (const auto* coordinate : {&x->c0, &x->c1}) coordinate->StoreCanon(out[i++].data());
  return out;
}

}  // namespace proofline
