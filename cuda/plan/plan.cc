#include "cuda/plan/plan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/text.h"
#include "cuda/plan/modes.h"

namespace proofline::cuda {
namespace {

constexpr uint64_t kMostCoefficients = uint64_t{1} << 48;  // so that six bytes each stay far from 2^64

Status CheckArguments(const CircuitShape& shape, const DeviceBudget& budget) {
  const auto bad = [](const std::string& fact) { return Status(ErrorCode::kInvalidArgument, fact); };
  if (shape.curve != CurveId::kBn254 && shape.curve != CurveId::kBls12381) return bad(StrCat("curve ", static_cast<int>(shape.curve), " is none that proofs are made over"));
  if (uint64_t{shape.n_public} + 1 > shape.n_vars) return bad(StrCat(shape.n_vars, " variables cannot hold ", shape.n_public, " public ones and the constant"));
  if (shape.b_points > shape.n_vars) return bad(StrCat(shape.b_points, " points of B for ", shape.n_vars, " variables"));
  if (shape.nnz_a > kMostCoefficients || shape.nnz_b > kMostCoefficients) return bad(StrCat(std::max(shape.nnz_a, shape.nnz_b), " coefficients are more than any circuit has"));
  if (shape.wide_ppm > 1'000'000 || budget.share_ppm > 1'000'000) return bad("a share in parts per million is above 1000000");
  if (!(budget.pcie_bytes_per_s > 0) || !std::isfinite(budget.pcie_bytes_per_s) || !(budget.g1_additions_per_s > 0)) return bad("bandwidth and additions a second must be above 0");
  const uint32_t largest = shape.curve == CurveId::kBn254 ? Bn254FrModulus::kTwoAdicity - 1 : Bls12381FrModulus::kTwoAdicity - 1;
  if (shape.log2_domain > largest)
    return Status(ErrorCode::kUnsupported, StrCat("a domain of 2^", shape.log2_domain, " is too large for a CUDA device: 2^", largest, " is the largest"), "", "use --device cpu");
  return OkStatus();
}

// A step of the ladder: what is resident and whether there is pre-staging, with everything else as small as it gets.
Mode Bottom(const CircuitShape& shape, bool streaming) {
  Mode mode;
  mode.streamed = streaming ? static_cast<uint32_t>(SectionsOf(shape).size()) : 0;
  mode.piece_points = kMinPiecePoints;
  mode.windows_at_once = 1;
  return mode;
}

// From the least to the most; each step has all that the one before it has, and the order depends on the shape alone. So the highest step
// that fits gains with memory and never loses.
std::vector<Mode> Ladder(const CircuitShape& shape, const DeviceBudget& budget) {
  std::vector<Mode> ladder;
  Mode mode = Bottom(shape, budget.streaming);
  if (!shape.prepared && budget.streaming && budget.spill) {
    mode.spill_c = true;
    ladder.push_back(mode);
    mode.spill_c = false;
  }
  ladder.push_back(mode);
  Mode staged = mode, resident = mode;
  staged.prestage = true;
  resident.streamed = 0;
  const bool sections_first = PlanMode(shape, resident).peak_bytes <= PlanMode(shape, staged).peak_bytes;
  if (budget.prestage && !sections_first) ladder.push_back(mode = staged);
  while (mode.streamed > 0) {
    --mode.streamed;
    ladder.push_back(mode);
  }
  if (budget.prestage && sections_first) {
    mode.prestage = true;
    ladder.push_back(mode);
  }
  return ladder;
}

// Lanes, or lists for as large a share of values as fits: a witness of zeros and ones then costs a tenth.
Mode WithLists(const CircuitShape& shape, const Mode& mode, const DeviceBudget& budget) {
  if (mode.streamed > 0 || !budget.lists || !CanList(shape)) return mode;
  const auto fits = [&](const Mode& m) { return PlanMode(shape, m).peak_bytes <= budget.capacity_bytes(); };
  constexpr MsmMethod kMethods[] = {MsmMethod::kAuto, MsmMethod::kPlain};
  Mode lists = mode;
  lists.witness = WitnessMode::kLanes;
  lists.piece_points = kWholePoints;
  for (const MsmMethod method : kMethods) {
    lists.method = method;
    if ((method == MsmMethod::kPlain || budget.trees) && fits(lists)) return lists;
  }
  lists.witness = WitnessMode::kListed;
  lists.piece_points = mode.piece_points;
  for (uint32_t room_ppm : {1'000'000, 750'000, 500'000, 250'000, 100'000, 30'000})
    for (const MsmMethod method : kMethods) {
      lists.method = method;
      lists.list_room_ppm = room_ppm;
      if ((method == MsmMethod::kPlain || budget.trees) && fits(lists)) return lists;
    }
  return mode;
}

// Lists; the largest pieces, then the most windows at once, that fit; then what is only nice to have.
Mode Widen(const CircuitShape& shape, Mode mode, const DeviceBudget& budget) {
  const auto fits = [&](const Mode& m) { return PlanMode(shape, m).peak_bytes <= budget.capacity_bytes(); };
  mode = WithLists(shape, mode, budget);
  const auto widest = [&] {
    for (uint32_t points : {kWholePoints, uint32_t{1} << 26, uint32_t{1} << 25, uint32_t{1} << 24, kMaxChunkPoints, uint32_t{1} << 22, uint32_t{1} << 21, uint32_t{1} << 20, uint32_t{1} << 19, kMinPiecePoints})
      for (uint32_t windows : {0, 8, 4, 2, 1}) {
        Mode wider = mode;
        wider.piece_points = std::max(points, mode.piece_points);
        wider.windows_at_once = windows;
        if (fits(wider)) return wider;
      }
    return mode;
  };
  mode = widest();
  for (bool Mode::*extra : {&Mode::chunks_early, &Mode::twiddles_resident, &Mode::witness_early}) {
    Mode more = mode;
    more.*extra = true;
    if (fits(more)) mode = more;
  }
  return mode;
}

double AdditionsPerSecond(const DeviceBudget& budget, MsmGroup group) {
  // Relative to BLS12-381 G1, as measured for the kernels of this folder (cuda/README.md).
  switch (group) {
    case MsmGroup::kBn254G1: return budget.g1_additions_per_s * 2.1;
    case MsmGroup::kBn254G2: return budget.g1_additions_per_s * 0.5;
    case MsmGroup::kBls12381G1: return budget.g1_additions_per_s;
    case MsmGroup::kBls12381G2: return budget.g1_additions_per_s * 0.23;
  }
  return budget.g1_additions_per_s;
}

double ArithmeticSeconds(const VramPlan& plan, const MsmRun& run, const DeviceBudget& budget) {
  const double wide = run.points == buffer::kKeyH ? 1.0 : plan.shape.wide_ppm / 1e6;
  return run.point_count * wide * static_cast<double>(PieceOf(run, 0).windows.size()) / AdditionsPerSecond(budget, run.group);
}

std::string Milliseconds(double ms) {
  const auto tenths = static_cast<uint64_t>(std::llround(ms * 10));
  return StrCat(tenths / 10, ".", tenths % 10, " ms");
}

void DescribeStreaming(VramPlan& plan, const Mode& mode, const DeviceBudget& budget) {
  Streaming& out = plan.streaming;
  double link_s = 0, exposed_s = 0;
  const auto add = [&](uint64_t bytes, double arithmetic_s) {
    const double seconds = static_cast<double>(bytes) / budget.pcie_bytes_per_s;
    out.bytes_per_proof += bytes;
    link_s += seconds;
    exposed_s += std::max(0.0, seconds - arithmetic_s);
  };
  const std::vector<KeySection> sections = SectionsOf(plan.shape);
  for (uint32_t i = 0; i < mode.streamed; ++i) {
    double arithmetic_s = 0;
    for (const MsmRun& run : plan.msms)
      if (run.points == sections[i].name) arithmetic_s = ArithmeticSeconds(plan, run, budget);
    out.sections.emplace_back(sections[i].name);
    out.host_bytes += sections[i].bytes;
    add(sections[i].bytes, arithmetic_s);
    if (sections[i].name == buffer::kMatrices && mode.spill_c) add(sections[i].bytes, 0);
  }
  // Nothing hides the first chunk where it has no place before H.
  if (const PlannedBuffer* chunks = plan.Find(buffer::kPointChunks); chunks && !mode.chunks_early)
    exposed_s += static_cast<double>(chunks->bytes / 2) / budget.pcie_bytes_per_s;
  const uint64_t row = uint64_t{32} << plan.shape.log2_domain;
  if (mode.spill_c) add(plan.shape.rows_on_device ? 2 * row : 3 * row, 0), out.pinned_bytes += row;
  out.link_ms = link_s * 1e3;
  out.exposed_ms = std::min(exposed_s, link_s) * 1e3;
  if (out.bytes_per_proof == 0) {
    out.text = "all of the key is resident";
    return;
  }
  out.text = StrCat("streamed from the host's copy of the key: ", FormatBytes(out.bytes_per_proof), " a proof, ", Milliseconds(out.link_ms), " of link, ",
                    out.exposed_ms < 0.05 ? std::string("hidden behind the arithmetic") : StrCat("about ", Milliseconds(out.exposed_ms), " of it not hidden behind the arithmetic"));
}

void DescribePrestaging(VramPlan& plan, const Mode& mode, const std::vector<Mode>& ladder, const DeviceBudget& budget) {
  Prestaging& out = plan.prestage;
  out.planned = mode.prestage;
  out.has_bytes = plan.capacity_bytes;
  if (!budget.prestage) {
    out.text = "no pre-staging: the owner does not ask for it";
    return;
  }
  if (!mode.prestage) {
    const auto first = std::find_if(ladder.begin(), ladder.end(), [](const Mode& step) { return step.prestage; });
    out.needs_bytes = PlanMode(plan.shape, *first).peak_bytes;
    out.text = StrCat("no pre-staging: needs ", FormatBytes(out.needs_bytes), ", has ", FormatBytes(out.has_bytes));
    return;
  }
  out.needs_bytes = plan.peak_bytes;
  out.text = StrCat("pre-staging: ", FormatBytes(plan.input_bytes), " of the next partition's input have their place in all phases");
}

Status Refuse(const CircuitShape& shape, const VramPlan& least, const DeviceBudget& budget) {
  std::vector<const PlannedBuffer*> largest;
  for (const PlannedBuffer& buffer : least.buffers) largest.push_back(&buffer);
  std::stable_sort(largest.begin(), largest.end(), [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  std::string rows;
  for (size_t i = 0; i < std::min<size_t>(largest.size(), 4); ++i)
    rows += StrCat(i ? ", " : "largest: ", largest[i]->name, " ", FormatBytes(largest[i]->bytes));
  return Status(ErrorCode::kResource,
                StrCat("a circuit of 2^", shape.log2_domain, " with ", shape.n_vars, " variables does not fit on this device: needs ", FormatBytes(least.peak_bytes),
                       ", has ", FormatBytes(budget.capacity_bytes())),
                rows, "Trying again on this device cannot help; use one with more memory, or --device cpu");
}

}  // namespace

uint64_t DeviceBudget::capacity_bytes() const {
  const uint64_t free_bytes = vram_bytes - std::min(vram_bytes, context_bytes);
  // In two parts, so that nothing wraps.
  return free_bytes / 1'000'000 * share_ppm + free_bytes % 1'000'000 * share_ppm / 1'000'000;
}

namespace {
// Cards with more than 32 GB have HBM.
bool HasFastMemory(const DeviceBudget& budget) { return budget.capacity_bytes() > uint64_t{33} << 30; }
}  // namespace

DeviceBudget OwnerBudget(uint64_t card_bytes) {
  // Seen on an H200: 0.53 GiB for the context, the code and the stacks of all threads.
  constexpr uint64_t kContextBytes = uint64_t{640} << 20;
  DeviceBudget budget{.vram_bytes = card_bytes, .context_bytes = kContextBytes, .spill = false, .lists = true};
  budget.trees = HasFastMemory(budget);
  return budget;
}

DeviceBudget OwnerBudgetInArena(uint64_t arena_bytes) {
  DeviceBudget budget = OwnerBudget(arena_bytes);
  budget.context_bytes = 0;
  budget.share_ppm = 1'000'000;
  budget.trees = HasFastMemory(budget);
  return budget;
}

const PlannedBuffer* VramPlan::Find(std::string_view name) const {
  for (const PlannedBuffer& buffer : buffers)
    if (buffer.name == name) return &buffer;
  return nullptr;
}

MsmPlan PieceOf(const MsmRun& run, uint32_t piece) {
  const uint64_t first = uint64_t{piece} * run.piece_points;
  return PlanMsm(run.group, static_cast<uint32_t>(std::min<uint64_t>(run.piece_points, run.point_count - first)), run.windows_at_once, 0, run.method);
}

Result<VramPlan> PlanVram(const CircuitShape& shape, const DeviceBudget& budget) {
  PL_RETURN_IF_ERROR(CheckArguments(shape, budget));
  const uint64_t capacity = budget.capacity_bytes();
  const std::vector<Mode> ladder = Ladder(shape, budget);
  VramPlan least = PlanMode(shape, ladder.front());
  for (size_t i = ladder.size(); i-- > 0;) {
    if (PlanMode(shape, ladder[i]).peak_bytes > capacity) continue;
    const Mode mode = Widen(shape, ladder[i], budget);
    VramPlan plan = PlanMode(shape, mode);
    plan.capacity_bytes = capacity;
    plan.input_bytes = InputBytes(shape);
    DescribePrestaging(plan, mode, ladder, budget);
    DescribeStreaming(plan, mode, budget);
    PL_RETURN_IF_ERROR(CheckPlan(plan, capacity));
    return plan;
  }
  return Refuse(shape, least, budget);
}

}  // namespace proofline::cuda
