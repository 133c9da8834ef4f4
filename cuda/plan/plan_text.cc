#include <algorithm>

#include "core/base/text.h"
#include "cuda/plan/plan.h"

namespace proofline::cuda {
namespace {

std::string Left(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}
std::string Right(const std::string& text, size_t width) { return text.size() < width ? std::string(width - text.size(), ' ') + text : text; }

std::string Phases(const PlannedBuffer& buffer) {
  std::string text;
  for (int phase = 0; phase < kPlanPhaseCount; ++phase) {
    const bool there = static_cast<int>(buffer.first) <= phase && phase <= static_cast<int>(buffer.last);
    text += there ? PhaseLetter(static_cast<PlanPhase>(phase)) : '.';
  }
  return text + (buffer.resident ? "  resident" : "");
}

}  // namespace

char PhaseLetter(PlanPhase phase) { return "ENHW"[static_cast<int>(phase) % kPlanPhaseCount]; }

std::string FormatBytes(uint64_t bytes) {
  if (bytes < 1024) return StrCat(bytes, " B");
  int unit = 0;
  uint64_t scale = 1024;
  while (unit < 4 && bytes / scale >= 1024) scale *= 1024, ++unit;
  // Hundredths, rounded down so that what is named as there is there.
  const uint64_t whole = bytes / scale, hundredths = bytes % scale / (scale / 128) * 100 / 128;
  return StrCat(whole, ".", hundredths < 10 ? "0" : "", hundredths, " ", std::string_view("KMGTP").substr(unit, 1), "iB");
}

std::string FormatPlan(const VramPlan& plan) {
  std::string out = StrCat(Left("buffer", 18), Right("size", 12), Right("offset", 14), "  phases\n");
  for (const PlannedBuffer& b : plan.buffers)
    out += StrCat(Left(b.name, 18), Right(FormatBytes(b.bytes), 12), Right(FormatBytes(b.offset), 14), "  ", Phases(b), "\n");
  out += StrCat(Left("peak", 18), Right(FormatBytes(plan.peak_bytes), 12), " of ", FormatBytes(plan.capacity_bytes), ", ", FormatBytes(plan.resident_bytes), " resident\n");
  for (int phase = 0; phase < kPlanPhaseCount; ++phase) {
    uint64_t live = 0;
    for (const PlannedBuffer& b : plan.buffers)
      if (static_cast<int>(b.first) <= phase && phase <= static_cast<int>(b.last)) live += b.bytes;
    out += StrCat(phase ? "  " : "in use: ", PhaseLetter(static_cast<PlanPhase>(phase)), " ", FormatBytes(live));
  }
  out += "\n";
  out += StrCat(plan.prestage.text, "\n", plan.streaming.text, "\n");
  if (plan.witness_mode == WitnessMode::kLanes) out += "the queries run side by side; zeros and ones of the witness stay out of the digits\n";
  if (plan.witness_mode == WitnessMode::kListed)
    out += StrCat("the queries run one after the other; zeros and ones stay out of the digits where at most ", plan.list_room, " of ", plan.shape.n_vars,
                  " values are neither, else all take part\n");
  if (plan.method == MsmMethod::kAuto) out += "long lists of points are summed in trees of affine additions where that is faster\n";
  if (plan.spill_c) out += "the third vector of the transforms waits in host memory\n";
  return out;
}

}  // namespace proofline::cuda
