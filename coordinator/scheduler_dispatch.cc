// Time, and who gets what next.
#include <limits>
#include <tuple>

#include "coordinator/scheduler.h"

namespace proofline::coordinator {

// ---- time ----

void Scheduler::Tick(uint64_t now_ns, int64_t now_unix_ms) {
  while (!delayed_.empty() && delayed_.begin()->first <= now_ns) {
    waiting_.insert(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
  }
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_unix_ms) {
    Job* job = table_.Find(deadlines_.begin()->second);
    deadlines_.erase(deadlines_.begin());
    if (!job || job->stopped()) continue;
    job->deadline_missed = true;
    Say({.name = "deadline-missed", .job = job->record.id, .code = ErrorCode::kTimeout});
    Stop(*job, now_unix_ms);
  }
}

uint64_t Scheduler::NextBackoffNs() const { return delayed_.empty() ? std::numeric_limits<uint64_t>::max() : delayed_.begin()->first; }
int64_t Scheduler::NextDeadlineUnixMs() const {
  return deadlines_.empty() ? std::numeric_limits<int64_t>::max() : deadlines_.begin()->first;
}

// ---- dispatch ----

// 0: none now. A worker to be avoided is taken only if it is the only one of its role.
uint32_t Scheduler::PickWorker(WorkerRole role, uint32_t avoid, uint64_t circuit) const {
  const auto cost = [&](const WorkerInfo& worker) {
    return std::tuple(circuit != 0 && worker.circuit != circuit, worker.held, circuit != 0 && worker.circuit != 0);
  };
  uint32_t best = 0;
  bool others = false;
  for (const auto& [instance, worker] : workers_) {
    if (worker.role != role || worker.draining) continue;
    if (instance != avoid) others = true;
    if (instance == avoid || worker.held >= worker.capacity) continue;
    if (best == 0 || cost(worker) < cost(workers_.at(best))) best = instance;
  }
  if (best != 0 || others || avoid == 0) return best;
  const auto only = workers_.find(avoid);
  return only != workers_.end() && only->second.role == role && !only->second.draining && only->second.held < only->second.capacity ? avoid : 0;
}

int32_t Scheduler::PickFreeSlot(bool critical) const {
  int32_t first = -1;
  size_t free = 0;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].use != SlotUse::kFree) continue;
    ++free;
    if (first < 0) first = static_cast<int32_t>(i);
  }
  const size_t kept = slots_.size() > 2 && !critical ? 1 : 0;
  return free > kept ? first : -1;
}

void Scheduler::DispatchLeases(uint64_t now_ns) {
  for (auto at = ready_.begin(); at != ready_.end();) {
    Job& job = *table_.Find(at->job);
    Partition& part = job.parts[at->part];
    const uint32_t instance = PickWorker(WorkerRole::kGpu, part.new_attempt_for_lease ? part.avoid_instance : 0, job.record.circuit);
    if (instance == 0) {
      if (PickWorker(WorkerRole::kGpu, 0) == 0) return;
      ++at;
      continue;
    }
    at = ready_.erase(at);
    if (part.new_attempt_for_lease) BeginAttemptOf(job, part);
    part.new_attempt_for_lease = false;
    SlotInfo& slot = slots_[static_cast<uint32_t>(part.slot)];
    slot.use = SlotUse::kLeased, slot.instance = instance, slot.attempt = part.attempt;
    WorkerInfo& owner = workers_.at(instance);
    ++owner.held;
    owner.circuit = job.record.circuit;
    const uint64_t wait = now_ns - part.since_ns;
    part.phase = PartPhase::kGpu, part.since_ns = now_ns;
    part.stages.push_back({"gpu", wait, 0});
    decisions_.actions.emplace_back(LeaseSlot{static_cast<uint32_t>(part.slot), instance, job.record.id, part.index, part.attempt});
    Say({.name = "leased", .job = job.record.id, .part = part.index, .attempt = part.attempt, .stage = "gpu", .outcome = "ok",
         .queue_wait_ns = wait, .slot = part.slot, .worker = instance});
  }
}

void Scheduler::DispatchWipes() {
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].use != SlotUse::kDirty) continue;
    const uint32_t instance = PickWorker(WorkerRole::kSynth, 0);
    if (instance == 0) return;
    slots_[i].use = SlotUse::kWiping, slots_[i].instance = instance;
    ++workers_.at(instance).held;
    decisions_.actions.emplace_back(WipeSlot{i, instance});
  }
}

void Scheduler::DispatchGrants(bool critical_only, uint64_t now_ns) {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (critical_only && at->rank != 0) return;
    const int32_t slot_index = PickFreeSlot(at->rank == 0);
    if (slot_index < 0) return;
    Job& job = *table_.Find(at->job);
    Partition& part = job.parts[at->part];
    const uint32_t instance = PickWorker(WorkerRole::kSynth, part.avoid_instance);
    if (instance == 0) {
      if (PickWorker(WorkerRole::kSynth, 0) == 0) return;
      ++at;
      continue;
    }
    at = waiting_.erase(at);
    BeginAttemptOf(job, part);
    SlotInfo& slot = slots_[static_cast<uint32_t>(slot_index)];
    slot = {SlotUse::kGranted, instance, job.record.id, part.index, part.attempt};
    ++workers_.at(instance).held;
    const uint64_t wait = now_ns - part.since_ns;
    part.phase = PartPhase::kSynth, part.slot = slot_index, part.since_ns = now_ns;
    part.stages.assign(1, {"synth", wait, 0});
    decisions_.actions.emplace_back(GrantSlot{static_cast<uint32_t>(slot_index), instance, job.record.id, part.index, part.attempt});
    Say({.name = "granted", .job = job.record.id, .part = part.index, .attempt = part.attempt, .stage = "synth", .outcome = "ok",
         .queue_wait_ns = wait, .slot = slot_index, .worker = instance});
  }
}

void Scheduler::Dispatch(uint64_t now_ns) {
  DispatchLeases(now_ns);
  // Critical work does not wait for a wipe as long as it has a slot.
  DispatchGrants(true, now_ns);
  DispatchWipes();
  DispatchGrants(false, now_ns);
}

std::string PackStages(const std::vector<StageTime>& stages) {
  wire::PartitionView view;
  for (const StageTime& stage : stages) {
    wire::StageView* packed = view.add_stages();
    packed->set_stage(stage.stage);
    packed->set_queue_ns(stage.queue_ns);
    packed->set_work_ns(stage.work_ns);
  }
  return view.SerializeAsString();
}

std::vector<StageTime> UnpackStages(const std::string& bytes) {
  std::vector<StageTime> stages;
  wire::PartitionView view;
  if (!view.ParseFromString(bytes)) return stages;
  for (const wire::StageView& stage : view.stages()) stages.push_back({stage.stage(), stage.queue_ns(), stage.work_ns()});
  return stages;
}

}  // namespace proofline::coordinator
