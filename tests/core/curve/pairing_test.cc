// The pairing: snarkjs's printed values and proofs, EIP-197 vectors, GT's generator in zkcrypto/bls12_381, the exponent against its
// definition, bilinearity, infinity.
#include "core/curve/pairing.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/core/curve/sample_points.h"
#include "tests/core/field/hostile.h"

namespace proofline {
namespace {

template <class Curve>
class PairingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::is_same_v<typename Curve::Arith, PortableArith> && !CpuHasAdx()) GTEST_SKIP() << "no ADX on this processor";
  }
};
using Curves = testing::Types<Bn254<PortableArith>, Bls12381<PortableArith>, Bn254<AdxArith>, Bls12381<AdxArith>>;
TYPED_TEST_SUITE(PairingTest, Curves);

template <class Curve>
bool ProductIsOne(const std::vector<G1G2Pair<Curve>>& pairs) {
  return PairingProductIsOne<Curve>(pairs);
}

// vk_alphabeta_12 of keys made by snarkjs 0.7.6.
TYPED_TEST(PairingTest, SnarkjsAlphaBeta) {
  for (const char* name : {"multiplier", "nopublic", "manypublic"}) {
    nlohmann::json vk = ReadSample(TypeParam::kId, std::string(name) + ".vk.json");
    auto half = [](const nlohmann::json& j) {
      return Fq6<typename TypeParam::Xi>{SampleFq2<TypeParam>(j[0]), SampleFq2<TypeParam>(j[1]), SampleFq2<TypeParam>(j[2])};
    };
    Gt<TypeParam> want{half(vk["vk_alphabeta_12"][0]), half(vk["vk_alphabeta_12"][1])};
    Gt<TypeParam> got =
        Pairing<TypeParam>(SampleG1<TypeParam>(vk["vk_alpha_1"]), SampleG2<TypeParam>(vk["vk_beta_2"]));
    EXPECT_TRUE(got == want) << name;
  }
}

// Groth16's equation e(A, B) = e(alpha, beta) e(IC(publics), gamma) e(C, delta) over proofs that snarkjs made and accepted.
TYPED_TEST(PairingTest, SnarkjsProofs) {
  using Fq = typename TypeParam::Fq;
  using Fr = typename TypeParam::Fr;
  for (const char* name : {"multiplier", "nopublic", "manypublic"}) {
    nlohmann::json vk = ReadSample(TypeParam::kId, std::string(name) + ".vk.json");
    nlohmann::json proof = ReadSample(TypeParam::kId, std::string(name) + ".proof.json");
    nlohmann::json publics = ReadSample(TypeParam::kId, std::string(name) + ".public.json");
    Xyzz<Fq> ic = Xyzz<Fq>::FromAffine(SampleG1<TypeParam>(vk["IC"][0]));
    for (size_t i = 0; i < publics.size(); ++i) {
      ic.Add(ScalarMulFr(SampleG1<TypeParam>(vk["IC"][i + 1]), SampleField<Fr>(publics[i])));
    }
    std::vector<G1G2Pair<TypeParam>> pairs = {
        {-SampleG1<TypeParam>(proof["pi_a"]), SampleG2<TypeParam>(proof["pi_b"])},
        {SampleG1<TypeParam>(vk["vk_alpha_1"]), SampleG2<TypeParam>(vk["vk_beta_2"])},
        {ic.ToAffine(), SampleG2<TypeParam>(vk["vk_gamma_2"])},
        {SampleG1<TypeParam>(proof["pi_c"]), SampleG2<TypeParam>(vk["vk_delta_2"])}};
    EXPECT_TRUE(ProductIsOne<TypeParam>(pairs)) << name;
    ic.AddMixed(TypeParam::Generator1());
    pairs[2].p = ic.ToAffine();
    EXPECT_FALSE(ProductIsOne<TypeParam>(pairs)) << name;
  }
}

TYPED_TEST(PairingTest, Bilinear) {
  using Fr = typename TypeParam::Fr;
  uint64_t seed = FreshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 rng(seed);
  std::vector<Fr> scalars = HostileElements<Fr>(rng, 3);
  auto p = TypeParam::Generator1();
  auto q = TypeParam::Generator2();
  Gt<TypeParam> base = Pairing<TypeParam>(p, q);
  for (size_t i = 0; i < scalars.size(); i += 23) {
    Fr a = scalars[i], b = scalars[scalars.size() - 1 - i];
    Gt<TypeParam> both = Pairing<TypeParam>(ScalarMulFr(p, a).ToAffine(), ScalarMulFr(q, b).ToAffine());
    Fr product = (a * b).ToCanon();
    EXPECT_TRUE(both == base.Pow(product.limbs));
    EXPECT_TRUE(ProductIsOne<TypeParam>({{ScalarMulFr(p, a).ToAffine(), ScalarMulFr(q, b).ToAffine()},
                                         {ScalarMulFr(p, -(a * b)).ToAffine(), q}}));
  }
}

TYPED_TEST(PairingTest, OrderAndNonDegeneracy) {
  auto base = Pairing<TypeParam>(TypeParam::Generator1(), TypeParam::Generator2());
  EXPECT_FALSE(base.IsOne());
  EXPECT_TRUE(base.Pow(TypeParam::Fr::Modulus::kValue).IsOne());
  EXPECT_TRUE((base * base.Conjugate()).IsOne());
}

TYPED_TEST(PairingTest, InfinityOnEitherSide) {
  using G1 = typename TypeParam::G1;
  using G2 = typename TypeParam::G2;
  auto p = TypeParam::Generator1();
  auto q = TypeParam::Generator2();
  EXPECT_TRUE(ProductIsOne<TypeParam>({}));
  EXPECT_TRUE(ProductIsOne<TypeParam>({{G1::Infinity(), q}}));
  EXPECT_TRUE(ProductIsOne<TypeParam>({{p, G2::Infinity()}}));
  EXPECT_TRUE(ProductIsOne<TypeParam>({{G1::Infinity(), G2::Infinity()}}));
  EXPECT_FALSE(ProductIsOne<TypeParam>({{p, q}}));
  EXPECT_FALSE(ProductIsOne<TypeParam>({{p, q}, {G1::Infinity(), q}}));
  EXPECT_TRUE(ProductIsOne<TypeParam>({{p, q}, {p, G2::Infinity()}, {-p, q}}));
  EXPECT_TRUE(ProductIsOne<TypeParam>({{p, q}, {p, -q}}));
  EXPECT_FALSE(ProductIsOne<TypeParam>({{p, q}, {p, q}}));
}

// Points outside the groups give nonsense, but nothing breaks (a doubling or a chord may be vertical).
TEST(Bls12381Pairing, PointsOfSmallOrderDoNotBreakTheLoop) {
  using Curve = Bls12381<PortableArith>;
  Curve::G1 order3{Curve::Fq::Zero(), Curve::Fq::FromU64(2)};
  (void)ProductIsOne<Curve>({{order3, Curve::Generator2()}});
  Curve::G2 off{{Curve::Fq::Zero(), Curve::Fq::Zero()}, {Curve::Fq::One(), Curve::Fq::Zero()}};
  (void)ProductIsOne<Curve>({{Curve::Generator1(), off}, {order3, off}});
}

template <class XiT>
Fq12<XiT> RandomFq12(std::mt19937_64& rng) {
  Fq12<XiT> f;
  using Fq = typename XiT::Fq2::Fq;
  for (auto* six : {&f.c0, &f.c1}) {
    for (auto* two : {&six->c0, &six->c1, &six->c2}) {
      two->c0 = Fq::FromRaw(RandomLimbs<typename Fq::Modulus>(rng));
      two->c1 = Fq::FromRaw(RandomLimbs<typename Fq::Modulus>(rng));
    }
  }
  return f;
}

// The chain against plain exponentiation by k (q^4 - q^2 + 1) / r, after the same easy part.
template <class Curve, size_t N>
void CheckHardPart(const std::array<uint64_t, N>& exponent) {
  std::mt19937_64 rng(17);
  Gt<Curve> f = RandomFq12<typename Curve::Xi>(rng);
  Gt<Curve> easy = f.Conjugate() * f.Inverse();
  easy = easy.Frobenius().Frobenius() * easy;
  EXPECT_TRUE(FinalExponentiation<Curve>(f) == easy.Pow(exponent));
}

TEST(FinalExponentiation, EqualsItsDefinition) {
  // 2x (6x^2 + 3x + 1) (q^4 - q^2 + 1) / r
  CheckHardPart<Bn254<PortableArith>>(HexLimbs<15>(
      "679dd974c687871891045f68d1576329259e9712ca7b71e86518527b5e403626473fbcd1c3ec1e621d9bfed77c2ad0d147cb7d3a5203dc"
      "0c974024a316619f2566c550aeb7e0e25b35eb719e58db4b1be245888511708565c5644e949b6a900cf0888c7a0ff6cf114dc0ec2cab7f"
      "fdcaa4152366144ab4"));
  // 3 (q^4 - q^2 + 1) / r
  CheckHardPart<Bls12381<PortableArith>>(HexLimbs<20>(
      "2e3941b88177054237aa494c159cdc7b69b9acc2cc45eabcf13296f7a83fce8d69012b6d183f47e3ae662e47a24ea0b0f5836ba82b62de"
      "877c5e22f26394116163cbf00bf566e46c9ae9625394f5946a6a2b0ab1c4752637d47f639b68a630b415c7da454d48638c72178bc76a79"
      "1c6574220c23e5b6cc8a65dbc1cc35fe5a554e727d129be6a3b116bba59a18123aefcb3800a61a66d5af444bdcaaab2f6b"));
}

// Two G1-G2 pairs as EIP-197 encodes them: x, y, then x1, x0, y1, y0.
struct Eip197Input {
  std::array<uint64_t, 4> word[12];
};
std::vector<G1G2Pair<Bn254<PortableArith>>> FromEip197(const Eip197Input& in) {
  using Fq = Bn254<PortableArith>::Fq;
  std::vector<G1G2Pair<Bn254<PortableArith>>> pairs;
  for (int i = 0; i < 12; i += 6) {
    auto at = [&](int k) { return Fq::FromRaw(in.word[i + k]).ToMont(); };
    pairs.push_back({{at(0), at(1)}, {{at(3), at(2)}, {at(5), at(4)}}});
  }
  return pairs;
}

// go-ethereum's vectors "jeff1" (true) and "jeff6" (false: another point in the second pair).
TEST(Bn254Pairing, Eip197Vectors) {
  using Curve = Bn254<PortableArith>;
  Eip197Input jeff1 = {{HexLimbs<4>("1c76476f4def4bb94541d57ebba1193381ffa7aa76ada664dd31c16024c43f59"),
                        HexLimbs<4>("3034dd2920f673e204fee2811c678745fc819b55d3e9d294e45c9b03a76aef41"),
                        HexLimbs<4>("209dd15ebff5d46c4bd888e51a93cf99a7329636c63514396b4a452003a35bf7"),
                        HexLimbs<4>("04bf11ca01483bfa8b34b43561848d28905960114c8ac04049af4b6315a41678"),
                        HexLimbs<4>("2bb8324af6cfc93537a2ad1a445cfd0ca2a71acd7ac41fadbf933c2a51be344d"),
                        HexLimbs<4>("120a2a4cf30c1bf9845f20c6fe39e07ea2cce61f0c9bb048165fe5e4de877550"),
                        HexLimbs<4>("111e129f1cf1097710d41c4ac70fcdfa5ba2023c6ff1cbeac322de49d1b6df7c"),
                        HexLimbs<4>("2032c61a830e3c17286de9462bf242fca2883585b93870a73853face6a6bf411"),
                        HexLimbs<4>("198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2"),
                        HexLimbs<4>("1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed"),
                        HexLimbs<4>("090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b"),
                        HexLimbs<4>("12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa")}};
  auto pairs = FromEip197(jeff1);
  for (const auto& pair : pairs) {
    EXPECT_TRUE(Curve::IsOnCurve(pair.p) && Curve::IsOnCurve(pair.q) && Curve::IsInSubgroup(pair.q));
  }
  EXPECT_TRUE(ProductIsOne<Curve>(pairs));
  Eip197Input jeff6 = jeff1;
  jeff6.word[7] = HexLimbs<4>("103188585e2364128fe25c70558f1560f4f9350baf3959e603cc91486e110936");
  pairs = FromEip197(jeff6);
  EXPECT_TRUE(Curve::IsOnCurve(pairs[1].p));
  EXPECT_FALSE(ProductIsOne<Curve>(pairs));
}

// Gt::generator() of zkcrypto/bls12_381 (src/pairings.rs), which is e(G1, G2)^3 as here; printed in Montgomery form. Its first and last
// coordinates suffice: two different elements of GT hardly agree in one.
TEST(Bls12381Pairing, GeneratorOfGt) {
  using Curve = Bls12381<PortableArith>;
  auto e = Pairing<Curve>(Curve::Generator1(), Curve::Generator2());
  EXPECT_EQ(e.c0.c0.c0, Curve::Fq::FromRaw({0x1972e433a01f85c5, 0x97d32b76fd772538, 0xc8ce546fc96bcdf9,
                                            0xcef63e7366d40614, 0xa611342781843780, 0x13f3448a3fc6d825}));
  EXPECT_EQ(e.c1.c2.c1, Curve::Fq::FromRaw({0xe80ff2a06a52ffb1, 0x7694ca48721a906c, 0x7583183e03b08514,
                                            0xf567afdd40cee4e2, 0x9a6d96d2e526a5fc, 0x197e9f49861f2242}));
}

}  // namespace
}  // namespace proofline
