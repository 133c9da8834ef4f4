// Affine and XYZZ points: the addition table with all exceptional cases, conversions, scalar multiplication, bytes.
#include "core/curve/point.h"

#include <gtest/gtest.h>

#include "core/curve/curve.h"
#include "tests/core/curve/random_points.h"

namespace proofline {
namespace {

template <class Curve>
class PointTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::is_same_v<typename Curve::Arith, PortableArith> && !CpuHasAdx()) GTEST_SKIP() << "no ADX on this processor";
  }
};
using Curves = testing::Types<Bn254<PortableArith>, Bls12381<PortableArith>, Bn254<AdxArith>, Bls12381<AdxArith>>;
TYPED_TEST_SUITE(PointTest, Curves);

template <class F>
Xyzz<F> Small(const Affine<F>& g, int k) {
  std::array<uint64_t, 1> scalar = {static_cast<uint64_t>(std::abs(k))};
  Xyzz<F> p = ScalarMul(g, std::span<const uint64_t>(scalar));
  return k < 0 ? -p : p;
}

// The same point with another representative: (x l^2, y l^3, zz l^2, zzz l^3).
template <class F>
Xyzz<F> Rescale(const Xyzz<F>& p, uint64_t by) {
  F l = F::FromU64(by);
  F l2 = l.Square();
  F l3 = l2 * l;
  return {p.x * l2, p.y * l3, p.zz * l2, p.zzz * l3};
}

// The textbook chord and tangent over affine coordinates, which shares nothing with XYZZ.
template <class F>
Affine<F> TextbookAdd(const Affine<F>& a, const Affine<F>& b) {
  if (a.IsInfinity()) return b;
  if (b.IsInfinity()) return a;
  F slope;
  if (a.x == b.x) {
    if (a.y == -b.y) return Affine<F>::Infinity();
    slope = a.x.Square() * F::FromU64(3) * a.y.Double().Inverse();
  } else {
    slope = (b.y - a.y) * (b.x - a.x).Inverse();
  }
  F x = slope.Square() - a.x - b.x;
  return {x, slope * (a.x - x) - a.y};
}

// i + j for all small multiples: covers infinity on either side, equal points, P and -P.
template <class Curve, class F>
void CheckAdditionTable(const Affine<F>& g) {
  constexpr int kMax = 5;
  for (int i = -kMax; i <= kMax; ++i) {
    Xyzz<F> a = Small(g, i);
    EXPECT_EQ(Rescale(a, 3).Double(), Small(g, 2 * i));
    EXPECT_EQ(Xyzz<F>::DoubleAffine(a.ToAffine()), Small(g, 2 * i));
    for (int j = -kMax; j <= kMax; ++j) {
      Xyzz<F> b = Small(g, j);
      Affine<F> want = Small(g, i + j).ToAffine();
      EXPECT_EQ(TextbookAdd(a.ToAffine(), b.ToAffine()), want) << i << " + " << j;
      Xyzz<F> full = Rescale(a, 7);
      full.Add(Rescale(b, 11));
      EXPECT_EQ(full.ToAffine(), want) << i << " + " << j;
      Xyzz<F> mixed = Rescale(a, 5);
      mixed.AddMixed(b.ToAffine());
      EXPECT_EQ(mixed.ToAffine(), want) << i << " + " << j << " mixed";
      Xyzz<F> self = Rescale(a, 13);
      self.Add(self);
      EXPECT_EQ(self, Small(g, 2 * i)) << "aliased";
      EXPECT_EQ(full == Small(g, i), j == 0);
      EXPECT_TRUE(Curve::IsOnCurve(full.ToAffine()));
    }
  }
}

TYPED_TEST(PointTest, AdditionTable) {
  CheckAdditionTable<TypeParam>(TypeParam::Generator1());
  CheckAdditionTable<TypeParam>(TypeParam::Generator2());
}

// On points that are not in the subgroup too.
TYPED_TEST(PointTest, AdditionTableOutsideTheSubgroup) {
  std::mt19937_64 rng(11);
  CheckAdditionTable<TypeParam>(RandomCurvePoint(TypeParam::B1(), rng));
  CheckAdditionTable<TypeParam>(RandomCurvePoint(TypeParam::B2(), rng));
}

template <class Curve, class F>
void CheckScalars(const Affine<F>& g, std::mt19937_64& rng) {
  using Fr = typename Curve::Fr;
  std::vector<Fr> scalars = HostileElements<Fr>(rng, 4);
  Fr sum = Fr::Zero();
  Xyzz<F> total = Xyzz<F>::Infinity();
  for (size_t i = 0; i < scalars.size(); i += 5) {
    sum += scalars[i];
    total.Add(ScalarMulFr(g, scalars[i]));
  }
  EXPECT_EQ(total, ScalarMulFr(g, sum));
  EXPECT_TRUE(ScalarMulFr(g, Fr::Zero()).IsInfinity());
  EXPECT_EQ(ScalarMulFr(g, -Fr::One()).ToAffine(), -g);
  EXPECT_TRUE(ScalarMulFr(Affine<F>::Infinity(), scalars[3]).IsInfinity());
  Xyzz<F> p = ScalarMulFr(g, scalars.back());
  Fr k = scalars[7].ToCanon();
  EXPECT_EQ(ScalarMul(p, std::span<const uint64_t>(k.limbs)), ScalarMulFr(p.ToAffine(), scalars[7]));
}

TYPED_TEST(PointTest, ScalarMultiplicationIsLinear) {
  uint64_t seed = FreshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 rng(seed);
  CheckScalars<TypeParam>(TypeParam::Generator1(), rng);
  CheckScalars<TypeParam>(TypeParam::Generator2(), rng);
}

template <class F>
void CheckBatch(const Affine<F>& g) {
  for (int n : {0, 1, 2, 9}) {
    std::vector<Xyzz<F>> points;
    for (int i = 0; i < n; ++i) points.push_back(Rescale(Small(g, (i * 5) % 4), 3 + i));  // some are infinity
    std::vector<Affine<F>> out(points.size());
    BatchToAffine(std::span<const Xyzz<F>>(points), std::span<Affine<F>>(out));
    for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], points[i].ToAffine()) << i;
  }
}

TYPED_TEST(PointTest, BatchToAffine) {
  CheckBatch(TypeParam::Generator1());
  CheckBatch(TypeParam::Generator2());
}

template <class F>
void CheckBytes(const Affine<F>& g) {
  std::array<uint8_t, Affine<F>::kBytes + 1> buffer;
  buffer.fill(0xee);
  g.Store(buffer.data() + 1);
  EXPECT_EQ(Affine<F>::Load(buffer.data() + 1), g);
  Affine<F>::Infinity().Store(buffer.data() + 1);
  for (size_t i = 1; i < buffer.size(); ++i) ASSERT_EQ(buffer[i], 0);
  EXPECT_TRUE(Affine<F>::Load(buffer.data() + 1).IsInfinity());
  EXPECT_TRUE((-Affine<F>::Infinity()).IsInfinity());
  EXPECT_EQ(buffer[0], 0xee);
}

TYPED_TEST(PointTest, BytesAtOddAddresses) {
  CheckBytes(TypeParam::Generator1());
  CheckBytes(TypeParam::Generator2());
}

}  // namespace
}  // namespace proofline
