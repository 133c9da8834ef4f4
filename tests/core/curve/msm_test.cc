// Msm against double-and-add on small hostile inputs, and against known discrete logarithms on larger ones.
#include "core/curve/msm.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include "core/curve/curve.h"

namespace proofline {
namespace {

template <class CurveT, class PointT, PointT (*GeneratorFn)()>
struct Group {
  using Curve = CurveT;
  using Fr = typename CurveT::Fr;
  using Point = PointT;
  using F = typename PointT::Field;
  static Point Generator() { return GeneratorFn(); }
};
template <class Curve>
using G1Of = Group<Curve, typename Curve::G1, &Curve::Generator1>;
template <class Curve>
using G2Of = Group<Curve, typename Curve::G2, &Curve::Generator2>;

template <class G>
class MsmTest : public testing::Test {
 public:
  using Scalar = typename G::Fr;
  using Coordinate = typename G::F;
  using Point = typename G::Point;

  static Point Multiple(const Scalar& k) { return ScalarMulFr(G::Generator(), k).ToAffine(); }

  static Scalar RandomFr(std::mt19937_64& rng) {
    Scalar x;
    for (uint64_t& limb : x.limbs) limb = rng();
    x.limbs[3] %= Scalar::Modulus::kValue[3];
    return x;
  }

  // Packed as in a file, at an odd address.
  struct Packed {
    std::vector<uint8_t> points{0}, scalars{0};
    void Add(const Point& p, const Scalar& s) {
      uint8_t bytes[Point::kBytes];
      p.Store(bytes);
      points.insert(points.end(), bytes, bytes + Point::kBytes);
      uint8_t scalar[kFrBytes];
      s.StoreCanon(scalar);
      scalars.insert(scalars.end(), scalar, scalar + kFrBytes);
    }
    ByteSpan PointBytes() const { return ByteSpan(points).subspan(1); }
    ByteSpan ScalarBytes() const { return ByteSpan(scalars).subspan(1); }
    Xyzz<Coordinate> Naive() const { return NaiveMsm<Coordinate>(PointBytes(), ScalarBytes()); }
    Xyzz<Coordinate> Fast(const MsmOptions& options = {}) const { return Msm<Scalar, Coordinate>(PointBytes(), ScalarBytes(), options); }
  };

  static std::vector<Scalar> HostileScalars() {
    const Scalar one = Scalar::One();
    const Scalar half = Scalar::FromU64(2).Inverse();  // (r+1)/2
    std::vector<Scalar> out = {Scalar::Zero(), one, one.Double(), -one, -one - one, half, half - one, half + one};
    for (int bit : {3, 15, 16, 63, 64, 127, 128, 200, 252}) {
      Scalar power = one;
      for (int i = 0; i < bit; ++i) power = power.Double();
      out.push_back(power);
      out.push_back(power - one);
      out.push_back(-power);
    }
    return out;
  }
  static std::vector<Point> HostilePoints() {
    const Point p = G::Generator();
    return {p, -p, Multiple(Scalar::FromU64(2)), Point::Infinity(), p, Multiple(-Scalar::FromU64(2))};
  }
};

using Groups =
    testing::Types<G1Of<Bn254<PortableArith>>, G2Of<Bn254<PortableArith>>, G1Of<Bls12381<PortableArith>>,
                   G2Of<Bls12381<PortableArith>>>;
TYPED_TEST_SUITE(MsmTest, Groups);

TYPED_TEST(MsmTest, EmptyIsInfinity) {
  typename TestFixture::Packed in;
  EXPECT_TRUE(in.Fast().IsInfinity());
}

TYPED_TEST(MsmTest, OneAndTwoTerms) {
  for (const auto& p : TestFixture::HostilePoints()) {
    for (const auto& s : TestFixture::HostileScalars()) {
      typename TestFixture::Packed in;
      in.Add(p, s);
      ASSERT_EQ(in.Fast(), in.Naive());
    }
  }
  for (const auto& p : TestFixture::HostilePoints()) {
    for (const auto& q : TestFixture::HostilePoints()) {
      for (uint64_t s : {1, 2, 3}) {
        typename TestFixture::Packed in;
        in.Add(p, TypeParam::Fr::FromU64(2));
        in.Add(q, TypeParam::Fr::FromU64(s));
        ASSERT_EQ(in.Fast(), in.Naive());
      }
    }
  }
}

// Many hostile points in the same buckets, for each width in turn. Wide windows are slow: their buckets outnumber the points.
template <class TestFixture>
void ExpectWidthsAgree(int first_bits, int last_bits) {
  std::mt19937_64 rng(7);
  const auto points = TestFixture::HostilePoints();
  const auto scalars = TestFixture::HostileScalars();
  typename TestFixture::Packed in;
  for (int i = 0; i < 73; ++i) in.Add(points[rng() % points.size()], scalars[rng() % scalars.size()]);
  for (int i = 0; i < 20; ++i) in.Add(points[rng() % points.size()], TestFixture::RandomFr(rng));
  const auto expected = in.Naive();
  EXPECT_EQ(in.Fast(), expected);
  for (int bits = first_bits; bits <= last_bits; ++bits) {
    MsmOptions options;
    options.window_bits = bits;
    EXPECT_EQ(in.Fast(options), expected) << bits;
  }
}
TYPED_TEST(MsmTest, NarrowWindows) { ExpectWidthsAgree<TestFixture>(1, 10); }
// Run by ctest as msm_long_test.
TYPED_TEST(MsmTest, DISABLED_WideWindows) { ExpectWidthsAgree<TestFixture>(11, 16); }

TYPED_TEST(MsmTest, EqualScalars) {
  const auto points = TestFixture::HostilePoints();
  for (const auto& s : TestFixture::HostileScalars()) {
    typename TestFixture::Packed in;
    for (int i = 0; i < 33; ++i) in.Add(points[(i * i) % points.size()], s);
    ASSERT_EQ(in.Fast(), in.Naive());
  }
}

TYPED_TEST(MsmTest, RangesAreReportedInOrder) {
  std::mt19937_64 rng(8);
  typename TestFixture::Packed in;
  for (int i = 0; i < 50; ++i) in.Add(TestFixture::Multiple(TestFixture::RandomFr(rng)), TestFixture::RandomFr(rng));
  std::vector<std::pair<size_t, size_t>> seen;
  MsmOptions options;
  options.range = 16;
  options.range_done = [&](size_t first, size_t count) { seen.emplace_back(first, count); };
  EXPECT_EQ(in.Fast(options), in.Naive());
  EXPECT_EQ(seen, (std::vector<std::pair<size_t, size_t>>{{0, 16}, {16, 16}, {32, 16}, {48, 2}}));
}

// Points with known logarithms: a_i = i-th power of some k, built by additions; the expected sum is one scalar multiplication.
TYPED_TEST(MsmTest, KnownLogarithms) {
  using Fr = typename TypeParam::Fr;
  using F = typename TypeParam::F;
  std::mt19937_64 rng(9);
  const auto step = TestFixture::Multiple(TestFixture::RandomFr(rng));
  const size_t kCount = sizeof(F) > 48 ? 2501 : 9001;  // no multiple of anything; for G1 more than two tasks
  std::vector<Xyzz<F>> chain(kCount);
  std::vector<Affine<F>> points(kCount);
  Xyzz<F> p = Xyzz<F>::FromAffine(TypeParam::Generator());
  for (auto& c : chain) {
    c = p;
    p.AddMixed(step);
  }
  BatchToAffine<F>(chain, points);
  enum Shape { kRandom, kBits, kMostlyBits, kSmall, kEqual, kShapes };
  for (int shape = 0; shape < kShapes; ++shape) {
    const Fr equal = TestFixture::RandomFr(rng);
    typename TestFixture::Packed in;
    Fr constant = Fr::Zero(), linear = Fr::Zero();
    for (size_t i = 0; i < kCount; ++i) {
      Fr s = TestFixture::RandomFr(rng);
      if (shape == kBits || (shape == kMostlyBits && rng() % 50 != 0)) s = Fr::FromU64(rng() % 2);
      if (shape == kSmall) s = Fr::FromU64(rng() % 100000) - Fr::FromU64(50000);
      if (shape == kEqual) s = equal;
      in.Add(points[i], s);
      constant += s;
      linear += s * Fr::FromU64(i);
    }
    Xyzz<F> expected = ScalarMulFr(TypeParam::Generator(), constant);
    expected.Add(ScalarMulFr(step, linear));
    for (int threads : {1, 3}) {
      tbb::task_arena arena(threads);
      EXPECT_EQ(arena.execute([&] { return in.Fast(); }), expected) << "shape " << shape << " threads " << threads;
    }
  }
}

TYPED_TEST(MsmTest, IsLinear) {
  using Fr = typename TypeParam::Fr;
  std::mt19937_64 rng(10);
  for (size_t count : {1, 2, 3, 73, 127, 128, 129, 1025}) {
    typename TestFixture::Packed s, t, sum;
    auto p = TestFixture::Multiple(TestFixture::RandomFr(rng));
    for (size_t i = 0; i < count; ++i) {
      const Fr a = TestFixture::RandomFr(rng), b = TestFixture::RandomFr(rng);
      s.Add(p, a);
      t.Add(p, b);
      sum.Add(p, a + b);
      if (i % 16 == 0) p = TestFixture::Multiple(a);
    }
    auto left = s.Fast();
    left.Add(t.Fast());
    EXPECT_EQ(left, sum.Fast()) << count;
  }
}

}  // namespace
}  // namespace proofline
