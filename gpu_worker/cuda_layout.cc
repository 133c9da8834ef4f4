#include "gpu_worker/cuda_layout.h"

#include <algorithm>

#include "core/base/text.h"

namespace proofline::gpu_worker {

namespace {

namespace buffer = cuda::buffer;

CudaPlace PlaceOf(const cuda::VramPlan& plan, std::string_view name) {
  const cuda::PlannedBuffer* row = plan.Find(name);
  return row ? CudaPlace{row->offset, row->bytes} : CudaPlace{};
}

void PlaceQueries(CudaLayout& out) {
  const CudaPlace sums = PlaceOf(out.plan, buffer::kMsmSums), work = PlaceOf(out.plan, buffer::kMsmWork);
  constexpr std::string_view kOwnWork[kQueryCount] = {buffer::kMsmWork, buffer::kWorkA, buffer::kWorkB1, buffer::kWorkB2, buffer::kWorkC};
  for (int q = 0; q < kQueryCount; ++q) {
    const cuda::MsmRun& run = out.plan.msms[static_cast<size_t>(q)];
    out.points[q] = PlaceOf(out.plan, run.points);
    out.work[q] = out.lanes() ? PlaceOf(out.plan, kOwnWork[q]) : work;
    const uint64_t end = q + 1 < kQueryCount ? out.plan.msms[static_cast<size_t>(q) + 1].sums_offset : sums.bytes;
    out.sums[q] = {sums.offset + run.sums_offset, end - run.sums_offset};
    if (out.lists() && q != kQueryH)
      out.listed[q] = cuda::PlanMsmOfClasses(run.group, {out.plan.list_room, out.plan.shape.n_vars - out.plan.list_room}, 0, out.plan.method);
  }
}

void PlaceLists(CudaLayout& out) {
  out.classes = PlaceOf(out.plan, buffer::kListClasses);
  out.present = PlaceOf(out.plan, buffer::kPresentB);
  out.indices = {PlaceOf(out.plan, buffer::kListAll), PlaceOf(out.plan, buffer::kListB)};
  if (out.lanes())
    out.digits = {PlaceOf(out.plan, buffer::kListDigitsAll), PlaceOf(out.plan, buffer::kListDigitsB)};
  else
    out.digits.fill(PlaceOf(out.plan, buffer::kListDigits));
}

}  // namespace

cuda::CircuitShape ShapeOf(const ProvingKeyView& key) {
  return {.curve = key.curve, .log2_domain = key.log2_domain, .n_vars = key.n_vars, .n_public = key.n_public};
}

Result<CudaLayout> LayOutProof(const ProvingKeyView& key, uint64_t arena_bytes, uint64_t download_bytes) {
  if (key.form != KeyForm::kSnarkjs)
    return Status(ErrorCode::kUnsupported, "a CUDA device proves with keys of snarkjs's form only", "this one is of bellperson's", "use --device cpu");
  const cuda::DeviceBudget budget = cuda::OwnerBudgetInArena(arena_bytes);
  CudaLayout out;
  PL_ASSIGN_OR_RETURN(out.plan, cuda::PlanVram(ShapeOf(key), budget));
  PL_RETURN_IF_ERROR(cuda::CheckPlan(out.plan, arena_bytes));
  out.public_points = uint64_t{key.n_public} + 1;
  PlaceQueries(out);
  PlaceLists(out);
  out.roots = PlaceOf(out.plan, buffer::kTwiddles);
  out.witness = PlaceOf(out.plan, buffer::kWitness), out.next_witness = PlaceOf(out.plan, buffer::kNextWitness);
  out.a = PlaceOf(out.plan, buffer::kRowsA), out.next_a = PlaceOf(out.plan, buffer::kNextRowsA);
  out.b = PlaceOf(out.plan, buffer::kRowsB), out.next_b = PlaceOf(out.plan, buffer::kNextRowsB);
  out.c = PlaceOf(out.plan, buffer::kRowsC);
  out.chunks = PlaceOf(out.plan, buffer::kPointChunks);
  out.resident_end = out.plan.peak_bytes;
  for (const cuda::PlannedBuffer& row : out.plan.buffers)
    if (!row.resident) out.resident_end = std::min(out.resident_end, row.offset);
  const uint64_t sums_bytes = PlaceOf(out.plan, buffer::kMsmSums).bytes;
  if (sums_bytes <= download_bytes) return out;
  return Status(ErrorCode::kResource, StrCat("the multi-exponentiations come in so many pieces that their sums have ", sums_bytes, " bytes; there is room for ", download_bytes),
                "", "use a card with more memory, or --device cpu");
}

bool PlanWitness(const CudaLayout& layout, const std::array<cuda::MsmClasses, kListCount>& classes, std::array<cuda::MsmPlan, kQueryCount>& plans) {
  // More windows for fewer scalars; where the lists have no room for that, the method that needs least, and then the windows of as many scalars as
  // there is room for (586 ms at 2^26 on an H200 with those where 527 were possible).
  const int whole = static_cast<int>(layout.listed[kQueryA].windows.size());
  using cuda::MsmMethod;
  const MsmMethod planned = layout.plan.method;
  for (const auto& [window_count, method] : {std::pair{0, planned}, {0, MsmMethod::kPlain}, {whole, planned}, {whole, MsmMethod::kPlain}}) {
    bool fits = true;
    for (const Query q : {kQueryA, kQueryB1, kQueryB2, kQueryC}) {
      plans[q] = cuda::PlanMsmOfClasses(layout.listed[q].group, classes[ListOf(q)], window_count, method);
      fits &= plans[q].workspace_bytes <= layout.work[q].bytes && plans[q].digits_bytes <= layout.digits[ListOf(q)].bytes &&
              plans[q].result_bytes <= layout.sums[q].bytes;
    }
    if (fits) return true;
  }
  return false;
}

}  // namespace proofline::gpu_worker
