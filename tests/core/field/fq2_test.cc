// Fq2: field laws on hostile values for both multiplications, against the schoolbook definition.
#include "core/field/fq2.h"

#include <gtest/gtest.h>

#include "core/field/arith.h"
#include "tests/core/field/hostile.h"

namespace proofline {
namespace {

template <class F>
class Fq2Test : public testing::Test {};
using Fields = testing::Types<Fp<Bn254FqModulus>, Fp<Bls12381FqModulus>, Fp<Bn254FqModulus, AdxArith>,
                              Fp<Bls12381FqModulus, AdxArith>>;
TYPED_TEST_SUITE(Fq2Test, Fields);

template <class Fq>
std::vector<Fq2<Fq>> HostilePairs(std::mt19937_64& rng) {
  std::vector<Fq> values = HostileElements<Fq>(rng, 12);
  std::vector<Fq2<Fq>> out;
  for (size_t i = 0; i < values.size(); i += 5) {
    for (size_t j = i % 3; j < values.size(); j += 17) out.push_back({values[i], values[j]});
  }
  out.push_back({Fq::Zero(), Fq::Zero()});
  out.push_back({Fq::Zero(), -Fq::One()});
  return out;
}

TYPED_TEST(Fq2Test, FieldLaws) {
  if (!std::is_same_v<TypeParam, Fp<typename TypeParam::Modulus>> && !CpuHasAdx()) GTEST_SKIP() << "no ADX";
  using E = Fq2<TypeParam>;
  uint64_t seed = FreshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 rng(seed);
  std::vector<E> values = HostilePairs<TypeParam>(rng);
  for (const E& a : values) {
    ASSERT_EQ(a.Square(), a * a);
    ASSERT_EQ(a * a.Inverse(), a.IsZero() ? E::Zero() : E::One());
    ASSERT_EQ((a * a.Conjugate()).c1, TypeParam::Zero());
    ASSERT_EQ(a.ToCanon().ToMont(), a);
    ASSERT_EQ(a.Double(), a + a);
    ASSERT_EQ(a - a, E::Zero());
    ASSERT_EQ(-a + a, E::Zero());
    for (const E& b : values) {
      E schoolbook{a.c0 * b.c0 - a.c1 * b.c1, a.c0 * b.c1 + a.c1 * b.c0};
      ASSERT_EQ(a * b, schoolbook);
      E c = a;
      c *= b;
      ASSERT_EQ(c, schoolbook);
      c = a;
      c *= c;
      ASSERT_EQ(c, a.Square());
      ASSERT_EQ((a + b) - b, a);
    }
  }
}

TYPED_TEST(Fq2Test, SumOfProducts) {
  if (!std::is_same_v<TypeParam, Fp<typename TypeParam::Modulus>> && !CpuHasAdx()) GTEST_SKIP() << "no ADX";
  using F = TypeParam;
  uint64_t seed = FreshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 rng(seed);
  std::vector<F> values = HostileElements<F>(rng, 20);
  auto any = [&] { return values[rng() % values.size()]; };
  const F top = F::FromRaw(LimbsSub(F::Modulus::kValue, 1));  // the largest limbs there are
  ASSERT_EQ(F::SumOfProducts(top, top, top, top), (top * top).Double());
  for (int i = 0; i < 20000; ++i) {
    F a = any(), b = any(), c = any(), d = any();
    F got = F::SumOfProducts(a, b, c, d);
    ASSERT_TRUE(F::IsReduced(&got));
    ASSERT_EQ(got, a * b + c * d);
    ASSERT_EQ(F::SumOfProducts(a, a, a, a), a.Square().Double());
  }
}

// The q-th power is the conjugate, so -1 is no square in Fq and u^2 + 1 is irreducible.
TYPED_TEST(Fq2Test, FrobeniusIsConjugation) {
  using E = Fq2<TypeParam>;
  std::mt19937_64 rng(7);
  for (const E& a : HostilePairs<TypeParam>(rng)) {
    if (rng() % 8 == 0) {
      ASSERT_EQ(a.Pow(TypeParam::Modulus::kValue), a.Conjugate());
    }
  }
  EXPECT_EQ((E{TypeParam::Zero(), TypeParam::One()}.Square()), -E::One());
}

TYPED_TEST(Fq2Test, BytesHaveC0First) {
  using E = Fq2<TypeParam>;
  std::array<uint8_t, E::kBytes + 1> buffer{};
  E a{TypeParam::FromU64(5), TypeParam::FromU64(7)};
  a.StoreCanon(buffer.data() + 1);
  EXPECT_EQ(buffer[1], 5);
  EXPECT_EQ(buffer[1 + TypeParam::kBytes], 7);
  EXPECT_EQ(E::LoadCanon(buffer.data() + 1), a);
  a.StoreMont(buffer.data() + 1);
  EXPECT_EQ(E::LoadMont(buffer.data() + 1), a);
  EXPECT_TRUE(E::IsReduced(buffer.data() + 1));
  std::memcpy(buffer.data() + 1 + TypeParam::kBytes, TypeParam::Modulus::kValue.data(), TypeParam::kBytes);
  EXPECT_FALSE(E::IsReduced(buffer.data() + 1));
}

}  // namespace
}  // namespace proofline
