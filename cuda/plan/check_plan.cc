#include <set>

#include "core/base/text.h"
#include "cuda/plan/plan.h"

namespace proofline::cuda {
namespace {

Status Broken(const std::string& fact) { return Status(ErrorCode::kInternal, StrCat("the memory plan is wrong: ", fact)); }

bool HasPhase(const PlannedBuffer& buffer, int phase) {
  return static_cast<int>(buffer.first) <= phase && phase <= static_cast<int>(buffer.last);
}

Status CheckBuffer(const PlannedBuffer& buffer, const VramPlan& plan, uint64_t capacity_bytes) {
  if (buffer.bytes == 0) return Broken(StrCat(buffer.name, " is empty"));
  if (static_cast<int>(buffer.last) >= kPlanPhaseCount || buffer.first > buffer.last) return Broken(StrCat(buffer.name, " ends before it begins"));
  if (buffer.resident && (buffer.first != PlanPhase::kUpload || buffer.last != PlanPhase::kMsmWitness))
    return Broken(StrCat(buffer.name, " is resident and not in all phases"));
  if (buffer.offset % kPlanAlignment != 0) return Broken(StrCat(buffer.name, " begins at ", buffer.offset, ", no multiple of ", kPlanAlignment));
  if (buffer.bytes > plan.peak_bytes || buffer.offset > plan.peak_bytes - buffer.bytes)
    return Broken(StrCat(buffer.name, ": ", buffer.bytes, " bytes at ", buffer.offset, " end behind the peak of ", plan.peak_bytes));
  if (buffer.bytes > capacity_bytes || buffer.offset > capacity_bytes - buffer.bytes)
    return Broken(StrCat(buffer.name, ": ", buffer.bytes, " bytes at ", buffer.offset, " end behind the ", capacity_bytes, " there are"));
  return OkStatus();
}

Status CheckPair(const PlannedBuffer& a, const PlannedBuffer& b) {
  const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
  for (int phase = 0; phase < kPlanPhaseCount && !apart; ++phase)
    if (HasPhase(a, phase) && HasPhase(b, phase))
      return Broken(StrCat(a.name, " and ", b.name, " overlap in phase ", PhaseLetter(static_cast<PlanPhase>(phase)), ": ", a.bytes,
                           " bytes at ", a.offset, ", ", b.bytes, " at ", b.offset));
  return OkStatus();
}

}  // namespace

Status CheckPlan(const VramPlan& plan, uint64_t capacity_bytes) {
  std::set<std::string_view> names;
  for (const PlannedBuffer& buffer : plan.buffers) {
    if (!names.insert(buffer.name).second) return Broken(StrCat(buffer.name, " is there twice"));
    PL_RETURN_IF_ERROR(CheckBuffer(buffer, plan, capacity_bytes));
  }
  for (size_t i = 0; i < plan.buffers.size(); ++i)
    for (size_t j = 0; j < i; ++j) PL_RETURN_IF_ERROR(CheckPair(plan.buffers[j], plan.buffers[i]));
  return OkStatus();
}

}  // namespace proofline::cuda
