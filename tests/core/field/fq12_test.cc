// The towers Fq6 and Fq12: field laws, sparse products, Frobenius, squaring in the cyclotomic subgroup.
#include "core/field/fq12.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/field/arith.h"
#include "tests/core/field/hostile.h"

namespace proofline {
namespace {

template <class Xi>
class TowerTest : public testing::Test {
 protected:
  using F2 = typename Xi::Fq2;
  using F6 = Fq6<Xi>;
  using F12 = Fq12<Xi>;
  using Base = typename F2::Fq;

  TowerTest() : seed_(FreshSeed()), rng_(seed_), trace_(__FILE__, __LINE__, "seed " + std::to_string(seed_)) {}
  void SetUp() override {
    if (!std::is_same_v<Base, Fp<typename Base::Modulus>> && !CpuHasAdx()) GTEST_SKIP() << "no ADX on this processor";
    values_ = HostileElements<Base>(rng_, 30);
  }
  Base Any() { return values_[rng_() % values_.size()]; }
  F2 AnyTwo() { return {Any(), Any()}; }
  F6 AnySix() { return {AnyTwo(), AnyTwo(), AnyTwo()}; }
  F12 AnyTwelve() { return {AnySix(), AnySix()}; }

  uint64_t seed_;
  std::mt19937_64 rng_;
  testing::ScopedTrace trace_;
  std::vector<Base> values_;
};

template <class A>
using Bn = Bn254Xi<Fq2<Fp<Bn254FqModulus, A>>>;
template <class A>
using Bls = Bls12381Xi<Fq2<Fp<Bls12381FqModulus, A>>>;
using Towers = testing::Types<Bn<PortableArith>, Bls<PortableArith>, Bn<AdxArith>, Bls<AdxArith>>;
TYPED_TEST_SUITE(TowerTest, Towers);

TYPED_TEST(TowerTest, Xi) {
  using Two = typename TestFixture::F2;
  for (int i = 0; i < 50; ++i) {
    Two a = this->AnyTwo();
    EXPECT_EQ(TypeParam::Mul(a), a * TypeParam::Value());
  }
  // Neither a square nor a cube, or the towers would not be fields.
  auto half = LimbsDiv(LimbsSub(TestFixture::Base::Modulus::kValue, 1), 2);
  auto third = LimbsDiv(LimbsSub(TestFixture::Base::Modulus::kValue, 1), 3);
  Two norm_power = TypeParam::Value() * TypeParam::Value().Conjugate();  // xi^(q + 1)
  EXPECT_NE(norm_power.Pow(half), Two::One());
  EXPECT_NE(norm_power.Pow(third), Two::One());
}

TYPED_TEST(TowerTest, Fq6AgainstSchoolbook) {
  using Six = typename TestFixture::F6;
  using Two = typename TestFixture::F2;
  for (int i = 0; i < 50; ++i) {
    Six a = this->AnySix(), b = this->AnySix();
    Six want{a.c0 * b.c0 + TypeParam::Value() * (a.c1 * b.c2 + a.c2 * b.c1),
             a.c0 * b.c1 + a.c1 * b.c0 + TypeParam::Value() * (a.c2 * b.c2), a.c0 * b.c2 + a.c1 * b.c1 + a.c2 * b.c0};
    ASSERT_TRUE(a * b == want);
    ASSERT_TRUE(a.Square() == a * a);
    ASSERT_TRUE(a.MulBy01(b.c0, b.c1) == a * Six({b.c0, b.c1, Two::Zero()}));
    ASSERT_TRUE(a.MulByV() == a * Six({Two::Zero(), Two::One(), Two::Zero()}));
    ASSERT_TRUE(a.IsZero() || a * a.Inverse() == Six::One());
  }
  EXPECT_TRUE(Six::Zero().Inverse().IsZero());
}

TYPED_TEST(TowerTest, Fq12Laws) {
  using Six = typename TestFixture::F6;
  using Two = typename TestFixture::F2;
  using Twelve = typename TestFixture::F12;
  const Twelve w{Six::Zero(), Six::One()};
  const Twelve v{{Two::Zero(), Two::One(), Two::Zero()}, Six::Zero()};
  EXPECT_TRUE(w * w == v);
  for (int i = 0; i < 30; ++i) {
    Twelve a = this->AnyTwelve(), b = this->AnyTwelve(), c = this->AnyTwelve();
    Twelve want{a.c0 * b.c0 + (a.c1 * b.c1).MulByV(), a.c0 * b.c1 + a.c1 * b.c0};
    ASSERT_TRUE(a * b == want);
    ASSERT_TRUE((a * b) * c == a * (b * c));
    ASSERT_TRUE(a.Square() == a * a);
    ASSERT_TRUE((a * a.Inverse()).IsOne());
    Twelve d = a;
    d *= d;
    ASSERT_TRUE(d == a.Square());
  }
}

TYPED_TEST(TowerTest, FrobeniusIsTheQthPower) {
  using Twelve = typename TestFixture::F12;
  Twelve a = this->AnyTwelve();
  EXPECT_TRUE(a.Frobenius() == a.Pow(TestFixture::Base::Modulus::kValue));
  Twelve b = a;
  for (int i = 0; i < 6; ++i) b = b.Frobenius();
  EXPECT_TRUE(b == a.Conjugate());
  for (int i = 0; i < 6; ++i) b = b.Frobenius();
  EXPECT_TRUE(b == a);
}

TYPED_TEST(TowerTest, CyclotomicSquareAndPower) {
  using Twelve = typename TestFixture::F12;
  for (int i = 0; i < 5; ++i) {
    Twelve f = this->AnyTwelve();
    f = f.Conjugate() * f.Inverse();
    f = f.Frobenius().Frobenius() * f;
    ASSERT_TRUE(f.CyclotomicSquare() == f.Square());
    for (uint64_t e : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{0xd201000000010000}, ~uint64_t{0}}) {
      ASSERT_TRUE(f.CyclotomicPow(e) == f.Pow(std::span<const uint64_t>(&e, 1)));
    }
  }
}

}  // namespace
}  // namespace proofline
