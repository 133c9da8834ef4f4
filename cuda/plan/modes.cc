#include "cuda/plan/modes.h"

#include <algorithm>

#include "cuda/msm/msm_present.h"
#include "cuda/ntt/ntt.h"
#include "cuda/plan/pack.h"

namespace proofline::cuda {
namespace {

constexpr uint64_t kFrBytes = 32;
constexpr uint64_t kMatrixChunkBytes = uint64_t{128} << 20;

bool IsBn(const CircuitShape& shape) { return shape.curve == CurveId::kBn254; }
MsmGroup G1Of(const CircuitShape& shape) { return IsBn(shape) ? MsmGroup::kBn254G1 : MsmGroup::kBls12381G1; }
MsmGroup G2Of(const CircuitShape& shape) { return IsBn(shape) ? MsmGroup::kBn254G2 : MsmGroup::kBls12381G2; }
uint64_t Domain(const CircuitShape& shape) { return uint64_t{1} << shape.log2_domain; }
bool SparseB(const CircuitShape& shape) { return shape.b_points != 0 && shape.b_points < shape.n_vars; }
uint32_t BPoints(const CircuitShape& shape) { return SparseB(shape) ? shape.b_points : shape.n_vars; }

// 4 bytes of column and 2 of coefficient id each; a row's length in one byte and 4 bytes of offset every 256 rows, for A and for B.
uint64_t MatrixBytes(const CircuitShape& shape) {
  return shape.rows_on_device ? 6 * (shape.nnz_a + shape.nnz_b) + 2 * (Domain(shape) + 4 * (Domain(shape) / 256 + 1)) : 0;
}

struct Query {
  std::string_view name;
  MsmGroup group;
  uint32_t count;
};
std::vector<Query> QueriesOf(const CircuitShape& shape) {
  return {{buffer::kKeyH, G1Of(shape), static_cast<uint32_t>(Domain(shape))},
          {buffer::kKeyA, G1Of(shape), shape.n_vars},
          {buffer::kKeyB1, G1Of(shape), BPoints(shape)},
          {buffer::kKeyB2, G2Of(shape), BPoints(shape)},
          {buffer::kKeyC, G1Of(shape), shape.n_vars}};
}

class Table {
 public:
  void Add(std::string_view name, uint64_t bytes, PlanPhase first, PlanPhase last) {
    if (bytes != 0) buffers_.push_back({std::string(name), bytes, 0, first, last, false});
  }
  void AddResident(std::string_view name, uint64_t bytes) {
    if (bytes != 0) buffers_.push_back({std::string(name), bytes, 0, PlanPhase::kUpload, PlanPhase::kMsmWitness, true});
  }
  std::vector<PlannedBuffer> Take() { return std::move(buffers_); }

 private:
  std::vector<PlannedBuffer> buffers_;
};

bool IsStreamed(const std::vector<KeySection>& sections, const Mode& mode, std::string_view name) {
  for (uint32_t i = 0; i < mode.streamed; ++i)
    if (sections[i].name == name) return true;
  return false;
}

// Chunks are equal in bytes: half as many points of G2.
uint32_t PiecePoints(const Mode& mode, const Query& query, bool streamed, const CircuitShape& shape) {
  if (!streamed) return std::min(query.count, mode.piece_points);
  const uint32_t chunk = std::min(mode.piece_points, kMaxChunkPoints);
  return std::min(query.count, query.group == G1Of(shape) ? chunk : chunk / 2);
}

uint64_t AlignUp(uint64_t bytes) { return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment; }

// For lists of as many values as there is room for, and ones for the rest.
MsmPlan ListedMsm(const VramPlan& plan, MsmGroup group) {
  return PlanMsmOfClasses(group, {plan.list_room, plan.shape.n_vars - plan.list_room}, 0, plan.method);
}

// Windows of lists: as many digits as 32 bits can number, or the lists cannot be.
bool ListsFit(const VramPlan& plan) {
  if (plan.witness_mode == WitnessMode::kWhole) return true;
  const MsmPlan listed = ListedMsm(plan, G1Of(plan.shape));
  return uint64_t{listed.n} * listed.windows.size() + listed.ones <= UINT32_MAX;
}

// The runs, the largest workspace of those without one of their own, the sums of all pieces. False for pieces of 2^32 digits or more.
bool AddMsms(VramPlan& plan, const Mode& mode, const std::vector<KeySection>& sections, uint64_t* work_bytes, uint64_t* sums_bytes) {
  const bool lanes = plan.witness_mode == WitnessMode::kLanes;
  if (!ListsFit(plan)) return false;
  for (const Query& query : QueriesOf(plan.shape)) {
    const bool is_h = query.name == buffer::kKeyH;
    MsmRun run{.points = std::string(query.name), .group = query.group, .point_count = query.count};
    run.streamed = IsStreamed(sections, mode, query.name);
    run.windows_at_once = mode.windows_at_once;
    run.method = mode.method;
    run.piece_points = PiecePoints(mode, query, run.streamed, plan.shape);
    if (query.count != 0) run.piece_count = static_cast<uint32_t>((uint64_t{query.count} + run.piece_points - 1) / run.piece_points);
    run.sums_offset = *sums_bytes;
    // The last piece has windows of its own.
    for (uint32_t piece : {uint32_t{0}, run.piece_count - 1}) {
      if (run.piece_count == 0) break;
      const MsmPlan msm = PieceOf(run, piece);
      if (uint64_t{msm.n} * msm.windows_at_once > UINT32_MAX) return false;
      if (is_h || !lanes) *work_bytes = std::max<uint64_t>(*work_bytes, msm.workspace_bytes);
      run.sums_stride = std::max(run.sums_stride, AlignUp(msm.result_bytes));
    }
    uint64_t run_bytes = run.sums_stride * run.piece_count;
    if (!is_h && plan.witness_mode != WitnessMode::kWhole) {
      if (!lanes) *work_bytes = std::max<uint64_t>(*work_bytes, ListedMsm(plan, query.group).workspace_bytes);
      run_bytes = std::max(run_bytes, AlignUp(kMsmMostWindows * MsmSumBytes(query.group)));
    }
    *sums_bytes += run_bytes;
    plan.msms.push_back(std::move(run));
  }
  return true;
}

uint64_t ChunkBytes(const VramPlan& plan) {
  uint64_t half = 0;
  for (const MsmRun& run : plan.msms)
    if (run.streamed) half = std::max<uint64_t>(half, uint64_t{run.piece_points} * MsmPointBytes(run.group));
  // Halves of equal, aligned size; C comes back through them too, in pieces of any size.
  if (plan.spill_c) half = std::max<uint64_t>(half, std::min<uint64_t>(Domain(plan.shape) * kFrBytes, uint64_t{64} << 20));
  return 2 * AlignUp(half);
}

// Lists, digits and, in lanes, workspaces: of the witness, so from its upload on; in kListed digits and workspace wait for H.
void AddLists(Table& table, const VramPlan& plan) {
  if (plan.witness_mode == WitnessMode::kWhole) return;
  const auto always = [&](std::string_view name, uint64_t bytes) { table.Add(name, bytes, PlanPhase::kUpload, PlanPhase::kMsmWitness); };
  const MsmPlan g1 = ListedMsm(plan, G1Of(plan.shape)), g2 = ListedMsm(plan, G2Of(plan.shape));
  table.AddResident(buffer::kPresentB, PresentBytes(plan.shape.n_vars));
  always(buffer::kListClasses, kPlanLists * sizeof(MsmClasses));
  for (std::string_view list : {buffer::kListAll, buffer::kListB}) always(list, uint64_t{plan.shape.n_vars} * 4);
  if (plan.witness_mode == WitnessMode::kListed)
    return table.Add(buffer::kListDigits, g1.digits_bytes, PlanPhase::kMsmWitness, PlanPhase::kMsmWitness);
  for (std::string_view digits : {buffer::kListDigitsAll, buffer::kListDigitsB}) always(digits, g1.digits_bytes);
  for (std::string_view work : {buffer::kWorkA, buffer::kWorkB1, buffer::kWorkC}) always(work, g1.workspace_bytes);
  always(buffer::kWorkB2, g2.workspace_bytes);
}

void AddKey(Table& table, const CircuitShape& shape, const Mode& mode, const std::vector<KeySection>& sections) {
  for (size_t i = mode.streamed; i < sections.size(); ++i) table.AddResident(sections[i].name, sections[i].bytes);
  if (SparseB(shape)) table.AddResident(buffer::kIndexB, uint64_t{shape.b_points} * 4);
  const uint64_t twiddles = NttTableBytes(static_cast<int>(shape.log2_domain));
  if (mode.twiddles_resident) table.AddResident(buffer::kTwiddles, twiddles);
  else table.Add(buffer::kTwiddles, twiddles, PlanPhase::kTransform, PlanPhase::kTransform);
  if (IsStreamed(sections, mode, buffer::kMatrices))
    table.Add(buffer::kMatrixChunks, 2 * std::min(kMatrixChunkBytes, MatrixBytes(shape)), PlanPhase::kUpload, mode.spill_c ? PlanPhase::kTransform : PlanPhase::kUpload);
}

void AddInput(Table& table, const CircuitShape& shape, const Mode& mode) {
  const uint64_t witness = WitnessBytes(shape), row = Domain(shape) * kFrBytes;
  const bool early = mode.prestage || mode.witness_early || shape.rows_on_device || mode.witness != WitnessMode::kWhole;
  table.Add(shape.compact_witness ? buffer::kWitnessCompact : buffer::kWitness, witness, early ? PlanPhase::kUpload : PlanPhase::kMsmH, PlanPhase::kMsmWitness);
  if (shape.compact_witness) table.Add(buffer::kWitness, uint64_t{shape.n_vars} * kFrBytes, PlanPhase::kMsmWitness, PlanPhase::kMsmWitness);
  if (SparseB(shape)) table.Add(buffer::kScalarsB, uint64_t{shape.b_points} * kFrBytes, PlanPhase::kMsmWitness, PlanPhase::kMsmWitness);
  table.Add(buffer::kRowsA, row, PlanPhase::kUpload, PlanPhase::kMsmH);
  table.Add(buffer::kRowsB, row, PlanPhase::kUpload, PlanPhase::kTransform);
  if (!shape.prepared && !mode.spill_c) table.Add(buffer::kRowsC, row, PlanPhase::kTransform, PlanPhase::kTransform);
  if (!mode.prestage) return;
  table.Add(buffer::kNextWitness, witness, PlanPhase::kUpload, PlanPhase::kMsmWitness);
  if (shape.rows_on_device) return;
  table.Add(buffer::kNextRowsA, row, PlanPhase::kUpload, PlanPhase::kMsmWitness);
  table.Add(buffer::kNextRowsB, row, PlanPhase::kUpload, PlanPhase::kMsmWitness);
}

}  // namespace

std::vector<KeySection> SectionsOf(const CircuitShape& shape) {
  std::vector<KeySection> sections;
  const std::vector<Query> queries = QueriesOf(shape);
  for (std::string_view name : {buffer::kKeyH, buffer::kKeyB2, buffer::kKeyC, buffer::kKeyA, buffer::kKeyB1})
    for (const Query& query : queries)
      if (query.name == name && query.count != 0) sections.push_back({name, uint64_t{query.count} * MsmPointBytes(query.group)});
  if (shape.rows_on_device) sections.push_back({buffer::kMatrices, MatrixBytes(shape)});
  return sections;
}

// Compact: 2 bits a value, a running count of 4 bytes every 512, the wide values.
uint64_t WitnessBytes(const CircuitShape& shape) {
  const uint64_t n = shape.n_vars;
  if (!shape.compact_witness) return n * kFrBytes;
  const uint64_t wide = (n * shape.wide_ppm + 999'999) / 1'000'000;
  return (n + 3) / 4 + (n / 512 + 1) * 4 + wide * kFrBytes;
}

uint64_t InputBytes(const CircuitShape& shape) {
  return WitnessBytes(shape) + (shape.rows_on_device ? 0 : 2 * Domain(shape) * kFrBytes);
}

bool CanList(const CircuitShape& shape) { return !shape.compact_witness && !SparseB(shape); }

VramPlan PlanMode(const CircuitShape& shape, const Mode& mode) {
  VramPlan plan;
  plan.shape = shape;
  plan.spill_c = mode.spill_c;
  plan.witness_mode = mode.witness;
  plan.method = mode.method;
  if (mode.witness == WitnessMode::kLanes) plan.list_room = shape.n_vars;
  if (mode.witness == WitnessMode::kListed) plan.list_room = static_cast<uint32_t>(uint64_t{shape.n_vars} * mode.list_room_ppm / 1'000'000);
  const std::vector<KeySection> sections = SectionsOf(shape);
  uint64_t work_bytes = 0, sums_bytes = 0;
  if (!AddMsms(plan, mode, sections, &work_bytes, &sums_bytes)) {
    plan.peak_bytes = UINT64_MAX;
    return plan;
  }
  Table table;
  AddKey(table, shape, mode, sections);
  AddInput(table, shape, mode);
  const PlanPhase chunks_from = mode.spill_c || mode.chunks_early ? PlanPhase::kTransform : PlanPhase::kMsmH;
  table.Add(buffer::kPointChunks, ChunkBytes(plan), chunks_from, PlanPhase::kMsmWitness);
  AddLists(table, plan);
  const bool lanes = mode.witness == WitnessMode::kLanes;
  table.Add(buffer::kMsmWork, work_bytes, PlanPhase::kMsmH, lanes ? PlanPhase::kMsmH : PlanPhase::kMsmWitness);
  table.Add(buffer::kMsmSums, sums_bytes, lanes ? PlanPhase::kUpload : PlanPhase::kMsmH, PlanPhase::kMsmWitness);
  plan.buffers = table.Take();
  std::stable_sort(plan.buffers.begin(), plan.buffers.end(), [](const PlannedBuffer& a, const PlannedBuffer& b) {
    return a.resident != b.resident ? a.resident : a.first < b.first;
  });
  plan.peak_bytes = Pack(plan.buffers);
  for (const PlannedBuffer& buffer : plan.buffers)
    if (buffer.resident) plan.resident_bytes += buffer.bytes;
  return plan;
}

}  // namespace proofline::cuda
