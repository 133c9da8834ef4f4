// Prime fields: published constants, ring laws on hostile values, AdxArith against PortableArith, inversion against Fermat.
#include "core/field/fp.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/field/arith.h"
#include "core/field/hex.h"
#include "tests/core/field/hostile.h"

namespace proofline {
namespace {

using Moduli = testing::Types<Bn254FqModulus, Bn254FrModulus, Bls12381FqModulus, Bls12381FrModulus>;

template <class M>
class FpTest : public testing::Test {
 protected:
  using Portable = Fp<M, PortableArith>;
  FpTest() : seed_(FreshSeed()), rng_(seed_), trace_(__FILE__, __LINE__, "seed " + std::to_string(seed_)) {}
  uint64_t seed_;
  std::mt19937_64 rng_;
  testing::ScopedTrace trace_;
};
TYPED_TEST_SUITE(FpTest, Moduli);

// Schoolbook product, then reduction bit by bit: shares nothing with either multiplication. Canonical in and out.
template <class M>
std::array<uint64_t, M::kLimbs> SlowMul(const std::array<uint64_t, M::kLimbs>& a, const std::array<uint64_t, M::kLimbs>& b) {
  constexpr size_t N = M::kLimbs;
  std::array<uint64_t, N> r{};
  auto add = [](const std::array<uint64_t, N>& x, const std::array<uint64_t, N>& y) {
    std::array<uint64_t, N> s;
    unsigned char carry = 0;
    for (size_t i = 0; i < N; ++i) {
      uint128 t = static_cast<uint128>(x[i]) + y[i] + carry;
      s[i] = static_cast<uint64_t>(t);
      carry = static_cast<unsigned char>(t >> 64);
    }
    if (carry || !field_detail::Less(s, M::kValue)) {
      unsigned char borrow = 0;
      for (size_t i = 0; i < N; ++i) {
        uint128 t = static_cast<uint128>(s[i]) - M::kValue[i] - borrow;
        s[i] = static_cast<uint64_t>(t);
        borrow = static_cast<unsigned char>((t >> 64) & 1);
      }
    }
    return s;
  };
  for (size_t i = N * 64; i-- > 0;) {
    r = add(r, r);
    if ((b[i / 64] >> (i % 64)) & 1) r = add(r, a);
  }
  return r;
}

TYPED_TEST(FpTest, MultiplicationAgainstSchoolbook) {
  using F = typename TestFixture::Portable;
  std::vector<F> values = HostileElements<F>(this->rng_, 8);
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i; j < values.size(); j += 7) {
      std::array<uint64_t, F::kLimbs> a, b;
      values[i].StoreMont(a.data());
      values[j].StoreMont(b.data());
      F want = F::FromRaw(SlowMul<TypeParam>(a, b));
      EXPECT_EQ((values[i].ToMont() * values[j].ToMont()).ToCanon(), want) << i << " " << j;
    }
  }
}

TYPED_TEST(FpTest, AdxGivesTheSameBytes) {
  if (!CpuHasAdx()) GTEST_SKIP() << "no ADX on this processor";
  using F = typename TestFixture::Portable;
  using G = Fp<TypeParam, AdxArith>;
  std::vector<F> values = HostileElements<F>(this->rng_, 200);
  auto same = [](const F& f, const G& g) { return std::memcmp(&f, &g, sizeof f) == 0; };
  for (const F& a : values) {
    G ga = G::LoadMont(&a);
    ASSERT_TRUE(same(-a, -ga));
    ASSERT_TRUE(same(a.Double(), ga.Double()));
    ASSERT_TRUE(same(a.Square(), ga.Square()));
    ASSERT_TRUE(same(a.ToCanon(), ga.ToCanon()));
    for (const F& b : values) {
      G gb = G::LoadMont(&b);
      ASSERT_TRUE(same(a * b, ga * gb));
      ASSERT_TRUE(same(a + b, ga + gb));
      ASSERT_TRUE(same(a - b, ga - gb));
    }
  }
}

template <class F>
void CheckRingLaws(const std::vector<F>& values) {
  const F one = F::One(), zero = F::Zero();
  for (const F& a : values) {
    ASSERT_TRUE(F::IsReduced(&a));
    ASSERT_EQ(a + zero, a);
    ASSERT_EQ(a * one, a);
    ASSERT_EQ(a * zero, zero);
    ASSERT_EQ(a - a, zero);
    ASSERT_EQ(a + (-a), zero);
    ASSERT_EQ(-(-a), a);
    ASSERT_EQ(a.Double(), a + a);
    ASSERT_EQ(a.Square(), a * a);
    ASSERT_EQ(a.ToCanon().ToMont(), a);
    ASSERT_EQ(F::LoadCanon(&a).ToCanon(), a);
    F inverse = a.Inverse();
    ASSERT_EQ(inverse, a.InverseFermat());
    ASSERT_EQ(a * inverse, a.IsZero() ? zero : one);
    for (const F& b : values) {
      F sum = a + b;
      ASSERT_TRUE(F::IsReduced(&sum));
      F product = a * b;
      ASSERT_TRUE(F::IsReduced(&product));
      ASSERT_EQ(product, b * a);
      ASSERT_EQ(sum - b, a);
      ASSERT_EQ(sum.Square(), a.Square() + product.Double() + b.Square());
      ASSERT_EQ(sum * (a - b), a.Square() - b.Square());
      F c = a;  // in place, aliased
      c *= b;
      ASSERT_EQ(c, product);
      c = a;
      const F& same = c;
      c -= same;
      ASSERT_EQ(c, zero);
    }
  }
}

TYPED_TEST(FpTest, RingLawsPortable) {
  CheckRingLaws(HostileElements<Fp<TypeParam, PortableArith>>(this->rng_, 20));
}

TYPED_TEST(FpTest, RingLawsAdx) {
  if (!CpuHasAdx()) GTEST_SKIP() << "no ADX on this processor";
  CheckRingLaws(HostileElements<Fp<TypeParam, AdxArith>>(this->rng_, 20));
}

TYPED_TEST(FpTest, ManyInversions) {
  using F = typename TestFixture::Portable;
  for (int i = 0; i < 2000; ++i) {
    F a = F::FromRaw(RandomLimbs<TypeParam>(this->rng_));
    ASSERT_EQ(a * a.Inverse(), F::One());
  }
}

TYPED_TEST(FpTest, BatchInversionSkipsZeros) {
  using F = typename TestFixture::Portable;
  for (size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{73}}) {
    std::vector<F> values = HostileElements<F>(this->rng_, 80);
    values.resize(n);
    if (n > 2) values[n - 1] = F::Zero();
    std::vector<F> inverted = values, scratch(n);
    BatchInvert(std::span<F>(inverted), std::span<F>(scratch));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(inverted[i], values[i].Inverse()) << i;
  }
}

TYPED_TEST(FpTest, IsReducedAtTheBorder) {
  using F = typename TestFixture::Portable;
  std::array<uint64_t, F::kLimbs> p = TypeParam::kValue;
  EXPECT_FALSE(F::IsReduced(p.data()));
  std::array<uint64_t, F::kLimbs> below = LimbsSub(p, 1);
  EXPECT_TRUE(F::IsReduced(below.data()));
  p[0] += 1;
  EXPECT_FALSE(F::IsReduced(p.data()));
  std::array<uint64_t, F::kLimbs> ones;
  ones.fill(~uint64_t{0});
  EXPECT_FALSE(F::IsReduced(ones.data()));
}

// Bytes at odd addresses, as they come out of a mapped file.
TYPED_TEST(FpTest, UnalignedBytes) {
  using F = typename TestFixture::Portable;
  std::array<uint8_t, F::kBytes + 1> buffer{};
  F a = F::FromRaw(RandomLimbs<TypeParam>(this->rng_));
  a.StoreMont(buffer.data() + 1);
  EXPECT_EQ(F::LoadMont(buffer.data() + 1), a);
  a.StoreCanon(buffer.data() + 1);
  EXPECT_EQ(F::LoadCanon(buffer.data() + 1), a);
}

// 2^(64 N) and 2^(128 N) modulo p and -1/p modulo 2^64, as printed in the sources of arkworks-rs/curves and zkcrypto/bls12_381.
TEST(FpConstants, PublishedMontgomeryConstants) {
  EXPECT_EQ((Fp<Bn254FqModulus>::kR),
            HexLimbs<4>("0e0a77c19a07df2f666ea36f7879462c0a78eb28f5c70b3dd35d438dc58f0d9d"));
  EXPECT_EQ((Fp<Bn254FrModulus>::kR),
            HexLimbs<4>("0e0a77c19a07df2f666ea36f7879462e36fc76959f60cd29ac96341c4ffffffb"));
  EXPECT_EQ((Fp<Bls12381FqModulus>::kR), HexLimbs<6>("15f65ec3fa80e4935c071a97a256ec6d77ce5853705257455f48985753c758ba"
                                                     "ebf4000bc40c0002760900000002fffd"));
  EXPECT_EQ((Fp<Bls12381FqModulus>::kR2), HexLimbs<6>("11988fe592cae3aa9a793e85b519952d67eb88a9939d83c08de5476c4c95b6d5"
                                                      "0a76e6a609d104f1f4df1f341c341746"));
  EXPECT_EQ((Fp<Bls12381FrModulus>::kR),
            HexLimbs<4>("1824b159acc5056f998c4fefecbc4ff55884b7fa0003480200000001fffffffe"));
  EXPECT_EQ((Fp<Bls12381FrModulus>::kR2),
            HexLimbs<4>("0748d9d99f59ff1105d314967254398f2b6cedcb87925c23c999e990f3f29c6d"));
  EXPECT_EQ(NegInverse(Bls12381FqModulus::kValue[0]), 0x89f3fffcfffcfffd);
  EXPECT_EQ(NegInverse(Bn254FqModulus::kValue[0]), 0x87d20782e4866389);
  EXPECT_EQ(NegInverse(Bn254FrModulus::kValue[0]), 0xc2e1f593efffffff);
}

// 5 is a non-residue and generates the group of roots of unity: g^((r-1)/2^s) has order exactly 2^s. The root of BLS12-381's Fr for the
// generator 7 is printed in zkcrypto/bls12_381; the one here differs, its order does not.
template <class M>
void CheckTwoAdicity() {
  using F = Fp<M>;
  auto exponent = LimbsSub(M::kValue, 1);
  for (int i = 0; i < M::kTwoAdicity; ++i) {
    EXPECT_EQ(exponent[0] & 1, 0u);
    exponent = LimbsDiv(exponent, 2);
  }
  EXPECT_EQ(exponent[0] & 1, 1u);
  F root = F::FromU64(M::kNonResidue).Pow(exponent);
  for (int i = 0; i + 1 < M::kTwoAdicity; ++i) root *= root;
  EXPECT_EQ(root, -F::One());
}

TEST(FpConstants, RootsOfUnity) {
  CheckTwoAdicity<Bn254FrModulus>();
  CheckTwoAdicity<Bls12381FrModulus>();
}

}  // namespace
}  // namespace proofline
