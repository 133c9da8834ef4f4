#include "coordinator/work_door.h"

#include "core/base/event.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/groth16/result.h"
#include "shm/pidfd.h"

namespace proofline::coordinator {

using shm::SlotState;
using shm::SlotWord;

namespace {

constexpr uint32_t kMaxStages = 16;
constexpr uint64_t kStuckNs = uint64_t{10} * 60 * 1'000'000'000;

std::vector<StageTime> StagesOf(const google::protobuf::RepeatedPtrField<wire::StageTime>& packed) {
  std::vector<StageTime> stages;
  for (const wire::StageTime& stage : packed) {
    if (stages.size() == kMaxStages) break;
    stages.push_back({stage.stage().substr(0, 32), 0, stage.work_ns()});
  }
  return stages;
}

// The first bytes of a result: whose curve, how many public values. Its numbers are the client's to check.
Status CheckResult(const std::string& bytes, const wire::Circuit* circuit) {
  if (bytes.size() < ResultBytes(0) || bytes.compare(0, 4, "PRF1") != 0) return Status(ErrorCode::kDeviceFault, "the owner's result is none", StrCat(bytes.size(), " bytes"));
  if (!circuit) return OkStatus();
  const uint32_t curve = LoadLe<uint32_t>(bytes.data() + 4), n_public = LoadLe<uint32_t>(bytes.data() + 8);
  if (curve == circuit->curve() && n_public == circuit->n_public() && bytes.size() == ResultBytes(n_public)) return OkStatus();
  return Status(ErrorCode::kDeviceFault, StrCat("the owner's result is of curve ", curve, " with ", n_public, " public values in ", bytes.size(),
                                                " bytes, expected curve ", circuit->curve(), " with ", circuit->n_public()));
}

}  // namespace

// ---- orders ----

template <class M>
void WorkDoor::SendTo(uint32_t instance, const M& message) {
  Worker* worker = core_.workers.Find(instance);
  if (!worker || worker->peer.empty()) return;
  // A lost doorbell is rung again when the worker's heartbeat says that it has no order.
  const Status sent = socket_.SendMessage(worker->peer, message, core_.term());
  if (!sent.ok() && sent.code() != ErrorCode::kUnavailable) LogStatus(LogLevel::kWarn, "message to a worker", sent);
}

template <class M>
M WorkDoor::OrderFor(uint32_t slot) {
  const SlotInfo& info = core_.scheduler.slots()[slot];
  M order;
  order.set_slot(slot);
  order.set_epoch(core_.slots.expected(slot).epoch);
  order.set_job(info.job);
  order.set_partition(info.part);
  order.set_attempt(info.attempt);
  if (const Job* job = core_.scheduler.table().Find(info.job)) {
    order.set_priority(job->record.priority);
    if (const wire::Circuit* circuit = core_.circuits.Find(job->record.circuit)) *order.mutable_circuit() = *circuit;
  }
  return order;
}

void WorkDoor::Ring(uint32_t slot) {
  const SlotWord& word = core_.slots.expected(slot);
  // An order without a job is one that nobody wants any more: the worker is left alone until it dies or moves the word.
  const bool has_job = core_.scheduler.table().Find(core_.scheduler.slots()[slot].job) != nullptr;
  if (word.state == SlotState::kGrant && has_job) SendTo(word.instance, OrderFor<wire::SynthGrant>(slot));
  if (word.state == SlotState::kLease && has_job) SendTo(word.instance, OrderFor<wire::GpuLease>(slot));
  if (word.state == SlotState::kWipe) {
    wire::WipeOrder order;
    order.set_slot(slot);
    order.set_epoch(word.epoch);
    SendTo(word.instance, order);
  }
  if ((word.state == SlotState::kGrant || word.state == SlotState::kLease) && !has_job) Carry(HintCancel{slot, word.instance});
}

// The scheduler and the words are kept in step by one writer, so a failed swap means that a process wrote what it may not.
void WorkDoor::Contradiction(uint32_t slot, const char* what) {
  const SlotWord word = core_.slots.Load(slot);
  LogError("a slot's word is not what it must be", {{"slot", slot}, {"word", shm::ToString(word)}, {"expected", shm::ToString(core_.slots.expected(slot))}, {"during", what}});
  const uint32_t owner = core_.scheduler.slots()[slot].instance;
  if (owner == 0) {
    core_.slots.Restore(slot, word);
    return;
  }
  core_.slots.Accept(slot, word);
  Suspect(owner, StrCat("it moved the word of slot ", slot, " against the rules"));
}

void WorkDoor::Carry(const GrantSlot& grant) {
  const Job* job = core_.scheduler.table().Find(grant.job);
  if (!core_.slots.Grant(grant.slot, grant.instance, {grant.job, grant.part, grant.attempt, job ? job->record.circuit : 0})) return Contradiction(grant.slot, "grant");
  Ring(grant.slot);
}

void WorkDoor::Carry(const LeaseSlot& lease) {
  if (!core_.slots.Lease(lease.slot, lease.instance, lease.attempt)) return Contradiction(lease.slot, "lease");
  Ring(lease.slot);
}

void WorkDoor::Carry(const WipeSlot& wipe) {
  if (!core_.slots.Wipe(wipe.slot, wipe.instance)) return Contradiction(wipe.slot, "wipe");
  Ring(wipe.slot);
}

void WorkDoor::Carry(const FreeSlot& slot) {
  if (!core_.slots.Free(slot.slot)) Contradiction(slot.slot, "free");
}

void WorkDoor::Carry(const SealSlotAgain& slot) {
  if (!core_.slots.SealAgain(slot.slot)) Contradiction(slot.slot, "seal again");
}

void WorkDoor::Carry(const HintCancel& hint) {
  wire::CancelSlot cancel;
  cancel.set_slot(hint.slot);
  cancel.set_epoch(core_.slots.expected(hint.slot).epoch);
  SendTo(hint.instance, cancel);
}

// ---- messages ----

bool WorkDoor::Receive(int limit) {
  for (int i = 0; i < limit; ++i) {
    const auto message = socket_.Receive();
    if (!message) return false;
    Handle(message->peer, message->frame);
  }
  return true;
}

void WorkDoor::Handle(const std::string& peer, const wire::Frame& frame) {
  switch (frame.type) {
    case wire::MessageType::kHello:
      if (const auto hello = wire::Unpack<wire::Hello>(frame); hello.ok()) OnHello(peer, *hello);
      return;
    case wire::MessageType::kDone:
      if (const auto done = wire::Unpack<wire::Done>(frame); done.ok() && done->slot() < core_.slots.count()) OnDone(*done);
      return;
    case wire::MessageType::kFailed:
      if (const auto failed = wire::Unpack<wire::Failed>(frame); failed.ok() && failed->slot() < core_.slots.count()) Observe(failed->slot(), {});
      return;
    case wire::MessageType::kHeartbeat:
      if (const auto beat = wire::Unpack<wire::Heartbeat>(frame); beat.ok()) OnHeartbeat(peer, *beat);
      return;
    case wire::MessageType::kDrain:
      if (Worker* worker = core_.workers.FindByPeer(peer)) {
        worker->draining = true;
        core_.scheduler.WorkerDraining(worker->instance);
      }
      return;
    default:
      LogDebug("a worker sent what only the coordinator sends", {{"type", wire::MessageTypeName(frame.type)}});
  }
}

wire::Welcome WorkDoor::MakeWelcome() const {
  wire::Welcome welcome;
  welcome.set_heartbeat_ms(core_.options.heartbeat_ms);
  welcome.set_generation(core_.slots.generation());
  return welcome;
}

void WorkDoor::RingAll(uint32_t instance) {
  for (uint32_t slot = 0; slot < core_.slots.count(); ++slot) {
    if (core_.slots.expected(slot).instance == instance) Ring(slot);
  }
}

void WorkDoor::ComeUp(Worker& worker, const std::string& peer) {
  if (worker.peer != peer) {
    EmitEvent({.name = "worker-up", .outcome = "ok", .extra = {{"worker", worker.instance}, {"worker_pid", worker.pid}, {"device", worker.device}}});
  }
  worker.peer = peer;
  worker.heard_ns = core_.now_ns;
  core_.scheduler.WorkerUp(worker.instance, worker.role, worker.role == WorkerRole::kGpu && worker.device != "cpu" ? 2 : 1);
}

void WorkDoor::OnHello(const std::string& peer, const wire::Hello& hello) {
  Worker* worker = core_.workers.Find(hello.instance());
  const bool known = worker && hello.generation() == core_.slots.generation() && worker->pid == hello.pid() && !worker->restored && worker->suspicion.empty();
  // Unknown: another table, or another life of ours. Generation and term of the answer tell it to end or to attach again.
  if (known) ComeUp(*worker, peer);
  core_.outbox.effects.push_back([this, peer, known, instance = hello.instance()] {
    (void)socket_.SendMessage(peer, MakeWelcome(), core_.term());
    if (known) RingAll(instance);
  });
}

void WorkDoor::OnDone(const wire::Done& done) {
  // The times of an earlier epoch are another attempt's.
  if (done.epoch() == core_.slots.expected(done.slot()).epoch) Observe(done.slot(), StagesOf(done.stages()), done.wide_fraction_ppm());
}

void WorkDoor::OnHeartbeat(const std::string& peer, const wire::Heartbeat& beat) {
  Worker* worker = core_.workers.Find(beat.instance());
  if (!worker || worker->restored || !worker->suspicion.empty()) {
    core_.outbox.effects.push_back([this, peer] { (void)socket_.SendMessage(peer, MakeWelcome(), core_.term()); });
    return;
  }
  // It attached again and keeps its connection: its Hello of a former term still counts for it.
  const wire::Role role = worker->role == WorkerRole::kGpu ? wire::ROLE_GPU : wire::ROLE_SYNTH;
  if (worker->peer != peer) {
    if (peer != wire::WorkerRoutingId(role, worker->ordinal, worker->instance)) return;
    ComeUp(*worker, peer);
  }
  worker->heard_ns = core_.now_ns;
  const auto info = core_.scheduler.workers().find(worker->instance);
  const bool idle = info == core_.scheduler.workers().end() || info->second.held == 0;
  if (idle || beat.progress() != worker->progress) worker->progress_ns = core_.now_ns;
  worker->progress = beat.progress();
  for (const wire::HeldSlot& held : beat.held()) {
    if (held.slot() >= core_.slots.count()) continue;
    const SlotWord& word = core_.slots.expected(held.slot());
    if (held.progress() == 0 && held.word() == word.Pack() && word.instance == worker->instance) {
      core_.outbox.effects.push_back([this, slot = held.slot()] { Ring(slot); });
    }
  }
}

// ---- words ----

bool WorkDoor::Observe(uint32_t slot, std::vector<StageTime> stages, uint64_t wide_fraction_ppm) {
  const SlotWord word = core_.slots.Load(slot), expected = core_.slots.expected(slot);
  if (word == expected) return false;
  const SlotUse use = core_.scheduler.slots()[slot].use;
  // An owner moves the word within its epoch; everything else is the coordinator's.
  const bool owned = word.epoch == expected.epoch;
  moved_.erase(slot);
  if (owned && use == SlotUse::kGranted && word.state == SlotState::kReady) {
    core_.slots.Accept(slot, word);
    if (const Job* job = core_.scheduler.table().Find(core_.scheduler.slots()[slot].job); job && wide_fraction_ppm != 0) {
      core_.circuits.SetWideFraction(job->record.circuit, wide_fraction_ppm);
    }
    core_.scheduler.Sealed(slot, std::move(stages), core_.now_ns, core_.now_unix_ms);
  } else if (owned && use == SlotUse::kLeased && word.state == SlotState::kResult) {
    core_.slots.Accept(slot, word);
    ObserveResult(slot, std::move(stages));
  } else if (owned && (use == SlotUse::kGranted || use == SlotUse::kLeased) && word.state == SlotState::kFailed) {
    core_.slots.Accept(slot, word);
    const auto snapshot = core_.slots.Snapshot(slot);
    Status why = snapshot.ok() ? snapshot->error : snapshot.status();
    if (why.ok()) why = Status(ErrorCode::kInternal, "a worker gave up without a reason");
    if (use == SlotUse::kLeased && (why.code() == ErrorCode::kDeviceFault || why.code() == ErrorCode::kInvalidProof)) ++core_.proofs_refused;
    if (use == SlotUse::kGranted) {
      core_.scheduler.SynthFailed(slot, why.error(), core_.now_ns, core_.now_unix_ms);
    } else {
      core_.scheduler.GpuFailed(slot, why.error(), core_.now_ns, core_.now_unix_ms);
    }
  } else if (owned && use == SlotUse::kWiping && word.state == SlotState::kFree) {
    core_.slots.Accept(slot, word);
    core_.scheduler.Wiped(slot);
  } else {
    Contradiction(slot, "observation");
  }
  return true;
}

void WorkDoor::ObserveResult(uint32_t slot, std::vector<StageTime> stages) {
  auto result = core_.slots.ReadResult(slot);
  Status status = result.ok() ? OkStatus() : result.status();
  const SlotInfo& info = core_.scheduler.slots()[slot];
  if (const Job* job = core_.scheduler.table().Find(info.job); job && status.ok()) status = CheckResult(*result, core_.circuits.Find(job->record.circuit));
  if (status.ok()) {
    core_.scheduler.Proved(slot, *std::move(result), std::move(stages), core_.now_ns, core_.now_unix_ms);
    return;
  }
  ++core_.proofs_refused;
  LogStatus(LogLevel::kError, "a result cannot be taken", status);
  core_.scheduler.GpuFailed(slot, {ErrorCode::kDeviceFault, status.error().fact, status.error().detail, {}}, core_.now_ns, core_.now_unix_ms);
}

void WorkDoor::BeginScan(const std::vector<uint32_t>& condemned) {
  for (uint32_t slot = 0; slot < core_.slots.count(); ++slot) Observe(slot, {});
  for (const uint32_t instance : condemned) Suspect(instance, "it was suspected before the coordinator's restart");
}

void WorkDoor::Scan() {
  for (uint32_t slot = 0; slot < core_.slots.count(); ++slot) {
    const SlotWord word = core_.slots.Load(slot);
    if (word == core_.slots.expected(slot)) continue;
    // Its doorbell, which also brings the stage times, is given one scan to arrive.
    if (const auto seen = moved_.find(slot); seen == moved_.end() || seen->second != word.Pack()) {
      moved_[slot] = word.Pack();
      continue;
    }
    Observe(slot, {});
  }
  const auto overdue = core_.workers.Overdue(core_.now_ns, uint64_t{core_.options.suspect_ms} * 1'000'000, kStuckNs, core_.scheduler.workers());
  for (const uint32_t instance : overdue) Suspect(instance, StrCat("it was not heard for ", core_.options.suspect_ms, " ms, or made no progress"));
}

void WorkDoor::Suspect(uint32_t instance, const std::string& why) {
  Worker* worker = core_.workers.Find(instance);
  if (!worker || !worker->suspicion.empty()) return;
  worker->suspicion = why;
  core_.scheduler.WorkerDraining(instance);
  EmitEvent({.name = "worker-suspected", .outcome = "lost", .text = why, .extra = {{"worker", instance}, {"worker_pid", worker->pid}}}, LogLevel::kWarn);
  for (uint32_t slot = 0; slot < core_.slots.count(); ++slot) {
    if (core_.scheduler.slots()[slot].instance != instance) continue;
    // If the word has moved meanwhile, what it says now counts; it is looked at when the death is confirmed.
    core_.slots.Quarantine(slot);
  }
  if (const Status killed = shm::KillByPidfd(worker->pidfd.get()); !killed.ok()) LogStatus(LogLevel::kError, "a suspected worker", killed);
}

void WorkDoor::Died(uint32_t instance) {
  Worker* worker = core_.workers.Find(instance);
  if (!worker) return;
  for (uint32_t slot = 0; slot < core_.slots.count(); ++slot) {
    if (core_.scheduler.slots()[slot].instance == instance) Observe(slot, {});
  }
  const bool holds = [&] {
    for (const SlotInfo& slot : core_.scheduler.slots()) {
      if (slot.instance == instance) return true;
    }
    return false;
  }();
  const std::string why = StrCat("process ", worker->pid, " ended", worker->suspicion.empty() ? "" : StrCat(", killed because ", worker->suspicion));
  const auto load = core_.scheduler.workers().find(instance);
  const bool left = !holds && (worker->draining || (load != core_.scheduler.workers().end() && load->second.draining)) && worker->suspicion.empty();
  if (!left) ++core_.workers_lost;
  EmitEvent({.name = "worker-lost", .outcome = "lost", .text = why, .extra = {{"worker", instance}, {"worker_pid", worker->pid}}},
            left ? LogLevel::kInfo : LogLevel::kWarn);
  core_.scheduler.WorkerDead(instance, why, core_.now_ns, core_.now_unix_ms);
  core_.outbox.ops.emplace_back(RemoveWorker{instance});
  core_.workers.Remove(instance);
}

}  // namespace proofline::coordinator
