// Affine and XYZZ points, and the curves' constants: exceptional cases, known multiples, subgroups.
#include "core/curve/point.h"

#include <gtest/gtest.h>

#include <random>

#include "core/curve/curve.h"

namespace proofline {
namespace {

template <class Curve>
class PointTest : public testing::Test {};
using Curves = testing::Types<Bn254<PortableArith>, Bls12381<PortableArith>, Bn254<AdxArith>, Bls12381<AdxArith>>;
TYPED_TEST_SUITE(PointTest, Curves);

template <class F>
Xyzz<F> Small(const Affine<F>& g, uint64_t k) {
  std::array<uint64_t, 1> scalar = {k};
  return ScalarMul(g, std::span<const uint64_t>(scalar));
}

// The same point with another representative: (x l^2, y l^3, zz l^2, zzz l^3).
template <class F>
Xyzz<F> Rescale(const Xyzz<F>& p, uint64_t by) {
  F l = F::FromU64(by);
  F l2 = l.Square();
  F l3 = l2 * l;
  return {p.x * l2, p.y * l3, p.zz * l2, p.zzz * l3};
}

template <class Curve, class F>
void CheckAdditionTable(const Affine<F>& g) {
  constexpr int kMax = 6;
  for (int i = -kMax; i <= kMax; ++i) {
    Xyzz<F> a = Small(g, static_cast<uint64_t>(std::abs(i)));
    if (i < 0) a = -a;
    for (int j = -kMax; j <= kMax; ++j) {
      Xyzz<F> b = Small(g, static_cast<uint64_t>(std::abs(j)));
      if (j < 0) b = -b;
      Xyzz<F> want = Small(g, static_cast<uint64_t>(std::abs(i + j)));
      if (i + j < 0) want = -want;
      Xyzz<F> full = Rescale(a, 7);
      full.Add(Rescale(b, 11));
      EXPECT_TRUE(full == want) << i << " + " << j;
      Xyzz<F> mixed = Rescale(a, 5);
      mixed.AddMixed(b.ToAffine());
      EXPECT_TRUE(mixed == want) << i << " + " << j << " mixed";
      EXPECT_TRUE(Curve::IsOnCurve(full.ToAffine()));
      EXPECT_EQ(full.ToAffine(), want.ToAffine());
    }
    EXPECT_TRUE(Rescale(a, 3).Double() == Small(g, static_cast<uint64_t>(2 * std::abs(i))) || i < 0);
  }
}

TYPED_TEST(PointTest, AdditionTable) {
  CheckAdditionTable<TypeParam>(TypeParam::Generator1());
  CheckAdditionTable<TypeParam>(TypeParam::Generator2());
}

template <class Curve, class F>
void CheckGenerator(const Affine<F>& g) {
  EXPECT_TRUE(Curve::IsOnCurve(g));
  EXPECT_TRUE(Curve::IsInSubgroupNaive(g));
  EXPECT_TRUE(Curve::IsInSubgroup(g));
  EXPECT_TRUE(Curve::IsOnCurve(Affine<F>::Infinity()));
  EXPECT_TRUE(Curve::IsInSubgroup(Affine<F>::Infinity()));
  Affine<F> off = g;
  off.y += F::One();
  EXPECT_FALSE(Curve::IsOnCurve(off));
}

TYPED_TEST(PointTest, Generators) {
  CheckGenerator<TypeParam>(TypeParam::Generator1());
  CheckGenerator<TypeParam>(TypeParam::Generator2());
}

}  // namespace
}  // namespace proofline
