#include "cli/view.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/duration.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/field/moduli.h"
#include "core/formats/curve_prime.h"

namespace proofline::cli {
namespace {

using Json = nlohmann::ordered_json;

// Texts come from files and other processes: what is no UTF-8 is replaced, never an exception.
std::string Dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string_view RoleName(wire::Role role) { return role == wire::ROLE_SYNTH ? "synth" : role == wire::ROLE_GPU ? "gpu" : role == wire::ROLE_CLIENT ? "client" : "unknown"; }
bool IsCurve(uint32_t curve) { return curve == static_cast<uint32_t>(CurveId::kBn254) || curve == static_cast<uint32_t>(CurveId::kBls12381); }
std::string CurveText(uint32_t curve) { return IsCurve(curve) ? std::string(CurveTitle(static_cast<CurveId>(curve))) : StrCat("curve ", curve); }
std::string CurveKey(uint32_t curve) { return IsCurve(curve) ? std::string(CurveJsonName(static_cast<CurveId>(curve))) : StrCat("curve", curve); }

std::string Pad(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text + "  ";
}

Json ErrorJson(const wire::Error& error) {
  return {{"code", ErrorCodeName(static_cast<ErrorCode>(error.code()))}, {"fact", error.fact()}, {"detail", error.detail()}, {"remedy", error.remedy()}};
}

Json ToJson(const wire::Circuit& c) {
  return {{"name", c.name()},
          {"curve", CurveKey(c.curve())},
          {"variables", c.n_vars()},
          {"public", c.n_public()},
          {"domain", uint64_t{1} << (c.log2_domain() & 63)},
          {"coefficients", c.coefficient_count()},
          {"key", c.key_path()},
          {"key_bytes", c.key_bytes()},
          {"key_sha256", c.key_hash()},
          {"r1cs", c.r1cs_path()},
          {"unsafe", c.unsafe_key()},
          {"known_secret", c.known_secret_key()},
          {"added", c.added_unix_ms() ? Json(FormatRfc3339(c.added_unix_ms())) : Json(nullptr)}};
}

Json ToJson(const wire::PartitionView& p) {
  Json stages = Json::array();
  for (const auto& s : p.stages()) stages.push_back({{"stage", s.stage()}, {"queue_ns", s.queue_ns()}, {"work_ns", s.work_ns()}});
  Json out = {{"partition", p.partition()}, {"state", StateName(p.state())}, {"attempt", p.attempt()}, {"stages", std::move(stages)}};
  out["error"] = p.has_error() && p.error().code() ? ErrorJson(p.error()) : Json(nullptr);
  return out;
}

Json ToJson(const wire::Counters& c) {
  return {{"accepted", c.accepted()}, {"finished", c.finished()}, {"failed", c.failed()}, {"cancelled", c.cancelled()}, {"live", c.live()}};
}

std::string CountersText(std::string_view name, const wire::Counters& c) {
  return StrCat(name, ": ", c.accepted(), " accepted = ", c.finished(), " finished + ", c.failed(), " failed + ", c.cancelled(), " cancelled + ", c.live(), " live\n");
}

std::string Flags(const wire::Circuit& c) {
  std::string flags;
  if (c.unsafe_key()) flags += "UNSAFE ";
  if (c.known_secret_key()) flags += "TEST-KEY ";
  return flags;
}

void AppendPartition(std::string& out, const wire::PartitionView& p) {
  out += StrCat("partition ", p.partition(), ": ", StateName(p.state()));
  if (p.attempt() > 1) out += StrCat(", attempt ", p.attempt());
  out += "\n";
  if (p.has_error() && p.error().code()) {
    out += StrCat("  ", p.error().fact(), "\n");
    for (const std::string* extra : {&p.error().detail(), &p.error().remedy()})
      if (!extra->empty()) out += StrCat("  ", *extra, "\n");
  }
  for (const auto& s : p.stages()) out += StrCat("  ", Pad(s.stage(), 10), "wait ", Pad(FormatNs(s.queue_ns()), 10), "work ", FormatNs(s.work_ns()), "\n");
}

}  // namespace

std::string_view StateName(wire::JobState state) {
  switch (state) {
    case wire::JOB_QUEUED: return "queued";
    case wire::JOB_RUNNING: return "running";
    case wire::JOB_DONE: return "done";
    case wire::JOB_FAILED: return "failed";
    case wire::JOB_CANCELLED: return "cancelled";
    default: return "unknown";
  }
}

std::string_view PriorityName(wire::Priority priority) {
  switch (priority) {
    case wire::PRIORITY_CRITICAL: return "critical";
    case wire::PRIORITY_HIGH: return "high";
    case wire::PRIORITY_LOW: return "low";
    default: return "normal";
  }
}

Result<wire::Priority> ParsePriority(std::string_view text) {
  for (wire::Priority p : {wire::PRIORITY_CRITICAL, wire::PRIORITY_HIGH, wire::PRIORITY_NORMAL, wire::PRIORITY_LOW})
    if (text == PriorityName(p)) return p;
  return Status(ErrorCode::kUsage, StrCat("--priority: \"", text, "\" is no priority"), "", "one of critical, high, normal, low");
}

std::string JobText(const wire::JobView& job) {
  std::string out = StrCat("job ", job.job_name(), ": ", StateName(job.state()), ", circuit ", job.circuit(), ", ", job.partition_count(),
                           job.partition_count() == 1 ? " partition" : " partitions", ", priority ", PriorityName(job.priority()));
  if (job.ended_unix_ms() > 0)
    out += StrCat(", took ", FormatNs(static_cast<uint64_t>(std::max<int64_t>(job.ended_unix_ms() - job.created_unix_ms(), 0)) * 1'000'000));
  out += "\n";
  for (const auto& p : job.partitions()) AppendPartition(out, p);
  const auto shown = static_cast<uint32_t>(job.partitions_size());
  if (shown < job.partition_count()) out += StrCat("(", job.partition_count() - shown, " more partitions are not listed)\n");
  return out;
}

std::string JobJson(const wire::JobView& job) {
  Json partitions = Json::array();
  for (const auto& p : job.partitions()) partitions.push_back(ToJson(p));
  return Dump({{"job", job.job_name()},
               {"state", StateName(job.state())},
               {"circuit", job.circuit()},
               {"priority", PriorityName(job.priority())},
               {"created", FormatRfc3339(job.created_unix_ms())},
               {"ended", job.ended_unix_ms() ? Json(FormatRfc3339(job.ended_unix_ms())) : Json(nullptr)},
               {"partition_count", job.partition_count()},
               {"partitions", std::move(partitions)}});
}

std::string StackText(const wire::StackStatus& s) {
  std::string out = StrCat("proofline ", s.version(), ", up since ", FormatRfc3339(s.started_unix_ms()), ", term ", s.term(), "\n");
  out += CountersText("jobs", s.jobs());
  out += CountersText("partitions", s.partitions());
  out += StrCat("queued: ", s.queued_synth(), " for synthesis, ", s.queued_gpu(), " for a device\n");
  out += StrCat("since the start: ", s.retries(), " retries, ", s.workers_lost(), " workers lost, ", s.proofs_refused(), " proofs refused by verification\n");
  out += StrCat("circuits: ", s.circuit_count(), "; slots: ", s.slots_size(), " of ", (s.slot_bytes() + (1 << 20) - 1) >> 20, " MiB\n");
  for (const auto& w : s.workers()) {
    out += StrCat("worker ", RoleName(w.role()), " ", w.ordinal(), w.device().empty() ? "" : StrCat(" (", w.device(), ")"), ": ", w.state(), ", pid ", w.pid(), ", ",
                  w.done(), " done, ", w.failed(), " failed\n");
  }
  for (const auto& slot : s.slots()) {
    out += StrCat("slot ", slot.slot(), ": ", slot.state());
    if (!slot.job_name().empty()) out += StrCat(", job ", slot.job_name(), " partition ", slot.partition());
    out += "\n";
  }
  return out;
}

std::string StackJson(const wire::StackStatus& s) {
  Json workers = Json::array(), slots = Json::array();
  for (const auto& w : s.workers()) {
    workers.push_back({{"role", RoleName(w.role())}, {"ordinal", w.ordinal()}, {"instance", w.instance()}, {"pid", w.pid()}, {"device", w.device()},
                       {"state", w.state()}, {"done", w.done()}, {"failed", w.failed()}});
  }
  for (const auto& slot : s.slots()) {
    slots.push_back({{"slot", slot.slot()}, {"state", slot.state()}, {"epoch", slot.epoch()}, {"instance", slot.instance()}, {"job", slot.job_name()}, {"partition", slot.partition()}});
  }
  return Dump({{"version", s.version()},
               {"term", s.term()},
               {"started", FormatRfc3339(s.started_unix_ms())},
               {"jobs", ToJson(s.jobs())},
               {"partitions", ToJson(s.partitions())},
               {"queued_synth", s.queued_synth()},
               {"queued_gpu", s.queued_gpu()},
               {"retries", s.retries()},
               {"proofs_refused", s.proofs_refused()},
               {"workers_lost", s.workers_lost()},
               {"circuits", s.circuit_count()},
               {"slot_bytes", s.slot_bytes()},
               {"workers", std::move(workers)},
               {"slots", std::move(slots)}});
}

std::string CircuitsText(const std::vector<wire::Circuit>& circuits) {
  if (circuits.empty()) return "no circuits; add one with `proofline circuit add NAME --key K.zkey`\n";
  size_t width = 4;
  for (const auto& c : circuits) width = std::max(width, c.name().size());
  std::string out = Pad("name", width) + Pad("curve", 9) + Pad("domain", 6) + Pad("variables", 10) + Pad("public", 7) + "key\n";
  for (const auto& c : circuits) {
    out += Pad(c.name(), width) + Pad(CurveText(c.curve()), 9) + Pad(StrCat("2^", c.log2_domain()), 6) + Pad(StrCat(c.n_vars()), 10) + Pad(StrCat(c.n_public()), 7) + Flags(c) +
           c.key_path() + "\n";
  }
  return out;
}

std::string CircuitsJson(const std::vector<wire::Circuit>& circuits) {
  Json list = Json::array();
  for (const auto& c : circuits) list.push_back(ToJson(c));
  return Dump(list);
}

std::string CircuitText(const wire::Circuit& c) {
  std::string out = StrCat("circuit ", c.name(), "\n  curve ", CurveText(c.curve()), ", domain 2^", c.log2_domain(), ", ", c.n_vars(), " variables (", c.n_public(), " public), ",
                           c.coefficient_count(), " coefficients\n  key ", c.key_path(), ", ", c.key_bytes(), " bytes\n");
  if (!c.key_hash().empty()) out += StrCat("  SHA-256 ", c.key_hash(), "\n");
  if (!c.r1cs_path().empty()) out += StrCat("  constraints ", c.r1cs_path(), "\n");
  if (c.unsafe_key()) out += "  UNSAFE: no second-phase contribution; anybody can forge proofs\n";
  if (c.known_secret_key()) out += "  TEST KEY: made from a seed; whoever has it can forge proofs\n";
  if (c.added_unix_ms()) out += StrCat("  added ", FormatRfc3339(c.added_unix_ms()), "\n");
  return out;
}

std::string CircuitJson(const wire::Circuit& c) { return Dump(ToJson(c)); }

}  // namespace proofline::cli
