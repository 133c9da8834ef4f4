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

// A tree's lists have room for what a bucket's digits leave, whatever they are: half of them, and one more in each bucket.
TEST(MsmPlan, TreesOfLongListsOnly) {
  EXPECT_EQ(PlanMsm(MsmGroup::kBls12381G1, 1 << 12).tree_rounds, 0);
  EXPECT_EQ(PlanMsm(MsmGroup::kBls12381G1, 1 << 24, 0, 0, MsmMethod::kPlain).tree_rounds, 0);
  EXPECT_EQ(PlanMsm(MsmGroup::kBn254G1, 1 << 24).tree_rounds, 0);
  for (MsmGroup group : {MsmGroup::kBls12381G1, MsmGroup::kBls12381G2})
    for (uint32_t n : {1u << 20, 1u << 24, 1u << 27}) {
      EXPECT_EQ(PlanMsm(group, n).tree_rounds > 0, group == MsmGroup::kBls12381G2 || n <= kMostTreeScalarsG1);
      const MsmPlan plan = PlanMsm(group, n, 0, 0, MsmMethod::kTree);
      ASSERT_GE(plan.tree_rounds, 2);
      ASSERT_LE(plan.tree_rounds, kMostTreeRounds);
      const MsmTreeLayout tree = LayOutMsm(plan).tree;
      EXPECT_EQ(tree.rounds, plan.tree_rounds);
      for (size_t first = 0; first < plan.windows.size(); first += plan.tree_windows) {
        uint64_t buckets = 0, windows = 0;
        for (size_t w = first; w < std::min(first + plan.tree_windows, plan.windows.size()); ++w, ++windows) buckets += plan.windows[w].buckets;
        uint64_t length = windows * n;
        EXPECT_LE(length, tree.capacity[0]);
        for (int r = 0; r < tree.rounds; ++r) {
          const MsmTreeRound round = TreeRound(tree, r);
          EXPECT_GE(2 * round.pairs, tree.capacity[r]);
          EXPECT_GE(round.threads * round.pairs_each, round.pairs);
          EXPECT_GE(uint64_t{round.totals_each} * ((round.threads + round.totals_each - 1) / round.totals_each), round.threads);
          length = std::min(length, length / 2 + buckets);
          EXPECT_LE(length, tree.capacity[r + 1]) << "round " << r;
        }
      }
    }
}

// Fewer values with digits never need more than all of them.
TEST(MsmPlan, AWitnessWithZerosAndOnesNeedsNoMoreRoom) {
  for (MsmGroup group : kGroups)
    for (uint32_t n : {1u << 12, 1u << 18, 1u << 24}) {
      const MsmPlan full = PlanMsmOfClasses(group, {n, 0});
      for (uint32_t share = 0; share <= 16; ++share) {
        const uint32_t wide = n / 16 * share;
        for (const MsmMethod method : {MsmMethod::kAuto, MsmMethod::kPlain}) {
          const MsmPlan plan = PlanMsmOfClasses(group, {wide, n - wide}, 0, method);
          EXPECT_LE(plan.workspace_bytes, full.workspace_bytes) << n << " " << wide << " rounds " << plan.tree_rounds;
          EXPECT_LE(plan.digits_bytes, full.digits_bytes) << n << " " << wide;
        }
      }
    }
}

}  // namespace
}  // namespace proofline::cuda
