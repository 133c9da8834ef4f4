// What coordinators tell about jobs, stacks and circuits, as text for people and as JSON for programs (README.md has the shapes).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/wire/proofline.pb.h"

namespace proofline::cli {

std::string JobText(const wire::JobView& job);
std::string JobJson(const wire::JobView& job);
std::string StackText(const wire::StackStatus& stack);
std::string StackJson(const wire::StackStatus& stack);
std::string CircuitsText(const std::vector<wire::Circuit>& circuits);
std::string CircuitsJson(const std::vector<wire::Circuit>& circuits);
std::string CircuitText(const wire::Circuit& circuit);
std::string CircuitJson(const wire::Circuit& circuit);

std::string_view StateName(wire::JobState state);
std::string_view PriorityName(wire::Priority priority);
// kUsage for anything but critical, high, normal, low.
Result<wire::Priority> ParsePriority(std::string_view text);
inline bool IsEnded(wire::JobState state) {
  return state == wire::JOB_DONE || state == wire::JOB_FAILED || state == wire::JOB_CANCELLED;
}

}  // namespace proofline::cli
