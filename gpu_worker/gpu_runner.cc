#include "gpu_worker/gpu_runner.h"

#include "core/base/clock.h"
#include "core/base/event.h"
#include "core/base/text.h"
#include "core/groth16/result.h"
#include "gpu_worker/prove_pipeline.h"
#include "shm/sections.h"

namespace proofline::gpu_worker {

using shm::SectionKind;
using shm::SlotState;
using shm::SlotWord;

namespace {

template <class M>
std::optional<wire::Frame> Framed(const M& message) {
  auto frame = wire::Pack(message, 0);
  if (!frame.ok()) return std::nullopt;
  return *std::move(frame);
}

template <class Message>
Message About(const wire::GpuLease& lease, const std::vector<wire::StageTime>& stages) {
  Message out;
  out.set_slot(lease.slot());
  out.set_epoch(lease.epoch());
  out.set_job(lease.job());
  out.set_partition(lease.partition());
  out.set_attempt(lease.attempt());
  for (const wire::StageTime& stage : stages) *out.add_stages() = stage;
  return out;
}

Event EventAbout(const wire::GpuLease& lease, std::string_view name) {
  Event event;
  event.name = name;
  event.job = lease.job();
  event.partition = lease.partition();
  event.attempt = lease.attempt();
  return event;
}

void EmitStages(const wire::GpuLease& lease, const std::vector<wire::StageTime>& stages, const Status& status) {
  for (const wire::StageTime& stage : stages) {
    bool failed = !status.ok() && &stage == &stages.back();
    Event event = EventAbout(lease, "stage");
    event.stage = stage.stage();
    event.work_ns = stage.work_ns();
    event.outcome = failed ? "failed" : "ok";
    if (failed) {
      event.code = status.code();
      event.text = status.error().fact;
    }
    EmitEvent(event);
  }
}

// Of what lies in a slot in one epoch; never 0.
uint64_t InputId(const wire::GpuLease& lease) { return uint64_t{lease.epoch()} << 32 | (uint64_t{lease.slot()} + 1); }

}  // namespace

std::optional<wire::SlotEpoch> GpuRunner::KeyOf(const wire::Frame& order) {
  auto lease = wire::Unpack<wire::GpuLease>(order);
  if (!lease.ok() || lease->slot() >= table_.layout().slot_count) return std::nullopt;
  return wire::SlotEpoch{lease->slot(), lease->epoch()};
}

std::vector<wire::OwnedSlot> GpuRunner::Owned() {
  std::vector<wire::OwnedSlot> out;
  for (uint32_t slot = 0; slot < table_.layout().slot_count; ++slot) {
    SlotWord word = table_.Load(slot);
    if (word.instance == instance_ && word.state == SlotState::kLease) out.push_back({{slot, word.epoch}, word.Pack()});
  }
  return out;
}

std::optional<wire::Frame> GpuRunner::OrderFor(const wire::OwnedSlot&) { return std::nullopt; }

std::optional<wire::Frame> GpuRunner::Run(const wire::Frame& order, const wire::CancelFlag& cancel) {
  auto lease = wire::Unpack<wire::GpuLease>(order);
  if (!lease.ok()) return std::nullopt;
  std::optional<wire::Frame> out;
  arena_.execute([&] { out = RunLease(*lease, cancel); });
  if (device_.lost()) device_lost_();
  return out;
}

std::optional<wire::Frame> GpuRunner::RunLease(const wire::GpuLease& lease, const wire::CancelFlag& cancel) {
  const SlotWord mine{SlotState::kLease, instance_, lease.epoch()};
  auto header = table_.Snapshot(lease.slot(), mine);
  // kUnavailable: an old order, or a slot that has been taken from us. A spoiled header is a failure of this attempt.
  if (header.status().code() == ErrorCode::kUnavailable) return std::nullopt;
  if (header.ok() && (header->assignment.job != lease.job() || header->assignment.partition != lease.partition()))
    return std::nullopt;
  std::vector<wire::StageTime> stages;
  Status status = header.ok() ? ProveInto(lease, *header, cancel, &stages)
                              : Status(ErrorCode::kCrashed, header.status().error().fact);
  EmitStages(lease, stages, status);
  if (!status.ok()) {
    device_.Forget();
    table_.WriteError(lease.slot(), status);
    if (!table_.TryTransition(lease.slot(), mine, {SlotState::kFailed, 0, lease.epoch()})) return std::nullopt;
    auto failed = About<wire::Failed>(lease, stages);
    wire::FillError(status, failed.mutable_error());
    return Framed(failed);
  }
  if (!table_.TryTransition(lease.slot(), mine, {SlotState::kResult, 0, lease.epoch()})) return std::nullopt;
  return Framed(About<wire::Done>(lease, stages));
}

Status GpuRunner::CheckSections(const wire::GpuLease& lease, const shm::SlotSnapshot& header,
                                const ProvingKeyView& view) const {
  PL_ASSIGN_OR_RETURN(std::vector<shm::SectionEntry> plan,
                      shm::PlanPayload(view.n_vars, view.domain(), table_.layout()));
  for (const shm::SectionEntry& want : plan) {
    const shm::SectionEntry* found = header.Find(static_cast<SectionKind>(want.kind));
    if (found == nullptr || found->length_bytes != want.length_bytes || found->encoding != want.encoding)
      return Status(ErrorCode::kMismatch,
                    StrCat("slot ", lease.slot(), " has ", found ? found->length_bytes : 0, " bytes of section kind ",
                           want.kind, ", key ", lease.circuit().key_path(), " needs ", want.length_bytes));
    PL_RETURN_IF_ERROR(shm::VerifySection(slots_[lease.slot()].data(), *found));
  }
  return OkStatus();
}

Status GpuRunner::ProveInto(const wire::GpuLease& lease, const shm::SlotSnapshot& header,
                            const wire::CancelFlag& cancel, std::vector<wire::StageTime>* stages) {
  uint64_t start = MonotonicNs();
  const wire::Circuit& circuit = lease.circuit();
  PL_ASSIGN_OR_RETURN(std::shared_ptr<CachedKey> key,
                      keys_.Get({circuit.id(), circuit.key_path(), circuit.key_bytes(), circuit.key_mtime_ns()}));
  const bool checked = checked_ok_ && checked_ == InputId(lease);
  if (!checked) PL_RETURN_IF_ERROR(CheckSections(lease, header, key->zkey.view));
  uint8_t* slot = slots_[lease.slot()].data();
  auto section = [&](SectionKind kind) -> ByteSpan { return shm::SectionBytes(slot, *header.Find(kind)); };
  wire::StageTime load;
  load.set_stage("load");
  load.set_start_mono_ns(start);
  load.set_work_ns(MonotonicNs() - start);
  stages->push_back(std::move(load));

  ProvePipeline pipeline(device_, {.key = *key,
                                   .key_name = circuit.key_path(),
                                   .witness = section(SectionKind::kWitness),
                                   .rows_a = section(SectionKind::kRowsA),
                                   .rows_b = section(SectionKind::kRowsB),
                                   .input_id = InputId(lease),
                                   .next = [&] { return NextFor(lease, *key); },
                                   .cancelled = [&] { return cancel.load(); },
                                   .device_fault = [&](const std::string& text) { ReportDeviceFault(lease, text); }});
  auto proved = pipeline.Run();
  stages->insert(stages->end(), pipeline.stages().begin(), pipeline.stages().end());
  if (!proved.ok()) return std::move(proved).status();
  PL_ASSIGN_OR_RETURN(shm::SectionEntry entry, shm::PlanResult(ResultBytes(key->zkey.view.n_public), table_.layout()));
  EncodeResult(*proved, shm::SectionBytes(slot, entry));
  shm::SealSection(slot, entry);
  return table_.WriteResult(lease.slot(), entry);
}

std::optional<NextInput> GpuRunner::NextFor(const wire::GpuLease& lease, const CachedKey& key) {
  if (!peek_) return std::nullopt;
  const std::optional<wire::Frame> order = peek_();
  if (!order) return std::nullopt;
  const auto next = wire::Unpack<wire::GpuLease>(*order);
  if (!next.ok() || next->slot() >= table_.layout().slot_count || next->circuit().id() != lease.circuit().id() ||
      next->circuit().key_path() != lease.circuit().key_path() || next->circuit().key_mtime_ns() != lease.circuit().key_mtime_ns())
    return std::nullopt;
  const auto header = table_.Snapshot(next->slot(), {SlotState::kLease, instance_, next->epoch()});
  if (!header.ok() || header->assignment.job != next->job() || header->assignment.partition != next->partition()) return std::nullopt;
  if (checked_ != InputId(*next)) {
    checked_ = InputId(*next);
    checked_ok_ = CheckSections(*next, *header, key.zkey.view).ok();
  }
  if (!checked_ok_) return std::nullopt;  // its own turn says why
  uint8_t* slot = slots_[next->slot()].data();
  const auto section = [&](SectionKind kind) -> ByteSpan { return shm::SectionBytes(slot, *header->Find(kind)); };
  return NextInput{key.id, InputId(*next), section(SectionKind::kWitness), section(SectionKind::kRowsA), section(SectionKind::kRowsB)};
}

void GpuRunner::ReportDeviceFault(const wire::GpuLease& lease, const std::string& text) const {
  Event event = EventAbout(lease, "device_fault");
  event.stage = "verify";
  event.outcome = "failed";
  event.code = ErrorCode::kDeviceFault;
  event.text = text;
  event.extra.emplace_back("device", device_.name());
  EmitEvent(event, LogLevel::kError);
}

}  // namespace proofline::gpu_worker
