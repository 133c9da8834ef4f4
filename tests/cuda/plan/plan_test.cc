// The memory planner: every plan it makes is consistent, what does not fit is refused with numbers, more memory is never worse.
#include "cuda/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/text.h"
#include "cuda/ntt/ntt.h"

namespace proofline::cuda {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kClasses[] = {16 * kGiB, 24 * kGiB, 80 * kGiB, 141 * kGiB};

DeviceBudget Card(uint64_t bytes) { return {.vram_bytes = bytes}; }

// Rows from the slot, all points there, as in a .zkey.
CircuitShape Plain(CurveId curve, uint32_t log2_domain) {
  const auto n_vars = static_cast<uint32_t>((uint64_t{97} << log2_domain) / 100 + 2);
  return {.curve = curve, .log2_domain = log2_domain, .n_vars = n_vars, .n_public = 1};
}
// The large circuit of the design: a quarter of the variables have a point in B, the witness is compact, rows are computed on the device.
CircuitShape Prepared(CurveId curve, uint32_t log2_domain) {
  CircuitShape shape = Plain(curve, log2_domain);
  shape.b_points = shape.n_vars / 4;
  shape.nnz_a = (uint64_t{23} << log2_domain) / 10;
  shape.nnz_b = uint64_t{1} << log2_domain;
  shape.prepared = shape.compact_witness = shape.rows_on_device = true;
  shape.wide_ppm = 400'000;
  return shape;
}

std::vector<CircuitShape> AllShapes(uint32_t log2_domain) {
  std::vector<CircuitShape> shapes;
  for (CurveId curve : {CurveId::kBn254, CurveId::kBls12381})
    for (bool prepared : {false, true})
      for (bool compact : {false, true})
        for (bool rows_on_device : {false, true})
          for (bool sparse : {false, true}) {
            CircuitShape shape = Prepared(curve, log2_domain);
            shape.prepared = prepared;
            shape.compact_witness = compact;
            shape.rows_on_device = rows_on_device;
            if (!sparse) shape.b_points = 0;
            shapes.push_back(shape);
          }
  return shapes;
}

std::string Name(const CircuitShape& s, uint64_t vram) {
  return StrCat("curve ", static_cast<int>(s.curve), " 2^", s.log2_domain, s.prepared ? " prepared" : " plain", s.compact_witness ? " compact" : " dense",
                s.rows_on_device ? " rows on device" : "", s.b_points ? " sparse B" : "", ", ", FormatBytes(vram));
}

// What an executor relies on, apart from places.
void CheckRuns(const VramPlan& plan) {
  ASSERT_EQ(plan.msms.size(), 5u);
  const PlannedBuffer* work = plan.Find(buffer::kMsmWork);
  const PlannedBuffer* sums = plan.Find(buffer::kMsmSums);
  ASSERT_TRUE(work && sums);
  uint64_t sums_end = 0;
  for (const MsmRun& run : plan.msms) {
    EXPECT_NE(run.streamed, plan.Find(run.points) != nullptr && run.point_count != 0) << run.points;
    uint64_t points = 0;
    for (uint32_t i = 0; i < run.piece_count; ++i) {
      const MsmPlan piece = PieceOf(run, i);
      points += piece.n;
      EXPECT_LE(piece.workspace_bytes, work->bytes);
      EXPECT_LE(piece.result_bytes, run.sums_stride);
      EXPECT_LE(uint64_t{piece.n} * piece.windows_at_once, UINT32_MAX);
      EXPECT_GE(SumsOffset(run, i), sums_end);
      sums_end = SumsOffset(run, i) + run.sums_stride;
      if (run.streamed) {
        EXPECT_LE(uint64_t{piece.n} * MsmPointBytes(run.group), plan.Find(buffer::kPointChunks)->bytes / 2);
      }
    }
    EXPECT_EQ(points, run.point_count) << run.points;
  }
  EXPECT_EQ(sums_end, sums->bytes);
}

TEST(PlanVram, EveryShapeOnEveryClass) {
  int made = 0;
  for (uint32_t log2 : {1u, 14u, 18u, 22u, 24u, 26u, 27u})
    for (const CircuitShape& shape : AllShapes(log2))
      for (uint64_t vram : kClasses) {
        SCOPED_TRACE(Name(shape, vram));
        const auto plan = PlanVram(shape, Card(vram));
        // The witness stays from its use for the rows to its MSMs, beside two vectors and the twiddles: 15.87 GiB.
        if (log2 == 27 && vram == kClasses[0] && shape.rows_on_device && !shape.compact_witness) {
          EXPECT_EQ(plan.status().code(), ErrorCode::kResource);
          continue;
        }
        ASSERT_TRUE(plan.ok()) << plan.status().ToString();
        EXPECT_EQ(plan->capacity_bytes, vram / 100 * 98 + vram % 100 * 98 / 100);
        ASSERT_TRUE(CheckPlan(*plan, plan->capacity_bytes).ok()) << CheckPlan(*plan, plan->capacity_bytes).ToString();
        CheckRuns(*plan);
        EXPECT_EQ(plan->prestage.planned, plan->Find(buffer::kNextWitness) != nullptr);
        EXPECT_EQ(plan->prestage.planned && !shape.rows_on_device, plan->Find(buffer::kNextRowsA) != nullptr);
        ++made;
      }
  EXPECT_EQ(made, 7 * 32 * 4 - 8);
}

TEST(PlanVram, SizesAreThoseOfTheirContents) {
  const auto plan = PlanVram(Plain(CurveId::kBls12381, 20), Card(24 * kGiB));
  ASSERT_TRUE(plan.ok());
  const uint64_t n = 1 << 20, v = plan->shape.n_vars;
  const std::pair<std::string_view, uint64_t> want[] = {
      {buffer::kKeyH, 96 * n},    {buffer::kKeyA, 96 * v},      {buffer::kKeyB1, 96 * v},     {buffer::kKeyB2, 192 * v},
      {buffer::kKeyC, 96 * v},       {buffer::kWitness, 32 * v},   {buffer::kRowsA, 32 * n},     {buffer::kRowsB, 32 * n},
      {buffer::kRowsC, 32 * n},   {buffer::kTwiddles, NttTableBytes(20)}, {buffer::kNextWitness, 32 * v}, {buffer::kNextRowsA, 32 * n}};
  for (const auto& [name, bytes] : want) {
    ASSERT_NE(plan->Find(name), nullptr) << name;
    EXPECT_EQ(plan->Find(name)->bytes, bytes) << name;
  }
  EXPECT_EQ(plan->input_bytes, 32 * v + 64 * n);
  EXPECT_EQ(plan->Find("nothing of this name"), nullptr);
  EXPECT_GE(plan->Find(buffer::kMsmWork)->bytes, PlanMsm(MsmGroup::kBls12381G2, v, 0, 0, MsmMethod::kPlain).workspace_bytes);
}

TEST(PlanVram, LargestCircuits) {
  for (CurveId curve : {CurveId::kBn254, CurveId::kBls12381}) {
    for (const CircuitShape& shape : {Plain(curve, 27), Prepared(curve, 27)}) {
      const auto plan = PlanVram(shape, Card(141 * kGiB));
      ASSERT_TRUE(plan.ok());
      EXPECT_TRUE(plan->streaming.sections.empty());
      EXPECT_EQ(plan->streaming.bytes_per_proof, 0u);
      EXPECT_TRUE(plan->prestage.planned);
    }
    const auto middle = PlanVram(Prepared(curve, 27), Card(80 * kGiB));
    ASSERT_TRUE(middle.ok());
    EXPECT_TRUE(middle->streaming.sections.empty());
    EXPECT_TRUE(middle->prestage.planned);
  }
  for (uint64_t vram : {16 * kGiB, 24 * kGiB}) {
    const auto plan = PlanVram(Prepared(CurveId::kBls12381, 27), Card(vram));
    ASSERT_TRUE(plan.ok());
    EXPECT_TRUE(plan->prestage.planned);
    EXPECT_FALSE(plan->streaming.sections.empty());
    EXPECT_GT(plan->streaming.bytes_per_proof, 20 * kGiB);
    EXPECT_NEAR(plan->streaming.link_ms, plan->streaming.bytes_per_proof / 25e6, 1);
    EXPECT_LE(plan->streaming.exposed_ms, plan->streaming.link_ms);
  }
}

TEST(PlanVram, AFasterLinkHidesMore) {
  DeviceBudget slow = Card(24 * kGiB), fast = slow;
  slow.pcie_bytes_per_s = 1e9;
  fast.pcie_bytes_per_s = 1e12;
  const auto a = PlanVram(Plain(CurveId::kBls12381, 27), slow), b = PlanVram(Plain(CurveId::kBls12381, 27), fast);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->streaming.bytes_per_proof, b->streaming.bytes_per_proof);
  EXPECT_GT(a->streaming.exposed_ms, 1000);
  EXPECT_NE(a->streaming.text.find("not hidden"), std::string::npos) << a->streaming.text;
  EXPECT_LT(b->streaming.exposed_ms, b->streaming.link_ms);
}

TEST(PlanVram, ThirdVectorWaitsInHostMemoryWhereThereIsNoRoom) {
  const auto plan = PlanVram(Plain(CurveId::kBls12381, 27), Card(16 * kGiB));
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->spill_c);
  EXPECT_EQ(plan->Find(buffer::kRowsC), nullptr);
  ASSERT_NE(plan->Find(buffer::kPointChunks), nullptr);
  EXPECT_EQ(plan->Find(buffer::kPointChunks)->first, PlanPhase::kTransform);
  const auto larger = PlanVram(Plain(CurveId::kBls12381, 27), Card(24 * kGiB));
  ASSERT_TRUE(larger.ok());
  EXPECT_FALSE(larger->spill_c);
  EXPECT_NE(larger->Find(buffer::kRowsC), nullptr);
}

TEST(PlanVram, SaysWhyThereIsNoPrestaging) {
  const auto plan = PlanVram(Plain(CurveId::kBls12381, 27), Card(24 * kGiB));
  ASSERT_TRUE(plan.ok());
  EXPECT_FALSE(plan->prestage.planned);
  EXPECT_GT(plan->prestage.needs_bytes, plan->capacity_bytes);
  EXPECT_EQ(plan->prestage.text, StrCat("no pre-staging: needs ", FormatBytes(plan->prestage.needs_bytes), ", has ", FormatBytes(plan->capacity_bytes)));
  // And it is true: with that much there is.
  DeviceBudget enough = Card(plan->prestage.needs_bytes);
  enough.share_ppm = 1'000'000;
  EXPECT_TRUE(PlanVram(plan->shape, enough)->prestage.planned);

  DeviceBudget unwilling = Card(141 * kGiB);
  unwilling.prestage = false;
  const auto without = PlanVram(Plain(CurveId::kBls12381, 20), unwilling);
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->Find(buffer::kNextWitness), nullptr);
  EXPECT_EQ(without->prestage.text, "no pre-staging: the owner does not ask for it");
}

TEST(PlanVram, RefusesWithNumbers) {
  const auto plan = PlanVram(Plain(CurveId::kBls12381, 27), Card(8 * kGiB));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), ErrorCode::kResource);
  const Error& error = plan.status().error();
  EXPECT_NE(error.fact.find("does not fit on this device: needs 12."), std::string::npos) << error.fact;
  EXPECT_NE(error.fact.find("has 7.83 GiB"), std::string::npos) << error.fact;
  EXPECT_NE(error.detail.find("rows.a 4.00 GiB"), std::string::npos) << error.detail;
  EXPECT_NE(error.remedy.find("more memory"), std::string::npos);
  EXPECT_EQ(PlanVram(Plain(CurveId::kBn254, 1), Card(0)).status().code(), ErrorCode::kResource);

  DeviceBudget resident_only = Card(24 * kGiB);
  resident_only.streaming = false;
  EXPECT_EQ(PlanVram(Plain(CurveId::kBls12381, 27), resident_only).status().code(), ErrorCode::kResource);
  EXPECT_TRUE(PlanVram(Plain(CurveId::kBls12381, 24), resident_only)->streaming.sections.empty());
}

TEST(PlanVram, MoreMemoryNeverLoses) {
  for (uint32_t log2 : {1u, 20u, 27u})
    for (const CircuitShape& shape : AllShapes(log2)) {
      size_t streamed = SIZE_MAX;
      bool made = false, staged = false, whole = false;
      const uint64_t top = uint64_t{1000} << log2;
      for (uint64_t vram = top / 16; vram <= 2 * top + 64 * kGiB / 1024; vram += vram / 5 + 4096) {
        SCOPED_TRACE(Name(shape, vram));
        const auto plan = PlanVram(shape, Card(vram));
        ASSERT_TRUE(plan.ok() || !made);
        if (!plan.ok()) continue;
        made = true;
        ASSERT_LE(plan->streaming.sections.size(), streamed);
        ASSERT_TRUE(plan->prestage.planned || !staged);
        ASSERT_TRUE(!plan->spill_c || !whole);
        ASSERT_TRUE(CheckPlan(*plan, plan->capacity_bytes).ok());
        streamed = plan->streaming.sections.size();
        staged = plan->prestage.planned;
        whole = !plan->spill_c;
      }
      EXPECT_TRUE(made && staged && streamed == 0) << Name(shape, 0);
    }
}

TEST(PlanVram, HostileNumbers) {
  CircuitShape shape = Plain(CurveId::kBls12381, 31);
  shape.n_vars = UINT32_MAX;
  shape.n_public = 0;
  EXPECT_EQ(PlanVram(shape, Card(141 * kGiB)).status().code(), ErrorCode::kResource);
  for (uint64_t vram : {uint64_t{4096} * kGiB, uint64_t{1} << 50, UINT64_MAX}) {
    const auto plan = PlanVram(shape, Card(vram));
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    EXPECT_EQ(plan->Find(buffer::kKeyB2)->bytes, uint64_t{192} * UINT32_MAX);
    EXPECT_GT(plan->peak_bytes, uint64_t{480} * UINT32_MAX);
    CheckRuns(*plan);
  }
  shape.rows_on_device = true;
  shape.nnz_a = shape.nnz_b = uint64_t{1} << 48;
  EXPECT_EQ(PlanVram(shape, Card(141 * kGiB * 1024)).status().code(), ErrorCode::kOk);  // streamed
  shape.nnz_a = UINT64_MAX / 6;
  EXPECT_EQ(PlanVram(shape, Card(UINT64_MAX)).status().code(), ErrorCode::kInvalidArgument);

  const auto code = [](CircuitShape s, DeviceBudget b) { return PlanVram(s, b).status().code(); };
  CircuitShape good = Plain(CurveId::kBn254, 10);
  const DeviceBudget card = Card(kGiB);
  const auto with = [&](auto change) { CircuitShape s = good; change(s); return s; };
  EXPECT_EQ(code(good, card), ErrorCode::kOk);
  EXPECT_EQ(code(with([](auto& s) { s.n_public = s.n_vars; }), card), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(with([](auto& s) { s.n_public = UINT32_MAX; }), card), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(with([](auto& s) { s.n_vars = 0; }), card), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(with([](auto& s) { s.b_points = s.n_vars + 1; }), card), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(with([](auto& s) { s.wide_ppm = 1'000'001; }), card), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(with([](auto& s) { s.curve = CurveId{9}; }), card), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(with([](auto& s) { s.log2_domain = 28; }), card), ErrorCode::kUnsupported);
  EXPECT_EQ(code(with([](auto& s) { s.log2_domain = UINT32_MAX; }), card), ErrorCode::kUnsupported);
  EXPECT_EQ(code(with([](auto& s) { s.n_public = s.n_vars - 1; }), card), ErrorCode::kOk);  // no point in C
  DeviceBudget odd = card;
  odd.pcie_bytes_per_s = 0;
  EXPECT_EQ(code(good, odd), ErrorCode::kInvalidArgument);
  odd = card;
  odd.share_ppm = 1'000'001;
  EXPECT_EQ(code(good, odd), ErrorCode::kInvalidArgument);
}

// What the owner's device does: lists, no third vector in host memory.
TEST(PlanVram, TheOwnersPlans) {
  std::string modes;
  for (uint32_t log2 : {1u, 14u, 20u, 24u, 26u, 27u})
    for (CurveId curve : {CurveId::kBn254, CurveId::kBls12381})
      for (uint64_t vram : kClasses) {
        SCOPED_TRACE(Name(Plain(curve, log2), vram));
        const auto plan = PlanVram(Plain(curve, log2), OwnerBudget(vram));
        if (log2 == 27 && vram == kClasses[0]) {
          EXPECT_EQ(plan.status().code(), ErrorCode::kResource);  // three vectors and the roots: 16 GiB
          continue;
        }
        ASSERT_TRUE(plan.ok()) << plan.status().ToString();
        EXPECT_TRUE(CheckPlan(*plan, plan->capacity_bytes).ok());
        EXPECT_FALSE(plan->spill_c);
        EXPECT_EQ(plan->streaming.pinned_bytes, 0u);
        const bool resident = plan->streaming.sections.empty();
        EXPECT_TRUE(resident || plan->witness_mode == WitnessMode::kWhole);
        EXPECT_EQ(plan->Find(buffer::kPresentB) != nullptr, plan->witness_mode != WitnessMode::kWhole);
        EXPECT_EQ(plan->Find(buffer::kWorkB2) != nullptr, plan->witness_mode == WitnessMode::kLanes);
        if (vram == kClasses[3]) modes += plan->witness_mode == WitnessMode::kLanes ? 'L' : plan->witness_mode == WitnessMode::kListed ? 'l' : 'w';
      }
  EXPECT_EQ(modes.find('w'), std::string::npos) << modes;
  EXPECT_EQ(modes.substr(0, 8), "LLLLLLLL");
  // A circuit's own choice of memory on top of what is there at all.
  CircuitShape compact = Plain(CurveId::kBls12381, 20);
  compact.compact_witness = true;
  EXPECT_EQ(PlanVram(compact, OwnerBudget(24 * kGiB))->witness_mode, WitnessMode::kWhole);
}

class CheckPlanTest : public ::testing::Test {
 protected:
  CheckPlanTest() : plan_(*PlanVram(Plain(CurveId::kBls12381, 20), Card(24 * kGiB))) {}
  PlannedBuffer& At(std::string_view name) {
    return *std::find_if(plan_.buffers.begin(), plan_.buffers.end(), [&](const PlannedBuffer& b) { return b.name == name; });
  }
  std::string Fact() const {
    const Status status = CheckPlan(plan_, plan_.capacity_bytes);
    EXPECT_TRUE(status.ok() || status.code() == ErrorCode::kInternal);
    return status.ok() ? "" : status.error().fact;
  }
  VramPlan plan_;
};

TEST_F(CheckPlanTest, SeesAnOverlapInSpaceAndTime) {
  EXPECT_EQ(Fact(), "");
  // C's vector and the workspace may share bytes; A's scalars and the workspace meet in H.
  At(buffer::kRowsC).offset = At(buffer::kMsmWork).offset;
  At(buffer::kRowsB).offset = At(buffer::kMsmWork).offset + At(buffer::kRowsC).bytes;
  EXPECT_EQ(Fact(), "");
  At(buffer::kRowsA).offset = At(buffer::kMsmWork).offset + At(buffer::kMsmWork).bytes / 2 / 256 * 256;
  EXPECT_NE(Fact().find("overlap in phase H"), std::string::npos) << Fact();
  EXPECT_NE(Fact().find("rows.a"), std::string::npos);
}

TEST_F(CheckPlanTest, SeesAnOverlapOfOneByte) {
  At(buffer::kKeyA).bytes = At(buffer::kKeyB1).offset - At(buffer::kKeyA).offset;
  EXPECT_EQ(Fact(), "");
  ++At(buffer::kKeyA).bytes;
  EXPECT_NE(Fact().find("key.a and key.b1 overlap in phase E"), std::string::npos) << Fact();
}

TEST_F(CheckPlanTest, SeesALongerLife) {
  At(buffer::kRowsC).offset = At(buffer::kMsmWork).offset;
  At(buffer::kRowsB).offset = At(buffer::kMsmWork).offset + At(buffer::kRowsC).bytes;
  At(buffer::kRowsC).last = PlanPhase::kMsmH;
  EXPECT_NE(Fact().find("overlap in phase H"), std::string::npos) << Fact();
}

TEST_F(CheckPlanTest, SeesBrokenRows) {
  const VramPlan good = plan_;
  const auto broken = [&](auto change) {
    plan_ = good;
    change();
    return Fact();
  };
  EXPECT_NE(broken([&] { At(buffer::kMsmSums).name = "msm.work"; }), "");
  EXPECT_NE(broken([&] { At(buffer::kMsmSums).bytes = 0; }), "");
  EXPECT_NE(broken([&] { At(buffer::kMsmSums).offset += 1; }), "");
  EXPECT_NE(broken([&] { At(buffer::kMsmSums).offset = UINT64_MAX - 255; }), "");
  EXPECT_NE(broken([&] { At(buffer::kMsmSums).bytes = UINT64_MAX; }), "");
  EXPECT_NE(broken([&] { At(buffer::kRowsA).first = PlanPhase::kMsmWitness; }), "");
  EXPECT_NE(broken([&] { At(buffer::kRowsA).last = PlanPhase{4}; }), "");
  EXPECT_NE(broken([&] { At(buffer::kKeyH).first = PlanPhase::kMsmH; }), "");
  EXPECT_NE(broken([&] { plan_.peak_bytes -= 256; }), "");
  EXPECT_NE(broken([&] { plan_.capacity_bytes = plan_.peak_bytes - 256; }), "");
  EXPECT_EQ(broken([] {}), "");
}

TEST(FormatPlan, IsATable) {
  const auto plan = PlanVram(Plain(CurveId::kBn254, 20), Card(16 * kGiB));
  ASSERT_TRUE(plan.ok());
  const std::string text = FormatPlan(*plan);
  for (const PlannedBuffer& buffer : plan->buffers) EXPECT_NE(text.find(StrCat("\n", buffer.name, " ")), std::string::npos) << buffer.name;
  EXPECT_NE(text.find("ENHW  resident"), std::string::npos);
  EXPECT_NE(text.find(plan->prestage.text), std::string::npos);
  EXPECT_NE(text.find("all of the key is resident"), std::string::npos);
}

TEST(FormatBytes, Units) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes(kGiB - 1), "1023.99 MiB");
  EXPECT_EQ(FormatBytes(16 * kGiB), "16.00 GiB");
  EXPECT_EQ(FormatBytes(UINT64_MAX), "16383.99 PiB");
}

}  // namespace
}  // namespace proofline::cuda
