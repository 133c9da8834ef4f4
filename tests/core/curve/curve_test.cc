// The two curves: published multiples, and the fast subgroup tests against multiplication by the order.
#include "core/curve/curve.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/core/curve/random_points.h"

namespace proofline {
namespace {

template <class Curve>
class CurveTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::is_same_v<typename Curve::Arith, PortableArith> && !CpuHasAdx()) GTEST_SKIP() << "no ADX on this processor";
  }
};
using Curves = testing::Types<Bn254<PortableArith>, Bls12381<PortableArith>, Bn254<AdxArith>, Bls12381<AdxArith>>;
TYPED_TEST_SUITE(CurveTest, Curves);

template <class Curve, class F>
void CheckGenerator(const Affine<F>& g) {
  EXPECT_TRUE(Curve::IsOnCurve(g));
  EXPECT_TRUE(Curve::IsInSubgroupNaive(g));
  EXPECT_TRUE(Curve::IsInSubgroup(g));
  EXPECT_TRUE(Curve::IsOnCurve(Affine<F>::Infinity()));
  EXPECT_TRUE(Curve::IsInSubgroup(Affine<F>::Infinity()));
  EXPECT_FALSE(Curve::IsOnCurve(Affine<F>{g.x, g.y + F::One()}));
  EXPECT_FALSE(Curve::IsOnCurve(Affine<F>{g.x + F::One(), g.y}));
  EXPECT_FALSE(Curve::IsOnCurve(Affine<F>{F::Zero(), F::One()}));
}

TYPED_TEST(CurveTest, Generators) {
  CheckGenerator<TypeParam>(TypeParam::Generator1());
  CheckGenerator<TypeParam>(TypeParam::Generator2());
}

// `cofactor_parts`: #E / (r * l) for small primes l; they give points of order l (or infinity), the likeliest to fool a test.
template <class Curve, class F, size_t N>
void CheckSubgroup(const F& b, const Affine<F>& g, const std::vector<std::array<uint64_t, N>>& cofactor_parts,
                   std::mt19937_64& rng) {
  auto agree = [](const Affine<F>& p) {
    ASSERT_TRUE(Curve::IsOnCurve(p));
    ASSERT_EQ(Curve::IsInSubgroup(p), Curve::IsInSubgroupNaive(p));
  };
  constexpr auto order = Curve::Fr::Modulus::kValue;
  int outside = 0;
  for (int round = 0; round < 6; ++round) {
    Affine<F> p = RandomCurvePoint(b, rng);
    agree(p);
    outside += !Curve::IsInSubgroup(p);
    Xyzz<F> in_cofactor = ScalarMul(p, std::span<const uint64_t>(order));
    agree(in_cofactor.ToAffine());
    agree((-in_cofactor).ToAffine());
    in_cofactor.AddMixed(g);
    agree(in_cofactor.ToAffine());
    for (const auto& part : cofactor_parts) {
      Xyzz<F> small = ScalarMul(ScalarMul(p, std::span<const uint64_t>(order)), std::span<const uint64_t>(part));
      agree(small.ToAffine());
      EXPECT_EQ(Curve::IsInSubgroup(small.ToAffine()), small.IsInfinity());
      small.AddMixed(g);
      agree(small.ToAffine());
    }
  }
  EXPECT_EQ(outside, 6);
}

TYPED_TEST(CurveTest, FastSubgroupTestsAgreeWithTheOrder) {
  uint64_t seed = FreshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 rng(seed);
  if constexpr (TypeParam::kId == CurveId::kBn254) {
    // #E'(Fq2) = r (2q - r), 10069 | 2q - r.
    constexpr std::array<uint64_t, 4> cofactor =
        HexLimbs<4>("30644e72e131a029b85045b68181585e06ceecda572a2489345f2299c0f9fa8d");
    const std::vector<std::array<uint64_t, 4>> parts = {LimbsDiv(cofactor, 10069)};
    CheckSubgroup<TypeParam>(TypeParam::B2(), TypeParam::Generator2(), parts, rng);
  } else {
    // #E(Fq) = r (z - 1)^2 / 3
    constexpr std::array<uint64_t, 2> cofactor1 = HexLimbs<2>("396c8c005555e1568c00aaab0000aaab");
    const std::vector<std::array<uint64_t, 2>> parts1 = {LimbsDiv(cofactor1, 3), LimbsDiv(cofactor1, 11),
                                                           LimbsDiv(cofactor1, 10177)};
    CheckSubgroup<TypeParam>(TypeParam::B1(), TypeParam::Generator1(), parts1, rng);
    // #E'(Fq2) = r (z^8 - 4z^7 + 5z^6 - 4z^4 + 6z^3 - 4z^2 - 4z + 13) / 9
    constexpr std::array<uint64_t, 8> cofactor2 =
        HexLimbs<8>("5d543a95414e7f1091d50792876a202cd91de4547085abaa68a205b2e5a7ddf"
                    "a628f1cb4d9e82ef21537e293a6691ae1616ec6e786f0c70cf1c38e31c7238e5");
    const std::vector<std::array<uint64_t, 8>> parts2 = {LimbsDiv(cofactor2, 13), LimbsDiv(cofactor2, 23),
                                                           LimbsDiv(cofactor2, 2713)};
    CheckSubgroup<TypeParam>(TypeParam::B2(), TypeParam::Generator2(), parts2, rng);
  }
}

// BN254's G1 has no cofactor: every point of the curve is in it.
TEST(Bn254Curve, G1IsTheWholeCurve) {
  using Curve = Bn254<PortableArith>;
  std::mt19937_64 rng(3);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Curve::IsInSubgroupNaive(RandomCurvePoint(Curve::B1(), rng)));
}

TEST(Bls12381Curve, BetaIsTheCubeRootItClaims) {
  using Curve = Bls12381<PortableArith>;
  auto exponent = LimbsDiv(LimbsSub(Bls12381FqModulus::kValue, 1), 3);
  EXPECT_EQ(Curve::Beta(), Curve::Fq::FromU64(2).Pow(exponent));
}

// psi is multiplication by q on the subgroup; modulo r, q is 6x^2 on BN254 and z on BLS12-381.
TEST(CurvePsi, EigenvalueOnTheSubgroup) {
  using Bn = Bn254<PortableArith>;
  Bn::Fr x = Bn::Fr::FromU64(Bn::kX);
  EXPECT_EQ(Bn::PsiMap()(Bn::Generator2()), ScalarMulFr(Bn::Generator2(), Bn::Fr::FromU64(6) * x * x).ToAffine());
  using Bls = Bls12381<PortableArith>;
  EXPECT_EQ(Bls::PsiMap()(Bls::Generator2()),
            ScalarMulFr(Bls::Generator2(), -Bls::Fr::FromU64(Bls::kAbsZ)).ToAffine());
}

template <class F>
F Hex(const std::array<uint64_t, F::kLimbs>& canonical) {
  return F::FromRaw(canonical).ToMont();
}

// EIP-196 test vectors "chfast1" and "cdetrio2" ([r - 1] P = -P) of the alt_bn128 multiplication.
TEST(Bn254Curve, Eip196Multiplication) {
  using Curve = Bn254<PortableArith>;
  using Fq = Curve::Fq;
  Curve::G1 p{Hex<Fq>(HexLimbs<4>("2bd3e6d0f3b142924f5ca7b49ce5b9d54c4703d7ae5648e61d02268b1a0a9fb7")),
              Hex<Fq>(HexLimbs<4>("21611ce0a6af85915e2f1d70300909ce2e49dfad4a4619c8390cae66cefdb204"))};
  std::array<uint64_t, 1> k = {0x11138ce750fa15c2};
  Curve::G1 want{Hex<Fq>(HexLimbs<4>("070a8d6a982153cae4be29d434e8faef8a47b274a053f5a4ee2a6c9c13c31e5c")),
                 Hex<Fq>(HexLimbs<4>("031b8ce914eba3a9ffb989f9cdd5b0f01943074bf4f0f315690ec3cec6981afc"))};
  EXPECT_EQ(ScalarMul(p, std::span<const uint64_t>(k)).ToAffine(), want);
  Curve::G1 s{Hex<Fq>(HexLimbs<4>("1a87b0584ce92f4593d161480614f2989035225609f08058ccfa3d0f940febe3")),
              Hex<Fq>(HexLimbs<4>("1a2f3c951f6dadcc7ee9007dff81504b0fcd6d7cf59996efdc33d92bf7f9f8f6"))};
  EXPECT_EQ(ScalarMulFr(s, -Curve::Fr::One()).ToAffine().y,
            Hex<Fq>(HexLimbs<4>("163511ddc1c3f25d396745388200081287b3fd1472d8339d5fecb2eae0830451")));
  // "cdetrio1": a scalar of all ones, which is above r.
  std::array<uint64_t, 4> ones;
  ones.fill(~uint64_t{0});
  Curve::G1 all{Hex<Fq>(HexLimbs<4>("2cde5879ba6f13c0b5aa4ef627f159a3347df9722efce88a9afbb20b763b4c41")),
                Hex<Fq>(HexLimbs<4>("1aa7e43076f6aee272755a7f9b84832e71559ba0d2e0b17d5f9f01755e5b0d11"))};
  EXPECT_EQ(ScalarMul(s, std::span<const uint64_t>(ones)).ToAffine(), all);
}

// EIP-2537 test vectors: 2 G1, 5 G1, 2 G2, and "matter_g1_add_0".
TEST(Bls12381Curve, Eip2537Additions) {
  using Curve = Bls12381<PortableArith>;
  using Fq = Curve::Fq;
  using G1 = Curve::G1;
  Xyzz<Fq> g = Xyzz<Fq>::FromAffine(Curve::Generator1());
  G1 twice{Hex<Fq>(HexLimbs<6>("0572cbea904d67468808c8eb50a9450c9721db309128012543902d0ac358a62ae28f75bb8f1c7c42c39a8c5529bf0f4e")),
           Hex<Fq>(HexLimbs<6>("166a9d8cabc673a322fda673779d8e3822ba3ecb8670e461f73bb9021d5fd76a4c56d9d4cd16bd1bba86881979749d28"))};
  EXPECT_EQ(g.Double().ToAffine(), twice);
  G1 five{Hex<Fq>(HexLimbs<6>("10e7791fb972fe014159aa33a98622da3cdc98ff707965e536d8636b5fcc5ac7a91a8c46e59a00dca575af0f18fb13dc")),
          Hex<Fq>(HexLimbs<6>("16ba437edcc6551e30c10512367494bfb6b01cc6681e8a4c3cd2501832ab5c4abc40b4578b85cbaffbf0bcd70d67c6e2"))};
  Xyzz<Fq> sum = g.Double().Double();
  sum.Add(g);
  EXPECT_EQ(sum.ToAffine(), five);
  G1 a{Hex<Fq>(HexLimbs<6>("12196c5a43d69224d8713389285f26b98f86ee910ab3dd668e413738282003cc5b7357af9a7af54bb713d62255e80f56")),
       Hex<Fq>(HexLimbs<6>("06ba8102bfbeea4416b710c73e8cce3032c31c6269c44906f8ac4f7874ce99fb17559992486528963884ce429a992fee"))};
  G1 b{Hex<Fq>(HexLimbs<6>("0001101098f5c39893765766af4512a0c74e1bb89bc7e6fdf14e3e7337d257cc0f94658179d83320b99f31ff94cd2bac")),
       Hex<Fq>(HexLimbs<6>("03e1a9f9f44ca2cdab4f43a1a3ee3470fdf90b2fc228eb3b709fcd72f014838ac82a6d797aeefed9a0804b22ed1ce8f7"))};
  G1 c{Hex<Fq>(HexLimbs<6>("1466e1373ae4a7e7ba885c5f0c3ccfa48cdb50661646ac6b779952f466ac9fc92730dcaed9be831cd1f8c4fefffd5209")),
       Hex<Fq>(HexLimbs<6>("0c1fb750d2285d4ca0378e1e8cdbf6044151867c34a711b73ae818aee6dbe9e886f53d7928cc6ed9c851e0422f609b11"))};
  sum = Xyzz<Fq>::FromAffine(a);
  sum.AddMixed(b);
  EXPECT_EQ(sum.ToAffine(), c);
  Curve::G2 twice2{
      {Hex<Fq>(HexLimbs<6>("1638533957d540a9d2370f17cc7ed5863bc0b995b8825e0ee1ea1e1e4d00dbae81f14b0bf3611b78c952aacab827a053")),
       Hex<Fq>(HexLimbs<6>("0a4edef9c1ed7f729f520e47730a124fd70662a904ba1074728114d1031e1572c6c886f6b57ec72a6178288c47c33577"))},
      {Hex<Fq>(HexLimbs<6>("0468fb440d82b0630aeb8dca2b5256789a66da69bf91009cbfe6bd221e47aa8ae88dece9764bf3bd999d95d71e4c9899")),
       Hex<Fq>(HexLimbs<6>("0f6d4552fa65dd2638b361543f887136a43253d9c66c411697003f7a13c308f5422e1aa0a59c8967acdefd8b6e36ccf3"))}};
  EXPECT_EQ(Xyzz<Curve::Fq2>::FromAffine(Curve::Generator2()).Double().ToAffine(), twice2);
}

// The points of EIP-2537's "not in correct subgroup" vectors, and the point of order 3 that is easily overlooked.
TEST(Bls12381Curve, Eip2537PointsOutsideTheSubgroup) {
  using Curve = Bls12381<PortableArith>;
  using Fq = Curve::Fq;
  Curve::G1 p{Fq::FromU64(4), Hex<Fq>(HexLimbs<6>("0a989badd40d6212b33cffc3f3763e9bc760f988c9926b26da9dd85e92848344"
                                                  "6346b8ed00e1de5d5ea93e354abe706c"))};
  EXPECT_TRUE(Curve::IsOnCurve(p));
  EXPECT_FALSE(Curve::IsInSubgroup(p));
  Curve::G1 order3{Fq::Zero(), Fq::FromU64(2)};
  EXPECT_TRUE(Curve::IsOnCurve(order3));
  EXPECT_EQ(Xyzz<Fq>::FromAffine(order3).Double().ToAffine(), -order3);
  EXPECT_FALSE(Curve::IsInSubgroup(order3));
  Curve::G2 q{{Fq::FromU64(2), Fq::Zero()},
              {Hex<Fq>(HexLimbs<6>("13a59858b6809fca4d9a3b6539246a70051a3c88899964a42bc9a69cf9acdd9dd387cfa9086b894185b9a46a402be73")),
               Hex<Fq>(HexLimbs<6>("02d27e0ec3356299a346a09ad7dc4ef68a483c3aed53f9139d2f929a3eecebf72082e5e58c6da24ee32e03040c406d4f"))}};
  EXPECT_TRUE(Curve::IsOnCurve(q));
  EXPECT_FALSE(Curve::IsInSubgroup(q));
}

}  // namespace
}  // namespace proofline
