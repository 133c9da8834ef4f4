#include "core/poly/ntt.h"

#include <random>

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include "core/field/fp.h"

namespace proofline {
namespace {

template <class Fr>
std::vector<Fr> RandomVector(size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<Fr> v(n);
  for (Fr& x : v) {
    for (uint64_t& limb : x.limbs) limb = rng();
    x.limbs[Fr::kLimbs - 1] %= Fr::Modulus::kValue[Fr::kLimbs - 1];
  }
  return v;
}

template <class Fr>
std::vector<Fr> Permuted(const std::vector<Fr>& v, int bits) {
  std::vector<Fr> out(v.size());
  for (size_t i = 0; i < v.size(); ++i) out[ReverseBits(i, bits)] = v[i];
  return out;
}

template <class Fr>
class NttTest : public testing::Test {};
using Fields = testing::Types<Fp<Bn254FrModulus>, Fp<Bls12381FrModulus>>;
TYPED_TEST_SUITE(NttTest, Fields);

TYPED_TEST(NttTest, RootsHaveExactOrder) {
  using Fr = TypeParam;
  const Fr minus_one = -Fr::One();
  EXPECT_EQ(RootOfUnity<Fr>(0), Fr::One());
  EXPECT_EQ(RootOfUnity<Fr>(1), minus_one);
  for (int j = 2; j <= Fr::Modulus::kTwoAdicity; ++j) {
    EXPECT_EQ(RootOfUnity<Fr>(j).Square(), RootOfUnity<Fr>(j - 1));
    EXPECT_EQ(PowU64(RootOfUnity<Fr>(j), uint64_t{1} << (j - 1)), minus_one) << j;
  }
}

// The 2^28-th root that gnark-crypto prints for BN254 (ecc/bn254/fr/fft):
// 19103219067921713944291392827692070036145651957329286315305642004821462161904.
TEST(NttRoots, Bn254RootIsTheOneOthersUse) {
  const std::array<uint64_t, 4> expected = {0x9bd61b6e725b19f0, 0x402d111e41112ed4, 0xe0a7eb8ef62abc, 0x2a3c09f0a58a7e85};
  Fp<Bn254FrModulus> root = RootOfUnity<Fp<Bn254FrModulus>>(28).ToCanon();
  EXPECT_EQ(root, Fp<Bn254FrModulus>::FromRaw(expected));
}

// 7^((r-1)/2^32), bellperson's root of order 2^32.
TEST(NttRoots, Bls12381RootOfSevenIsBellpersons) {
  using Fr = Fp<Bls12381FrModulus>;
  const std::array<uint64_t, 4> expected = {0x3829971f439f0d2b, 0xb63683508c2280b9, 0xd09b681922c813b4, 0x16a2a19edfe81f20};
  EXPECT_EQ(RootOfUnity<Fr>(32, 7).ToCanon(), Fr::FromRaw(expected));
  EXPECT_EQ(RootOfUnity<Fr>(2, 7), RootOfUnity<Fr>(2));
  EXPECT_FALSE(RootOfUnity<Fr>(3, 7) == RootOfUnity<Fr>(3));
}

TEST(NttRoots, ATransformTakesTheRootItIsGiven) {
  using Fr = Fp<Bls12381FrModulus>;
  for (int k = 0; k <= 10; ++k) {
    NttPlan<Fr> plan(k, 7);
    const std::vector<Fr> coefficients = RandomVector<Fr>(plan.n(), 200 + k);
    const Fr omega = RootOfUnity<Fr>(k, 7);
    std::vector<Fr> data = NaiveEvaluate<Fr>(coefficients, Fr::One(), omega, plan.n());
    plan.ExtendToOddCoset(data);
    EXPECT_EQ(data, NaiveEvaluate<Fr>(coefficients, RootOfUnity<Fr>(k + 1, 7), omega, plan.n())) << k;
  }
}

TYPED_TEST(NttTest, InverseGivesCoefficientsTimesN) {
  using Fr = TypeParam;
  for (int k = 0; k <= 6; ++k) {
    NttPlan<Fr> plan(k);
    std::vector<Fr> coefficients = RandomVector<Fr>(plan.n(), k);
    std::vector<Fr> data = NaiveEvaluate<Fr>(coefficients, Fr::One(), RootOfUnity<Fr>(k), plan.n());
    std::vector<Fr> values = data;
    plan.InverseToBitReversed(data);
    for (Fr& x : coefficients) x *= Fr::FromU64(plan.n());
    EXPECT_EQ(data, Permuted(coefficients, k)) << k;
    plan.ForwardFromBitReversed(data);
    for (Fr& x : values) x *= Fr::FromU64(plan.n());
    EXPECT_EQ(data, values) << k;
  }
}

TYPED_TEST(NttTest, ExtendToOddCosetAgreesWithTheTextbook) {
  using Fr = TypeParam;
  for (int k = 0; k <= 10; ++k) {
    NttPlan<Fr> plan(k);
    std::vector<Fr> coefficients = RandomVector<Fr>(plan.n(), 100 + k);
    Fr omega = RootOfUnity<Fr>(k);
    std::vector<Fr> data = NaiveEvaluate<Fr>(coefficients, Fr::One(), omega, plan.n());
    plan.ExtendToOddCoset(data);
    EXPECT_EQ(data, NaiveEvaluate<Fr>(coefficients, RootOfUnity<Fr>(k + 1), omega, plan.n())) << k;
  }
}

// Larger sizes by evaluation at single points: every split into passes and every tile is taken.
TYPED_TEST(NttTest, ExtendToOddCosetAtSinglePoints) {
  using Fr = TypeParam;
  for (int threads : {1, 3}) {
    tbb::task_arena arena(threads);
    arena.execute([&] {
      for (int k = 12; k <= 17; ++k) {
        NttPlan<Fr> plan(k);
        std::vector<Fr> coefficients = RandomVector<Fr>(plan.n(), 200 + k);
        std::vector<Fr> data = Permuted(coefficients, k);
        plan.ForwardFromBitReversed(data);
        Fr omega = RootOfUnity<Fr>(k);
        size_t at = 3 * plan.n() / 7;
        EXPECT_EQ(data[at], (NaiveEvaluate<Fr>(coefficients, PowU64(omega, at), omega, 1)[0])) << k;
        plan.ExtendToOddCoset(data);
        for (size_t i : {size_t{0}, size_t{1}, at, plan.n() - 1}) {
          Fr x = PowU64(omega, i) * RootOfUnity<Fr>(k + 1);
          EXPECT_EQ(data[i], (NaiveEvaluate<Fr>(coefficients, x, omega, 1)[0])) << k << " " << i;
        }
      }
    });
  }
}

TYPED_TEST(NttTest, HostileValues) {
  using Fr = TypeParam;
  NttPlan<Fr> plan(5);
  for (Fr fill : {Fr::Zero(), Fr::One(), -Fr::One()}) {
    std::vector<Fr> data(plan.n(), fill);
    plan.ExtendToOddCoset(data);
    EXPECT_EQ(data, std::vector<Fr>(plan.n(), fill));  // a constant polynomial
  }
}

}  // namespace
}  // namespace proofline
