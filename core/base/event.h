// Events: what happened to which partition, when, and how long it waited and worked. One schema in every process, written as
// one line of the log (log.h) at level info, so that any set of log files can be joined by job, partition and attempt.
//
//   {"ts":"...Z","mono_ns":123,"event":"leased","role":"coordinator","pid":42,"instance":0,"job":7,"partition":0,"attempt":1,
//    "stage":"gpu","outcome":"ok","queue_wait_ns":2000,"work_ns":0,"error":"","text":""}
//
// `ts` is wall time (RFC 3339, UTC, ms), `mono_ns` the machine's monotonic clock at the moment of writing. Fields that do not
// apply are left out; ts, mono_ns, event, role and pid are always there. README.md lists the event names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.h"
#include "core/base/status.h"

namespace proofline {

// Views must live until EmitEvent returns.
struct Event {
  std::string_view name{};                  // "granted", "sealed", ...
  std::optional<uint64_t> job{};            // the journal's number
  std::optional<uint32_t> partition{};
  std::optional<uint32_t> attempt{};
  std::string_view stage{};                 // "synth", "gpu", or a stage inside a worker: "rows", "msm_h"
  std::string_view outcome{};               // "ok", "failed", "retried", "cancelled", "lost"
  std::optional<uint64_t> queue_wait_ns{};  // waited before the stage, apart from
  std::optional<uint64_t> work_ns{};        // the time the stage worked
  ErrorCode code = ErrorCode::kOk;
  std::string_view text{};                  // of the error
  std::vector<LogField> extra{};            // few, small, numbers by preference
};

struct EventStamp {
  int64_t unix_ms = 0;
  uint64_t mono_ns = 0;
  log_internal::Identity who;
};

// The line without its end; for tests and for writers with their own clock.
std::string FormatEvent(const Event& event, const EventStamp& stamp);
// Stamps and writes. Any thread. `level` kWarn for what an operator should see.
void EmitEvent(const Event& event, LogLevel level = LogLevel::kInfo);

}  // namespace proofline
