// FixedBaseTable against double-and-add.
#include "core/curve/fixed_base.h"

#include <random>

#include <gtest/gtest.h>

#include "core/curve/curve.h"

namespace proofline {
namespace {

template <class Fr, class F>
void ExpectAgrees(const Affine<F>& base) {
  std::mt19937_64 rng(1);
  const Fr half = Fr::FromU64(2).Inverse();
  std::vector<Fr> scalars = {Fr::Zero(), Fr::One(), -Fr::One(), half, half - Fr::One(), Fr::FromU64(2)};
  for (uint64_t k : {511, 512, 513, 1023, 1024, 1025}) scalars.push_back(Fr::FromU64(k));
  for (int i = 0; i < 30; ++i) {
    Fr x;
    for (uint64_t& limb : x.limbs) limb = rng();
    x.limbs[3] %= Fr::Modulus::kValue[3];
    scalars.push_back(x);
  }
  const std::vector<Affine<F>> products = FixedBaseMul<Fr, F>(base, scalars);
  for (size_t i = 0; i < scalars.size(); ++i) EXPECT_EQ(products[i], ScalarMulFr(base, scalars[i]).ToAffine()) << i;
  EXPECT_TRUE((FixedBaseMul<Fr, F>(base, {})).empty());
}

TEST(FixedBase, Bn254) {
  using Curve = Bn254<PortableArith>;
  ExpectAgrees<Curve::Fr>(Curve::Generator1());
  ExpectAgrees<Curve::Fr>(Curve::Generator2());
}

TEST(FixedBase, Bls12381) {
  using Curve = Bls12381<PortableArith>;
  ExpectAgrees<Curve::Fr>(Curve::Generator1());
  ExpectAgrees<Curve::Fr>(Curve::Generator2());
}

// More scalars than one block, with many equal ones.
TEST(FixedBase, ManyBlocks) {
  using Curve = Bn254<PortableArith>;
  std::vector<Curve::Fr> scalars;
  for (uint64_t i = 0; i < 5000; ++i) scalars.push_back(Curve::Fr::FromU64(i % 700));
  const auto products = FixedBaseMul<Curve::Fr, Curve::Fq>(Curve::Generator1(), scalars);
  Xyzz<Curve::Fq> expected = Xyzz<Curve::Fq>::Infinity();
  for (uint64_t i = 0; i < 700; ++i, expected.AddMixed(Curve::Generator1())) {
    for (uint64_t j = i; j < 5000; j += 700) ASSERT_EQ(Xyzz<Curve::Fq>::FromAffine(products[j]), expected) << j;
  }
}

}  // namespace
}  // namespace proofline
