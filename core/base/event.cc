#include "core/base/event.h"

#include "core/base/clock.h"

namespace proofline {

std::string FormatEvent(const Event& event, const EventStamp& stamp) {
  using log_internal::AppendField;
  std::string line = "{";
  const std::string ts = FormatRfc3339(stamp.unix_ms);
  AppendField(line, {"ts", ts});
  AppendField(line, {"mono_ns", stamp.mono_ns});
  AppendField(line, {"event", event.name});
  AppendField(line, {"role", stamp.who.role});
  AppendField(line, {"pid", stamp.who.pid});
  if (stamp.who.instance != 0) AppendField(line, {"instance", stamp.who.instance});
  if (event.job) AppendField(line, {"job", *event.job});
  if (event.partition) AppendField(line, {"partition", *event.partition});
  if (event.attempt) AppendField(line, {"attempt", *event.attempt});
  if (!event.stage.empty()) AppendField(line, {"stage", event.stage});
  if (!event.outcome.empty()) AppendField(line, {"outcome", event.outcome});
  if (event.queue_wait_ns) AppendField(line, {"queue_wait_ns", *event.queue_wait_ns});
  if (event.work_ns) AppendField(line, {"work_ns", *event.work_ns});
  if (event.code != ErrorCode::kOk) AppendField(line, {"error", ErrorCodeName(event.code)});
  if (!event.text.empty()) AppendField(line, {"text", event.text});
  for (const LogField& field : event.extra) AppendField(line, field);
  line += '}';
  return line;
}

void EmitEvent(const Event& event, LogLevel level) {
  if (!LogEnabled(level)) return;
  const EventStamp stamp{WallUnixMs(), MonotonicNs(), log_internal::CurrentIdentity()};
  log_internal::WriteLine(level, FormatEvent(event, stamp));
}

}  // namespace proofline
