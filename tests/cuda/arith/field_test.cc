// The shared source of the device's arithmetic, compiled for the host, against its twins in core: the same bytes for every operation.
#include "cuda/arith/field.cuh"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "core/curve/curve.h"
#include "cuda/arith/inverse.cuh"
#include "cuda/arith/point.cuh"

namespace proofline::cuda {
namespace {

template <class To, class From>
To Same(const From& x) {
  static_assert(sizeof(To) == sizeof(From));
  To y;
  std::memcpy(static_cast<void*>(&y), &x, sizeof y);
  return y;
}

// 0, 1, 2, p - 1, p - 2, the ends of every word, all ones below the modulus' highest word, and random values.
template <class M>
std::vector<Fp<M>> Values() {
  using F = Fp<M>;
  std::vector<F> values = {F::Zero(), F::One(), -F::One()};
  const auto add = [&](const auto& limbs) {
    F x;
    for (int i = 0; i < M::kLimbs; ++i) x.limbs[i] = limbs[i];
    values.push_back(x);
  };
  auto p = M::kValue;
  for (uint64_t below : {1, 2}) {
    auto x = p;
    x[0] -= below;
    add(x);
  }
  auto ones = p;
  for (int i = 0; i + 1 < M::kLimbs; ++i) ones[i] = ~uint64_t{0};
  ones[M::kLimbs - 1] -= 1;
  add(ones);
  for (int bit = 0; bit < 64 * M::kLimbs - 8; bit += 31) {
    auto x = p;
    x.fill(0);
    x[bit / 64] = uint64_t{1} << (bit % 64);
    add(x);
  }
  std::mt19937_64 g(7);
  for (int k = 0; k < 200; ++k) {
    auto x = p;
    for (uint64_t& limb : x) limb = k % 4 == 0 && g() % 2 ? ~uint64_t{0} : g();
    x[M::kLimbs - 1] %= p[M::kLimbs - 1];
    add(x);
  }
  return values;
}

template <class M>
class FieldTest : public ::testing::Test {};
using Moduli = ::testing::Types<Bn254FqModulus, Bn254FrModulus, Bls12381FqModulus, Bls12381FrModulus>;
TYPED_TEST_SUITE(FieldTest, Moduli);

TYPED_TEST(FieldTest, ProductsSquaresAndSums) {
  using Twin = Fp<TypeParam>;
  using F = Field<TypeParam>;
  const std::vector<Twin> values = Values<TypeParam>();
  for (const Twin& a : values) {
    const F x = Same<F>(a);
    ASSERT_EQ(Same<Twin>(x.Square()), a * a);
    for (const Twin& b : values) {
      const F y = Same<F>(b);
      ASSERT_EQ(Same<Twin>(x * y), a * b);
      ASSERT_EQ(Same<Twin>(x + y), a + b);
      ASSERT_EQ(Same<Twin>(x - y), a - b);
    }
  }
}

TYPED_TEST(FieldTest, Inverses) {
  using Twin = Fp<TypeParam>;
  using F = Field<TypeParam>;
  std::vector<Twin> values = Values<TypeParam>();
  std::mt19937_64 g(11);
  for (int k = 0; k < 3000; ++k) values.push_back(values[g() % values.size()] * values[g() % values.size()] + values[g() % values.size()]);
  for (const Twin& a : values) ASSERT_EQ(Same<Twin>(Inverse(Same<F>(a))), a.Inverse());
}

TYPED_TEST(FieldTest, TwoProductsUnderOneReduction) {
  using Twin = Fp<TypeParam>;
  using F = Field<TypeParam>;
  const std::vector<Twin> values = Values<TypeParam>();
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      const Twin &a = values[i], &b = values[j], &c = values[(i * 5 + j * 3) % n], &d = values[(i + j * 7) % n];
      ASSERT_EQ(Same<Twin>(F::SumOfProducts(Same<F>(a), Same<F>(b), Same<F>(c), Same<F>(d))), a * b + c * d);
      ASSERT_EQ(Same<Twin>(F::DifferenceOfProducts(Same<F>(a), Same<F>(b), Same<F>(c), Same<F>(d))), a * b - c * d);
      ASSERT_EQ(Same<Twin>(F::DifferenceOfProducts(Same<F>(a), Same<F>(b), Same<F>(a), Same<F>(b))), Twin::Zero());
    }
}

template <class Curve>
class ExtensionTest : public ::testing::Test {};
using Curves = ::testing::Types<Bn254<PortableArith>, Bls12381<PortableArith>>;
TYPED_TEST_SUITE(ExtensionTest, Curves);

TYPED_TEST(ExtensionTest, ProductsAndSquares) {
  using M = typename TypeParam::Fq::Modulus;
  using Twin = typename TypeParam::G2::Field;
  using F = Field2<Field<M>>;
  const auto values = Values<M>();
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      const Twin a{values[i], values[j]}, b{values[(i * 5 + j * 3) % n], values[(i + j * 7) % n]};
      ASSERT_EQ(Same<Twin>(Same<F>(a) * Same<F>(b)), a * b);
      ASSERT_EQ(Same<Twin>(Same<F>(a).Square()), a * a);
      if (i == j && !(a == Twin::Zero())) {
        ASSERT_EQ(Same<Twin>(Inverse(Same<F>(a)) * Same<F>(a)), Twin::One());
      }
      ASSERT_EQ(Same<Twin>(F::DifferenceOfProducts(Same<F>(a), Same<F>(b), Same<F>(b), Same<F>(b))), a * b - b * b);
    }
}

// A walk of sums and doublings, the exceptional ones included, on both sides.
template <class F, class Point, class Sum>
void Walk(const Point& generator) {
  const auto g = Same<Affine<F>>(generator);
  auto sum = Xyzz<F>::Infinity();
  Sum twin = Sum::Infinity();
  const auto same = [&] { return Same<Sum>(sum).ToAffine() == twin.ToAffine(); };
  for (int step = 0; step < 40; ++step) {
    sum.AddMixed(g);
    twin.AddMixed(generator);
    ASSERT_TRUE(same()) << step;
    if (step % 3 == 1) {
      sum = sum.Double();
      twin = twin.Double();
    }
    if (step % 5 == 2) {
      const auto copy = sum;
      sum.Add(copy);
      const auto twin_copy = twin;
      twin.Add(twin_copy);
    }
    ASSERT_TRUE(same()) << step;
  }
  Affine<F> minus = g;
  minus.y = -minus.y;
  auto zero = Xyzz<F>::FromAffine(g);
  zero.AddMixed(minus);
  EXPECT_TRUE(zero.IsInfinity());
}

TYPED_TEST(ExtensionTest, Points) {
  using B = Field<typename TypeParam::Fq::Modulus>;
  Walk<B, typename TypeParam::G1, proofline::Xyzz<typename TypeParam::G1::Field>>(TypeParam::Generator1());
  Walk<Field2<B>, typename TypeParam::G2, proofline::Xyzz<typename TypeParam::G2::Field>>(TypeParam::Generator2());
}

}  // namespace
}  // namespace proofline::cuda
