// The digits of a scalar add up to it again, whatever the windows, and none is beyond its window's buckets.
#include "core/curve/msm_windows.h"

#include <random>

#include <gtest/gtest.h>

#include "core/field/fp.h"

namespace proofline {
namespace {

template <class FrModulus>
struct Cutting {
  using Fr = Fp<FrModulus>;
  using Folding = ScalarFolding<FrModulus>;

  std::vector<ScalarLimbs> scalars;
  BitLengthCounts counts{};

  void Add(const Fr& x) {
    const Fr canonical = x.ToCanon();
    scalars.push_back(LoadLe<ScalarLimbs>(canonical.limbs));
    if (Folding::Classify(scalars.back()) == ScalarClass::kWide)
      ++counts[BitLength(Folding::Fold(scalars.back()).magnitude)];
  }

  void ExpectDigitsAddUp(const MsmWindows& cut) const {
    for (const ScalarLimbs& s : scalars) {
      if (Folding::Classify(s) != ScalarClass::kWide) continue;
      Fr sum = Fr::Zero(), power = Fr::One();
      int bit = 0;
      for (const MsmWindow& window : cut.windows()) {
        ASSERT_EQ(window.start, bit);  // no gaps
        const uint32_t digit = cut.Digit(s, Folding::Fold(s).negative, window);
        ASSERT_LE(digit & 0x7fffffffu, window.bucket_count);
        const Fr term = Fr::FromU64(digit & 0x7fffffffu) * power;
        sum += digit >> 31 ? -term : term;
        for (; bit < window.start + window.bits; ++bit) power = power.Double();
      }
      ASSERT_EQ(sum, LoadLe<Fr>(s.data()).ToMont());
    }
  }

  void ExpectEveryCutWorks() const {
    ExpectDigitsAddUp(MsmWindows::Choose(counts, FrModulus::kValue));
    for (int bits = 1; bits <= 16; ++bits) ExpectDigitsAddUp(MsmWindows::Uniform(counts, FrModulus::kValue, bits));
  }
};

template <class FrModulus>
void TestField() {
  using Fr = Fp<FrModulus>;
  std::mt19937_64 rng(3);
  auto random_bits = [&](int bits) {
    Fr x{};
    for (int i = 0; i < bits; ++i) x.limbs[i / 64] |= (rng() & 1) << (i % 64);
    return x.ToMont();
  };
  const Fr half = Fr::FromU64(2).Inverse();  // (r+1)/2

  Cutting<FrModulus> full;
  for (int i = 0; i < 200; ++i) full.Add(random_bits(253));
  for (const Fr& x : {half, half - Fr::One(), half - Fr::FromU64(2), half + Fr::One(), -Fr::FromU64(2), Fr::FromU64(2)}) full.Add(x);
  full.ExpectEveryCutWorks();

  // All scalars short: the top window ends where they do.
  for (int bits : {2, 3, 15, 16, 17, 63, 64, 65, 127, 128, 129, 192, 250}) {
    Cutting<FrModulus> shorter;
    for (int i = 0; i < 40; ++i) {
      const Fr x = random_bits(bits);
      shorter.Add(x);
      shorter.Add(-x);
    }
    Fr power = Fr::One();
    for (int i = 0; i < bits; ++i) power = power.Double();
    shorter.Add(power - Fr::One());
    shorter.Add(-(power - Fr::One()));
    shorter.ExpectEveryCutWorks();
  }
}

TEST(MsmWindows, DigitsAddUpBn254) { TestField<Bn254FrModulus>(); }
TEST(MsmWindows, DigitsAddUpBls12381) { TestField<Bls12381FrModulus>(); }

TEST(MsmWindows, NothingToCut) {
  const BitLengthCounts none{};
  EXPECT_TRUE(MsmWindows::Choose(none, Bn254FrModulus::kValue).windows().empty());
  EXPECT_TRUE(MsmWindows::Uniform(none, Bn254FrModulus::kValue, 8).windows().empty());
}

// A million full scalars want wide windows, a hundred want narrow ones, and no window is a sliver that all points fall into.
TEST(MsmWindows, WidthsFollowTheCount) {
  for (auto [count, least, most] : {std::tuple{uint64_t{100}, 3, 9}, {uint64_t{1} << 14, 9, 13}, {uint64_t{1} << 20, 14, 16}}) {
    BitLengthCounts counts{};
    counts[253] = count / 2;
    counts[252] = count / 4;
    counts[251] = count / 4;
    const MsmWindows chosen = MsmWindows::Choose(counts, Bn254FrModulus::kValue);
    for (const MsmWindow& window : chosen.windows()) {
      EXPECT_GE(window.bits, least - 2);
      EXPECT_LE(window.bits, most);
      EXPECT_GE(window.bits, window.is_top ? least - 2 : least);
    }
  }
}

}  // namespace
}  // namespace proofline
