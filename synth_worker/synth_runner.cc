#include "synth_worker/synth_runner.h"

#include "core/base/event.h"
#include "shm/sections.h"
#include "synth_worker/synthesis.h"

namespace proofline::synth_worker {

using shm::SlotState;
using shm::SlotWord;

namespace {

constexpr int kInputWaitMs = 20000;  // a coordinator may be restarted meanwhile

template <class M>
std::optional<wire::Frame> Framed(const M& message) {
  auto frame = wire::Pack(message, 0);
  if (!frame.ok()) return std::nullopt;
  return *std::move(frame);
}

template <class Message>
Message About(const wire::SynthGrant& grant, const SynthesisReport& report) {
  Message out;
  out.set_slot(grant.slot());
  out.set_epoch(grant.epoch());
  out.set_job(grant.job());
  out.set_partition(grant.partition());
  out.set_attempt(grant.attempt());
  for (const wire::StageTime& stage : report.stages) *out.add_stages() = stage;
  return out;
}

void EmitStages(const wire::SynthGrant& grant, const SynthesisReport& report, const Status& status) {
  for (const wire::StageTime& stage : report.stages) {
    bool last = &stage == &report.stages.back();
    Event event;
    event.name = "stage";
    event.job = grant.job();
    event.partition = grant.partition();
    event.attempt = grant.attempt();
    event.stage = stage.stage();
    event.work_ns = stage.work_ns();
    event.outcome = last && !status.ok() ? "failed" : "ok";
    if (last && !status.ok()) {
      event.code = status.code();
      event.text = status.error().fact;
    }
    EmitEvent(event);
  }
}

}  // namespace

SynthRunner::SynthRunner(shm::SlotTable& table, std::vector<shm::Mapping>& slots, uint32_t instance,
                         std::string broker_path, tbb::task_arena& arena, uint64_t key_cache_bytes)
    : table_(table),
      slots_(slots),
      instance_(instance),
      broker_path_(std::move(broker_path)),
      arena_(arena),
      keys_(ZkeyUse::kAll, key_cache_bytes) {}

std::optional<wire::SlotEpoch> SynthRunner::KeyOf(const wire::Frame& order) {
  wire::SlotEpoch key;
  if (order.type == wire::MessageType::kSynthGrant) {
    auto grant = wire::Unpack<wire::SynthGrant>(order);
    if (!grant.ok()) return std::nullopt;
    key = {grant->slot(), grant->epoch()};
  } else if (order.type == wire::MessageType::kWipeOrder) {
    auto wipe = wire::Unpack<wire::WipeOrder>(order);
    if (!wipe.ok()) return std::nullopt;
    key = {wipe->slot(), wipe->epoch()};
  } else {
    return std::nullopt;
  }
  if (key.slot >= table_.layout().slot_count) return std::nullopt;
  return key;
}

std::vector<wire::OwnedSlot> SynthRunner::Owned() {
  std::vector<wire::OwnedSlot> out;
  for (uint32_t slot = 0; slot < table_.layout().slot_count; ++slot) {
    SlotWord word = table_.Load(slot);
    if (word.instance == instance_ && (word.state == SlotState::kGrant || word.state == SlotState::kWipe))
      out.push_back({{slot, word.epoch}, word.Pack()});
  }
  return out;
}

std::optional<wire::Frame> SynthRunner::OrderFor(const wire::OwnedSlot& owned) {
  if (SlotWord::Unpack(owned.word).state != SlotState::kWipe) return std::nullopt;
  wire::WipeOrder order;
  order.set_slot(owned.key.slot);
  order.set_epoch(owned.key.epoch);
  return Framed(order);
}

std::optional<wire::Frame> SynthRunner::Run(const wire::Frame& order, const wire::CancelFlag& cancel) {
  std::optional<wire::Frame> out;
  arena_.execute([&] {
    if (auto grant = wire::Unpack<wire::SynthGrant>(order); grant.ok())
      out = RunGrant(*grant, cancel);
    else if (auto wipe = wire::Unpack<wire::WipeOrder>(order); wipe.ok())
      out = RunWipe(*wipe);
  });
  return out;
}

std::optional<wire::Frame> SynthRunner::RunGrant(const wire::SynthGrant& grant, const wire::CancelFlag& cancel) {
  const SlotWord mine{SlotState::kGrant, instance_, grant.epoch()};
  auto header = table_.Snapshot(grant.slot(), mine);
  // An old order, or one for a slot that has been taken from us: the word decides.
  if (!header.ok() || header->assignment.job != grant.job() || header->assignment.partition != grant.partition())
    return std::nullopt;

  Synthesis synthesis({.keys = keys_,
                       .table = table_,
                       .fetch_input =
                           [&] {
                             wire::GetInput request;
                             request.set_job(grant.job());
                             request.set_partition(grant.partition());
                             request.set_slot(grant.slot());
                             request.set_epoch(grant.epoch());
                             return wire::FetchInput(broker_path_, request, kInputWaitMs);
                           },
                       .cancelled = [&] { return cancel.load(); }},
                      grant, slots_[grant.slot()].data());
  Status status = synthesis.Run();
  EmitStages(grant, synthesis.report(), status);
  if (!status.ok()) {
    table_.WriteError(grant.slot(), status);
    if (!table_.TryTransition(grant.slot(), mine, {SlotState::kFailed, 0, grant.epoch()})) return std::nullopt;
    auto failed = About<wire::Failed>(grant, synthesis.report());
    wire::FillError(status, failed.mutable_error());
    return Framed(failed);
  }
  if (!table_.TryTransition(grant.slot(), mine, {SlotState::kReady, 0, grant.epoch()})) return std::nullopt;
  auto done = About<wire::Done>(grant, synthesis.report());
  done.set_wide_fraction_ppm(synthesis.report().wide_fraction_ppm);
  return Framed(done);
}

std::optional<wire::Frame> SynthRunner::RunWipe(const wire::WipeOrder& order) {
  const SlotWord mine{SlotState::kWipe, instance_, order.epoch()};
  if (!(table_.Load(order.slot()) == mine)) return std::nullopt;
  uint8_t* slot = slots_[order.slot()].data();
  auto header = table_.Snapshot(order.slot(), mine);
  if (header.ok()) {
    // Sections are announced before their first byte, so no section means that no payload was written.
    for (const shm::SectionEntry& entry : header->sections) shm::WipeSection(slot, entry);
    if (header->result.length_bytes > 0) shm::WipeSection(slot, header->result);
  } else {
    shm::WipeSlot(slot, table_.layout());
  }
  if (!table_.TryTransition(order.slot(), mine, {SlotState::kFree, 0, order.epoch()})) return std::nullopt;
  wire::Done done;
  done.set_slot(order.slot());
  done.set_epoch(order.epoch());
  return Framed(done);
}

}  // namespace proofline::synth_worker
