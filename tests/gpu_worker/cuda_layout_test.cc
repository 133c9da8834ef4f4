// What an owner's device uses is what the plan has, byte for byte, and what the command line prints.
#include "gpu_worker/cuda_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "cuda/ntt/ntt.h"

namespace proofline::gpu_worker {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

ProvingKeyView Key(CurveId curve, uint32_t log2, uint32_t n_public = 1) {
  ProvingKeyView key;
  key.curve = curve;
  key.log2_domain = log2;
  key.n_vars = static_cast<uint32_t>((uint64_t{97} << log2) / 100 + 2);
  key.n_public = std::min(n_public, key.n_vars - 1);
  return key;
}

std::vector<CudaPlace> PlacesOf(const CudaLayout& layout) {
  std::vector<CudaPlace> places(layout.points.begin(), layout.points.end());
  places.insert(places.end(), layout.work.begin(), layout.work.end());
  places.insert(places.end(), layout.sums.begin(), layout.sums.end());
  places.insert(places.end(), layout.indices.begin(), layout.indices.end());
  places.insert(places.end(), layout.digits.begin(), layout.digits.end());
  for (const CudaPlace& place : {layout.roots, layout.witness, layout.next_witness, layout.a, layout.b, layout.c, layout.next_a, layout.next_b, layout.chunks,
                                 layout.classes, layout.present})
    places.push_back(place);
  std::erase_if(places, [](const CudaPlace& place) { return place.bytes == 0; });
  return places;
}

// Every row is somebody's, every place is a row or, for the sums, a part of one; the plan ends where the last place does.
void CheckPlaces(const CudaLayout& layout) {
  const std::vector<CudaPlace> places = PlacesOf(layout);
  uint64_t end = 0;
  for (const CudaPlace& place : places) end = std::max(end, place.offset + place.bytes);
  EXPECT_LE(end, layout.plan.peak_bytes);
  EXPECT_LT(layout.plan.peak_bytes - end, cuda::kPlanAlignment);
  for (const cuda::PlannedBuffer& row : layout.plan.buffers) {
    if (row.name == cuda::buffer::kMsmSums) {
      EXPECT_EQ(layout.sums.front().offset, row.offset);
      EXPECT_EQ(layout.sums.back().offset + layout.sums.back().bytes, row.offset + row.bytes);
      continue;
    }
    EXPECT_TRUE(std::any_of(places.begin(), places.end(), [&](const CudaPlace& p) { return p.offset == row.offset && p.bytes == row.bytes; })) << row.name;
  }
  for (const CudaPlace& place : places)
    EXPECT_TRUE(std::any_of(layout.plan.buffers.begin(), layout.plan.buffers.end(), [&](const cuda::PlannedBuffer& row) {
      return place.offset >= row.offset && place.offset + place.bytes <= row.offset + row.bytes;
    })) << place.offset;
  for (const cuda::PlannedBuffer& row : layout.plan.buffers) EXPECT_EQ(row.resident, row.offset < layout.resident_end) << row.name;
}

// What the runs write fits where they write it.
void CheckRuns(const CudaLayout& layout) {
  for (int q = 0; q < kQueryCount; ++q) {
    const cuda::MsmRun& run = layout.plan.msms[static_cast<size_t>(q)];
    EXPECT_EQ(run.point_count, q == kQueryH ? uint32_t{1} << layout.plan.shape.log2_domain : layout.plan.shape.n_vars);
    EXPECT_LE(run.sums_stride * run.piece_count, layout.sums[q].bytes);
    if (run.streamed) {
      EXPECT_LE(uint64_t{run.piece_points} * cuda::MsmPointBytes(run.group), layout.chunks.bytes / 2);
      EXPECT_EQ(layout.points[q].bytes, 0u);
    } else {
      EXPECT_EQ(layout.points[q].bytes, uint64_t{run.point_count} * cuda::MsmPointBytes(run.group));
    }
    if (q != kQueryH && layout.lanes()) continue;  // whole witnesses do not happen there
    for (uint32_t i : {uint32_t{0}, run.piece_count - 1}) EXPECT_LE(cuda::PieceOf(run, i).workspace_bytes, layout.work[q].bytes);
  }
}

void CheckWitnesses(const CudaLayout& layout) {
  const uint32_t n = layout.plan.shape.n_vars;
  for (const uint32_t wide : {uint32_t{0}, uint32_t{1}, n / 1000, n / 100, n / 3, layout.plan.list_room, n}) {
    std::array<cuda::MsmPlan, kQueryCount> plans;
    const bool fits = PlanWitness(layout, {cuda::MsmClasses{wide, n - wide}, cuda::MsmClasses{wide / 4, wide / 8}}, plans);
    if (wide <= layout.plan.list_room) {
      EXPECT_TRUE(fits) << wide << " of " << n << ", room for " << layout.plan.list_room;
    }
    for (const Query q : {kQueryA, kQueryB1, kQueryB2, kQueryC}) {
      if (!fits) continue;
      EXPECT_LE(plans[q].workspace_bytes, layout.work[q].bytes) << wide;
      EXPECT_LE(plans[q].digits_bytes, layout.digits[ListOf(q)].bytes) << wide;
      EXPECT_LE(plans[q].result_bytes, layout.sums[q].bytes) << wide;
      EXPECT_EQ(plans[q].windows.size(), plans[FirstOf(ListOf(q))].windows.size());
    }
  }
}

TEST(CudaLayout, IsThePlanByteForByte) {
  std::set<int> modes;
  for (CurveId curve : {CurveId::kBn254, CurveId::kBls12381})
    for (uint32_t log2 : {0u, 1u, 12u, 20u, 24u, 27u})
      for (uint64_t arena : {137 * kGiB, 78 * kGiB, 23 * kGiB, 15 * kGiB, 3 * kGiB, kGiB / 4}) {
        const ProvingKeyView key = Key(curve, log2, 328);
        SCOPED_TRACE(StrCat("curve ", static_cast<int>(curve), " 2^", log2, " in ", cuda::FormatBytes(arena)));
        const auto plan = cuda::PlanVram(ShapeOf(key), cuda::OwnerBudgetInArena(arena));
        auto layout = LayOutProof(key, arena);
        ASSERT_EQ(layout.ok(), plan.ok());
        if (!plan.ok()) {
          EXPECT_EQ(layout.status().code(), ErrorCode::kResource);
          continue;
        }
        EXPECT_EQ(layout->plan.peak_bytes, plan->peak_bytes);
        EXPECT_LE(layout->plan.peak_bytes, arena);
        EXPECT_FALSE(plan->spill_c);
        modes.insert(static_cast<int>(plan->witness_mode));
        CheckPlaces(*layout);
        CheckRuns(*layout);
        if (layout->lists()) CheckWitnesses(*layout);
      }
  EXPECT_EQ(modes.size(), 3u);
}

// A card's plan is that of the arena which its owner gets.
TEST(CudaLayout, TheCommandLinesPlanIsTheOwners) {
  for (uint64_t card : {16 * kGiB, 24 * kGiB, 80 * kGiB, 141 * kGiB})
    for (uint32_t log2 : {14u, 22u, 26u}) {
      const ProvingKeyView key = Key(CurveId::kBls12381, log2);
      const cuda::DeviceBudget budget = cuda::OwnerBudget(card);
      const auto plan = cuda::PlanVram(ShapeOf(key), budget);
      const auto layout = LayOutProof(key, budget.capacity_bytes());
      ASSERT_TRUE(plan.ok() && layout.ok()) << log2;
      EXPECT_EQ(cuda::FormatPlan(*plan), cuda::FormatPlan(layout->plan));
      EXPECT_LT(budget.capacity_bytes(), card / 100 * 98);
    }
}

TEST(CudaLayout, LargeKeysOnALargeCard) {
  const auto layout = LayOutProof(Key(CurveId::kBls12381, 27, 328), cuda::OwnerBudget(141 * kGiB).capacity_bytes());
  ASSERT_TRUE(layout.ok());
  EXPECT_TRUE(layout->plan.streaming.sections.empty());
  EXPECT_TRUE(layout->prestages());
  EXPECT_EQ(layout->plan.witness_mode, cuda::WitnessMode::kListed);
  EXPECT_GE(layout->plan.list_room, layout->plan.shape.n_vars / 2);
  const auto smaller = LayOutProof(Key(CurveId::kBls12381, 24, 328), cuda::OwnerBudget(141 * kGiB).capacity_bytes());
  ASSERT_TRUE(smaller.ok());
  EXPECT_TRUE(smaller->lanes() && smaller->prestages());
  EXPECT_EQ(smaller->plan.method, cuda::MsmMethod::kAuto);
  EXPECT_EQ(LayOutProof(Key(CurveId::kBls12381, 22, 328), cuda::OwnerBudget(24 * kGiB).capacity_bytes())->plan.method, cuda::MsmMethod::kPlain);
}

TEST(CudaLayout, TooManySumsAreRefusedWithNumbers) {
  const auto refused = LayOutProof(Key(CurveId::kBls12381, 22), 3 * kGiB, 4096);
  EXPECT_EQ(refused.status().code(), ErrorCode::kResource);
  EXPECT_NE(refused.status().error().fact.find("room for 4096"), std::string::npos) << refused.status().ToString();
}

}  // namespace
}  // namespace proofline::gpu_worker
