// Plans whose digits are apart (PlanMsmOfClasses); the others are tested with cuda/plan.
#include <gtest/gtest.h>

#include "cuda/msm/msm_layout.h"

namespace proofline::cuda {
namespace {

constexpr MsmGroup kGroups[] = {MsmGroup::kBn254G1, MsmGroup::kBn254G2, MsmGroup::kBls12381G1, MsmGroup::kBls12381G2};

TEST(MsmPlan, WindowsOfClassesCoverTheScalars) {
  for (MsmGroup group : kGroups)
    for (uint32_t wide : {0u, 1u, 1000u, 1u << 16, 1u << 24, 1u << 27}) {
      const MsmPlan plan = PlanMsmOfClasses(group, {wide, 77});
      const int bits = group == MsmGroup::kBn254G1 || group == MsmGroup::kBn254G2 ? 253 : 254;
      ASSERT_FALSE(plan.windows.empty());
      EXPECT_LE(plan.windows.size(), kMsmMostWindows) << wide;
      int next_bit = 0;
      uint32_t next_bucket = 0;
      for (const MsmWindow& window : plan.windows) {
        EXPECT_EQ(window.first_bit, next_bit);
        EXPECT_EQ(window.first_bucket, next_bucket);
        next_bit += window.bits;
        next_bucket += window.buckets;
      }
      EXPECT_EQ(next_bit, bits);
      EXPECT_EQ(next_bucket, plan.bucket_count);
      EXPECT_FALSE(plan.windows.back().is_signed);
    }
}

TEST(MsmPlan, BothGroupsOfACurveReadTheSameDigits) {
  for (uint32_t wide : {0u, 5u, 123456u, 1u << 24}) {
    const MsmPlan g1 = PlanMsmOfClasses(MsmGroup::kBls12381G1, {wide, wide / 2}), g2 = PlanMsmOfClasses(MsmGroup::kBls12381G2, {wide, wide / 2});
    ASSERT_EQ(g1.windows.size(), g2.windows.size());
    EXPECT_EQ(g1.digits_bytes, g2.digits_bytes);
    const MsmDigitsLayout a = LayOutMsmDigits(g1), b = LayOutMsmDigits(g2);
    EXPECT_EQ(a.keys[1], b.keys[1]);
    EXPECT_EQ(a.values[1], b.values[1]);
    EXPECT_EQ(a.entries, uint64_t{wide} * g1.windows.size() + wide / 2);
  }
}

TEST(MsmPlan, DigitsApartTakeNoRoomInTheWorkspace) {
  const uint32_t n = 1 << 20;
  const MsmPlan whole = PlanMsm(MsmGroup::kBn254G1, n), apart = PlanMsmOfClasses(MsmGroup::kBn254G1, {n, 0});
  EXPECT_EQ(whole.windows.size(), apart.windows.size());
  EXPECT_EQ(apart.workspace_bytes + apart.digits_bytes, whole.workspace_bytes);
  EXPECT_EQ(whole.digits_bytes, 0u);
}

// Fewer values with digits never need more than all of them.
TEST(MsmPlan, AWitnessWithZerosAndOnesNeedsNoMoreRoom) {
  for (MsmGroup group : kGroups)
    for (uint32_t n : {1u << 12, 1u << 18, 1u << 24}) {
      const MsmPlan full = PlanMsmOfClasses(group, {n, 0});
      for (uint32_t share = 0; share <= 16; ++share) {
        const uint32_t wide = n / 16 * share;
        const MsmPlan plan = PlanMsmOfClasses(group, {wide, n - wide});
        EXPECT_LE(plan.workspace_bytes, full.workspace_bytes) << n << " " << wide;
        EXPECT_LE(plan.digits_bytes, full.digits_bytes) << n << " " << wide;
      }
    }
}

}  // namespace
}  // namespace proofline::cuda
