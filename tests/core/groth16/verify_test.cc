// Verification: proofs that snarkjs made, proofs that were tampered with, and everything that must be refused.
#include <gtest/gtest.h>

#include <functional>

#include "core/base/file.h"
#include "core/curve/curve.h"
#include "core/formats/proof_json.h"
#include "core/formats/public_json.h"
#include "core/formats/vkey_json.h"
#include "core/formats/wtns.h"
#include "core/formats/zkey.h"
#include "core/groth16/backend.h"
#include "core/groth16/convert.h"

namespace proofline {
namespace {

struct Case {
  CurveId curve;
  std::string name;
  ArithPath path;
};

std::string Text(const std::string& path) {
  auto file = MappedFile::Open(path);
  EXPECT_TRUE(file.ok()) << path;
  return std::string(file->bytes().begin(), file->bytes().end());
}

class SampleTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& c = GetParam();
    backend_ = &GetBackend(c.curve, c.path);
    if (backend_->path() != c.path) GTEST_SKIP() << "this processor has no ADX";
    base_ = std::string(PROOFLINE_TEST_DATA "/samples/") + std::string(CurveJsonName(c.curve)) + "/" + c.name;
    vk_ = *VerificationKeyFromJson(Text(base_ + ".vk.json"), "vk");
    proof_ = *ProofFromJson(Text(base_ + ".proof.json"), "proof", c.curve);
    publics_ = *PublicFromJson(Text(base_ + ".public.json"), "public", c.curve);
  }
  Status Verify() const { return backend_->Verify(vk_, publics_, proof_); }

  const Backend* backend_ = nullptr;
  std::string base_;
  VerificationKey vk_;
  Proof proof_;
  std::vector<FrCanonical> publics_;
};

std::vector<Case> AllCases() {
  std::vector<Case> all;
  for (CurveId curve : {CurveId::kBn254, CurveId::kBls12381})
    for (const char* name : {"multiplier", "nopublic", "manypublic"})
      for (ArithPath path : {ArithPath::kPortable, ArithPath::kAdx}) all.push_back({curve, name, path});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Samples, SampleTest, ::testing::ValuesIn(AllCases()), [](const auto& test) {
  return std::string(CurveJsonName(test.param.curve)) + "_" + test.param.name +
         (test.param.path == ArithPath::kAdx ? "_adx" : "_portable");
});

TEST_P(SampleTest, SnarkjsProofVerifies) {
  Status status = Verify();
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(backend_->CheckVerificationKey(vk_).ok());
}

TEST_P(SampleTest, AlphaBetaIsSnarkjsValue) {
  // The writer prints the whole file; the only part of it that this code computes is vk_alphabeta_12.
  EXPECT_EQ(VerificationKeyToJson(vk_, backend_->AlphaBeta(vk_)), Text(base_ + ".vk.json"));
}

TEST_P(SampleTest, VerificationKeyIsInsideTheProvingKey) {
  auto file = MappedFile::Open(base_ + ".zkey");
  ASSERT_TRUE(file.ok());
  auto key = ReadZkey(file->bytes(), "key");
  ASSERT_TRUE(key.ok());
  auto vk = backend_->ExtractVerificationKey(key->view);
  ASSERT_TRUE(vk.ok());
  EXPECT_EQ(VerificationKeyToJson(*vk, backend_->AlphaBeta(*vk)), Text(base_ + ".vk.json"));
  EXPECT_TRUE(backend_->CheckPoints(key->view, Backend::PointCheck::kSubgroup).ok());
}

TEST_P(SampleTest, OurProofForSnarkjsKeyVerifies) {
  auto key_file = MappedFile::Open(base_ + ".zkey"), witness_file = MappedFile::Open(base_ + ".wtns");
  auto key = ReadZkey(key_file->bytes(), "key");
  auto witness = ReadWtns(witness_file->bytes(), "witness");
  ASSERT_TRUE(key.ok() && witness.ok());
  ASSERT_TRUE(backend_->CheckWitness(witness->values).ok());
  std::vector<uint8_t> a(key->view.domain() * kFrBytes), b(a.size());
  ASSERT_TRUE(backend_->ComputeRows(key->view, witness->values, a, b).ok());
  auto blinding = backend_->RandomBlinding();
  auto proof = backend_->Prove(key->view, witness->values, a, b, *blinding, {});
  ASSERT_TRUE(proof.ok());
  EXPECT_TRUE(backend_->Verify(vk_, publics_, *proof).ok());
}

TEST_P(SampleTest, TamperedProofsAreInvalid) {
  Proof good = proof_;
  // Another point of the right group in each place.
  proof_.a = vk_.alpha1;
  EXPECT_EQ(Verify().code(), ErrorCode::kInvalidProof);
  proof_ = good;
  proof_.c = good.a;
  EXPECT_EQ(Verify().code(), ErrorCode::kInvalidProof);
  proof_ = good;
  proof_.b = vk_.delta2;
  EXPECT_EQ(Verify().code(), ErrorCode::kInvalidProof);
  proof_ = good;
  std::swap(proof_.a, proof_.c);
  EXPECT_EQ(Verify().code(), ErrorCode::kInvalidProof);
}

TEST_P(SampleTest, OtherPublicValuesAreInvalid) {
  for (size_t i = 0; i < publics_.size(); ++i) {
    publics_[i][0] ^= 1;
    EXPECT_EQ(Verify().code(), ErrorCode::kInvalidProof) << i;
    publics_[i][0] ^= 1;
  }
}

TEST_P(SampleTest, PublicValuesThatAreNotCanonicalOrTooManyAreRefused) {
  std::vector<FrCanonical> good = publics_;
  publics_.push_back({});
  EXPECT_EQ(Verify().code(), ErrorCode::kMismatch);
  if (good.empty()) return;
  publics_.resize(good.size() - 1);
  EXPECT_EQ(Verify().code(), ErrorCode::kMismatch);
  // v + r: the same proof would pass a verifier that reduces.
  publics_ = good;
  const auto r = GetParam().curve == CurveId::kBn254 ? Bn254FrModulus::kValue : Bls12381FrModulus::kValue;
  auto v = LoadLe<std::array<uint64_t, 4>>(publics_[0].data());
  uint64_t carry = 0;
  for (int i = 0; i < 4; ++i) {
    uint128 sum = (uint128)v[i] + r[i] + carry;
    v[i] = (uint64_t)sum;
    carry = (uint64_t)(sum >> 64);
  }
  ASSERT_EQ(carry, 0u);
  StoreLe(publics_[0].data(), v);
  Status status = Verify();
  EXPECT_EQ(status.code(), ErrorCode::kInvalidFile);
  EXPECT_NE(status.error().fact.find("public value 0"), std::string::npos);
}

// x + q in place of x, a point off its curve, infinity, infinity with coordinates.
TEST_P(SampleTest, BadPointsAreRefusedByName) {
  const size_t bytes = FqBytes(GetParam().curve);
  std::array<uint64_t, 6> q{};
  if (GetParam().curve == CurveId::kBn254) {
    std::copy(Bn254FqModulus::kValue.begin(), Bn254FqModulus::kValue.end(), q.begin());
  } else {
    q = Bls12381FqModulus::kValue;
  }
  auto add_q = [&](std::array<uint8_t, 48>& x) {
    uint64_t carry = 0;
    for (size_t i = 0; i < bytes / 8; ++i) {
      uint128 sum = (uint128)LoadLe<uint64_t>(&x[8 * i]) + q[i] + carry;
      StoreLe(&x[8 * i], (uint64_t)sum);
      carry = (uint64_t)(sum >> 64);
    }
  };
  auto expect = [&](std::string_view name, std::string_view text) {
    Status status = Verify();
    EXPECT_EQ(status.code(), ErrorCode::kInvalidFile) << name;
    if (status.ok()) return;
    EXPECT_NE(status.error().fact.find(name), std::string::npos) << status.ToString();
    EXPECT_NE(status.error().fact.find(text), std::string::npos) << status.ToString();
  };
  auto g1 = [&](std::string_view name, G1Point& point) {
    const G1Point good = point;
    add_q(point.y);
    expect(name, "below the field order");
    point = good;
    point.x[0] ^= 1;
    expect(name, "not on the curve");
    point = G1Point{};
    expect(name, "not on the curve");  // (0, 0)
    point.infinity = true;
    if (!name.starts_with("IC")) expect(name, "infinity");
    point = good;
    point.infinity = true;
    expect(name, "coordinate");
    point = good;
    if (bytes < 48) {
      point.x[47] = 1;
      expect(name, "below the field order");
      point = good;
    }
  };
  auto g2 = [&](std::string_view name, G2Point& point) {
    const G2Point good = point;
    for (auto coordinate : {&G2Point::x0, &G2Point::x1, &G2Point::y0, &G2Point::y1}) {
      add_q(point.*coordinate);
      expect(name, "below the field order");
      point = good;
      (point.*coordinate)[0] ^= 1;
      expect(name, "not on the curve");
      point = good;
    }
    point = G2Point{};
    point.infinity = true;
    expect(name, "infinity");
    point = good;
  };
  g1("pi_a", proof_.a);
  g1("pi_c", proof_.c);
  g2("pi_b", proof_.b);
  g1("vk_alpha_1", vk_.alpha1);
  g2("vk_beta_2", vk_.beta2);
  g2("vk_gamma_2", vk_.gamma2);
  g2("vk_delta_2", vk_.delta2);
  g1("IC[0]", vk_.ic[0]);
  g1("IC[" + std::to_string(vk_.ic.size() - 1) + "]", vk_.ic.back());
  EXPECT_TRUE(Verify().ok());
}

template <class M, class A>
bool SquareRoot(const Fp<M, A>& a, Fp<M, A>* root) {  // q = 3 mod 4 on both curves
  auto e = LimbsDiv(M::kValue, 4);
  e[0] += 1;
  *root = a.Pow(e);
  return root->Square() == a;
}

// (c0 + c1 u)^2 = a with norms: c0^2 = (a0 +- sqrt(a0^2 + a1^2)) / 2.
template <class Fq>
bool SquareRoot(const Fq2<Fq>& a, Fq2<Fq>* root) {
  Fq norm, c0;
  if (!SquareRoot(a.c0.Square() + a.c1.Square(), &norm)) return false;
  const Fq half = Fq::FromU64(2).Inverse();
  if (!SquareRoot((a.c0 + norm) * half, &c0) && !SquareRoot((a.c0 - norm) * half, &c0)) return false;
  if (c0.IsZero()) return false;
  *root = {c0, a.c1 * half * c0.Inverse()};
  return root->Square() == a;
}

// The first point of the curve, by x = 1, 2, ..., that is outside the subgroup.
template <class Curve, class Point>
Point OutsideSubgroup(const typename Point::Field& b) {
  using F = typename Point::Field;
  for (uint64_t x0 = 1;; ++x0) {
    F x = F::FromU64(x0), y2 = x.Square() * x + b;
    F y;
    if (!SquareRoot(y2, &y)) continue;
    Point p{x, y};
    if (Curve::IsOnCurve(p) && !Curve::template IsInSubgroupNaive<F>(p)) return p;
  }
}

TEST(Verify, PointsOutsideTheSubgroupAreRefused) {
  for (const Case& c : AllCases()) {
    if (c.name != "multiplier" || c.path != ArithPath::kPortable) continue;
    const Backend& backend = GetBackend(c.curve, c.path);
    const std::string base = std::string(PROOFLINE_TEST_DATA "/samples/") + std::string(CurveJsonName(c.curve)) + "/" + c.name;
    VerificationKey vk = *VerificationKeyFromJson(Text(base + ".vk.json"), "vk");
    Proof proof = *ProofFromJson(Text(base + ".proof.json"), "proof", c.curve);
    auto publics = *PublicFromJson(Text(base + ".public.json"), "public", c.curve);
    auto expect = [&](const Proof& p, const VerificationKey& k, std::string_view name) {
      Status status = backend.Verify(k, publics, p);
      ASSERT_EQ(status.code(), ErrorCode::kInvalidFile);
      EXPECT_NE(status.error().fact.find(name), std::string::npos) << status.ToString();
      EXPECT_NE(status.error().fact.find("subgroup"), std::string::npos) << status.ToString();
    };
    using Bn = Bn254<PortableArith>;
    using Bls = Bls12381<PortableArith>;
    const G2Point outside2 = c.curve == CurveId::kBn254 ? ToPlain(OutsideSubgroup<Bn, Bn::G2>(Bn::B2()))
                                                        : ToPlain(OutsideSubgroup<Bls, Bls::G2>(Bls::B2()));
    Proof bad = proof;
    bad.b = outside2;
    expect(bad, vk, "pi_b");
    VerificationKey bad_key = vk;
    bad_key.delta2 = outside2;
    expect(proof, bad_key, "vk_delta_2");
    if (c.curve == CurveId::kBn254) continue;  // its G1 is the whole curve
    const G1Point outside1 = ToPlain(OutsideSubgroup<Bls, Bls::G1>(Bls::B1()));
    bad = proof;
    bad.a = outside1;
    expect(bad, vk, "pi_a");
    bad_key = vk;
    bad_key.ic[1] = outside1;
    expect(proof, bad_key, "IC[1]");
  }
}

TEST(Verify, CurvesMustAgree) {
  const std::string data = PROOFLINE_TEST_DATA "/samples/";
  VerificationKey vk = *VerificationKeyFromJson(Text(data + "bn128/multiplier.vk.json"), "vk");
  Proof proof = *ProofFromJson(Text(data + "bls12381/multiplier.proof.json"), "proof", CurveId::kBls12381);
  std::vector<FrCanonical> publics(1);
  EXPECT_EQ(GetBackend(CurveId::kBn254).Verify(vk, publics, proof).code(), ErrorCode::kMismatch);
  EXPECT_EQ(GetBackend(CurveId::kBls12381).Verify(vk, publics, proof).code(), ErrorCode::kMismatch);
  vk.ic.clear();
  EXPECT_EQ(GetBackend(CurveId::kBn254).CheckVerificationKey(vk).code(), ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace proofline
