#include "coordinator/scheduler.h"

#include <algorithm>
#include <limits>

namespace proofline::coordinator {

namespace {

constexpr uint64_t kFirstBackoffNs = 100'000'000;
constexpr size_t kMaxCausesBytes = 3000;
constexpr size_t kMaxCauseBytes = 600;

Error CancelledError() { return {ErrorCode::kCancelled, "the job was cancelled", {}, {}}; }
Error DeadlineError() {
  return {ErrorCode::kTimeout, "the job's deadline passed before this partition was proved", {}, "submit it again with a later --deadline"};
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > kMaxCauseBytes) text.resize(kMaxCauseBytes);
  return text;
}

}  // namespace

uint8_t Scheduler::Rank(wire::Priority priority) {
  switch (priority) {
    case wire::PRIORITY_CRITICAL: return 0;
    case wire::PRIORITY_HIGH: return 1;
    case wire::PRIORITY_LOW: return 3;
    default: return 2;
  }
}

// ---- beginning ----

void Scheduler::SetTotals(const EndedTotals& jobs, const EndedTotals& partitions) {
  jobs_ = {jobs.done + jobs.failed + jobs.cancelled, jobs.done, jobs.failed, jobs.cancelled, 0};
  partitions_ = {partitions.done + partitions.failed + partitions.cancelled, partitions.done, partitions.failed, partitions.cancelled, 0};
}

void Scheduler::RestoreJob(const LoadedJob& loaded, uint64_t now_ns) {
  auto made = std::make_unique<Job>();
  made->record = loaded.job;
  made->cancelled = loaded.job.cancel_requested;
  for (const PartRecord& record : loaded.parts) {
    Partition part;
    part.index = record.index;
    part.attempt = record.attempt;
    part.failures = record.failures;
    part.causes = record.causes;
    part.error = record.error;
    part.stages = UnpackStages(record.stages);
    if (IsEnded(record.state)) {
      part.phase = PartPhase::kEnded;
      part.outcome = record.state;
    } else {
      ++made->live_parts;
    }
    made->parts.push_back(std::move(part));
  }
  jobs_.Accept(1);
  partitions_.Accept(made->live_parts);  // the ended ones are in the totals
  Job& job = table_.Add(std::move(made));
  for (Partition& part : job.parts) {
    if (part.phase != PartPhase::kEnded) Enqueue(job, part, PartPhase::kWaiting, now_ns);
  }
  if (job.record.deadline_unix_ms != 0) deadlines_.emplace(job.record.deadline_unix_ms, job.record.id);
}

bool Scheduler::RestoreSlot(uint32_t slot, const SlotInfo& info, uint64_t now_ns) {
  SlotInfo& mine = slots_.at(slot);
  mine = info;
  if (info.use == SlotUse::kFree || info.use == SlotUse::kDirty || info.use == SlotUse::kWiping) return true;
  Job* job = table_.Find(info.job);
  Partition* part = job && info.part < job->parts.size() ? &job->parts[info.part] : nullptr;
  const bool current = part && part->phase == PartPhase::kWaiting && part->attempt == info.attempt && info.attempt != 0;
  if (!current) {
    mine.job = 0, mine.part = 0, mine.attempt = 0;
    if (info.use == SlotUse::kSealed) mine.use = SlotUse::kDirty;
    return false;
  }
  Dequeue(*job, *part);
  part->slot = static_cast<int32_t>(slot);
  if (info.use == SlotUse::kSealed) {
    Enqueue(*job, *part, PartPhase::kReady, now_ns);
  } else {
    part->phase = info.use == SlotUse::kGranted ? PartPhase::kSynth : PartPhase::kGpu;
    part->since_ns = now_ns;
  }
  return true;
}

// ---- jobs ----

void Scheduler::Submit(JobRecord record, uint64_t now_ns, int64_t now_unix_ms) {
  auto made = std::make_unique<Job>();
  made->record = std::move(record);
  made->live_parts = made->record.partition_count;
  made->parts.resize(made->record.partition_count);
  for (uint32_t i = 0; i < made->record.partition_count; ++i) made->parts[i].index = i;
  jobs_.Accept(1);
  partitions_.Accept(made->live_parts);
  Job& job = table_.Add(std::move(made));
  decisions_.ops.emplace_back(AcceptJob{job.record});
  Say({.name = "job-accepted", .job = job.record.id, .outcome = "ok", .text = job.record.name});
  for (Partition& part : job.parts) Enqueue(job, part, PartPhase::kWaiting, now_ns);
  if (job.record.deadline_unix_ms != 0) deadlines_.emplace(job.record.deadline_unix_ms, job.record.id);
  if (job.live_parts == 0) FinishJob(job, now_unix_ms);
}

bool Scheduler::Cancel(uint64_t id, uint64_t now_ns, int64_t now_unix_ms) {
  Job* job = table_.Find(id);
  if (!job) return false;
  if (job->cancelled) return true;
  job->cancelled = true;
  job->record.cancel_requested = true;
  decisions_.ops.emplace_back(RequestCancel{id});
  Say({.name = "job-cancel", .job = id});
  Stop(*job, now_ns, now_unix_ms);
  return true;
}

void Scheduler::Stop(Job& job, uint64_t, int64_t now_unix_ms) {
  // EndStopped may end the job, which frees it: the last partition is the last one looked at.
  const size_t count = job.parts.size();
  uint32_t left = job.live_parts;
  for (size_t i = 0; i < count && left > 0; ++i) {
    Partition& part = job.parts[i];
    if (part.phase == PartPhase::kEnded) continue;
    --left;
    if (part.phase == PartPhase::kSynth || part.phase == PartPhase::kGpu) {
      const auto slot = static_cast<uint32_t>(part.slot);
      decisions_.actions.emplace_back(HintCancel{slot, slots_[slot].instance});
      continue;
    }
    if (part.phase == PartPhase::kReady) Release(slots_[static_cast<uint32_t>(part.slot)], SlotUse::kDirty);
    Dequeue(job, part);
    EndStopped(job, part, now_unix_ms);
  }
}

void Scheduler::EndStopped(Job& job, Partition& part, int64_t now_unix_ms) {
  if (job.cancelled) {
    EndPartition(job, part, JobState::kCancelled, CancelledError(), now_unix_ms);
  } else {
    EndPartition(job, part, JobState::kFailed, DeadlineError(), now_unix_ms);
  }
}

void Scheduler::EndPartition(Job& job, Partition& part, JobState outcome, std::optional<Error> error, int64_t now_unix_ms) {
  part.phase = PartPhase::kEnded;
  part.outcome = outcome;
  part.slot = -1;
  part.error = std::move(error);
  partitions_.End(outcome);
  if (outcome != JobState::kDone) {
    decisions_.ops.emplace_back(EndPart{job.record.id, part.index, outcome, part.failures, *part.error, PackStages(part.stages)});
    Say({.name = outcome == JobState::kFailed ? "partition-failed" : "partition-cancelled", .job = job.record.id, .part = part.index,
         .attempt = part.attempt, .outcome = outcome == JobState::kFailed ? "failed" : "cancelled", .code = part.error->code,
         .text = part.error->fact});
  }
  if (--job.live_parts == 0) FinishJob(job, now_unix_ms);
}

void Scheduler::FinishJob(Job& job, int64_t now_unix_ms) {
  const bool failed = std::any_of(job.parts.begin(), job.parts.end(), [](const Partition& p) { return p.outcome == JobState::kFailed; });
  const JobState state = job.cancelled                    ? JobState::kCancelled
                         : job.deadline_missed || failed ? JobState::kFailed
                                                         : JobState::kDone;
  const uint64_t id = job.record.id;
  decisions_.ops.emplace_back(EndJob{id, state, now_unix_ms});
  Say({.name = "job-ended", .job = id,
       .outcome = state == JobState::kDone ? "ok" : state == JobState::kFailed ? "failed" : "cancelled", .text = job.record.name});
  decisions_.actions.emplace_back(JobEnded{id});
  jobs_.End(state);
  if (job.record.deadline_unix_ms != 0) deadlines_.erase({job.record.deadline_unix_ms, id});
  table_.Remove(id);
}

// ---- queues and slots ----

void Scheduler::Enqueue(Job& job, Partition& part, PartPhase phase, uint64_t now_ns) {
  part.phase = phase;
  part.since_ns = now_ns;
  if (phase == PartPhase::kWaiting) {
    part.slot = -1;
    waiting_.insert(KeyOf(job, part));
  } else {
    ready_.insert(KeyOf(job, part));
  }
}

void Scheduler::Dequeue(const Job& job, const Partition& part) {
  const Key key = KeyOf(job, part);
  if (part.phase == PartPhase::kReady) {
    ready_.erase(key);
    return;
  }
  if (waiting_.erase(key)) return;
  for (auto at = delayed_.begin(); at != delayed_.end(); ++at) {
    if (at->second == key) {
      delayed_.erase(at);
      return;
    }
  }
}

void Scheduler::Release(SlotInfo& slot, SlotUse use) {
  if (slot.instance != 0) {
    if (const auto worker = workers_.find(slot.instance); worker != workers_.end()) --worker->second.held;
  }
  slot = SlotInfo{};
  slot.use = use;
}

std::pair<Job*, Partition*> Scheduler::Holder(const SlotInfo& slot) {
  Job* job = slot.job ? table_.Find(slot.job) : nullptr;
  if (!job) return {nullptr, nullptr};
  return {job, &job->parts[slot.part]};
}

// ---- workers ----

void Scheduler::WorkerUp(uint32_t instance, WorkerRole role, uint32_t capacity) {
  WorkerInfo& worker = workers_[instance];
  worker.role = role;
  worker.capacity = capacity;
  worker.held = static_cast<uint32_t>(std::count_if(slots_.begin(), slots_.end(), [&](const SlotInfo& s) { return s.instance == instance; }));
}

void Scheduler::WorkerDraining(uint32_t instance) {
  if (const auto worker = workers_.find(instance); worker != workers_.end()) worker->second.draining = true;
}

void Scheduler::WorkerDead(uint32_t instance, const std::string& why, uint64_t now_ns, int64_t now_unix_ms) {
  workers_.erase(instance);
  const Error error{ErrorCode::kCrashed, "its worker died: " + why, {}, {}};
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    SlotInfo& slot = slots_[i];
    if (slot.instance != instance || instance == 0) continue;
    if (slot.use == SlotUse::kLeased && slot.job != 0) {
      ReleaseLeased(i, error, true, now_ns, now_unix_ms);
      continue;
    }
    auto [job, part] = Holder(slot);
    const bool granted = slot.use == SlotUse::kGranted;
    Release(slot, SlotUse::kDirty);
    if (!granted || !job) continue;
    if (job->stopped()) {
      EndStopped(*job, *part, now_unix_ms);
    } else if (CountFailure(*job, *part, error, instance, "synth", now_unix_ms)) {
      RetrySynth(*job, *part, error, now_ns);
    }
  }
}

// ---- reports ----

void Scheduler::Sealed(uint32_t slot_index, std::vector<StageTime> stages, uint64_t now_ns, int64_t now_unix_ms) {
  SlotInfo& slot = slots_.at(slot_index);
  if (slot.use != SlotUse::kGranted) return;
  auto [job, part] = Holder(slot);
  if (const auto worker = workers_.find(slot.instance); worker != workers_.end()) ++worker->second.done;
  if (!job || job->stopped()) {
    Release(slot, SlotUse::kDirty);
    if (job) EndStopped(*job, *part, now_unix_ms);
    return;
  }
  const SlotInfo kept = slot;
  Release(slot, SlotUse::kSealed);
  slot.job = kept.job, slot.part = kept.part, slot.attempt = kept.attempt;
  const uint64_t work = now_ns - part->since_ns;
  if (!part->stages.empty()) part->stages.front().work_ns = work;
  part->stages.insert(part->stages.end(), stages.begin(), stages.end());
  Say({.name = "sealed", .job = kept.job, .part = part->index, .attempt = part->attempt, .stage = "synth", .outcome = "ok",
       .work_ns = work, .slot = slot_index, .worker = kept.instance});
  Enqueue(*job, *part, PartPhase::kReady, now_ns);
}

void Scheduler::SynthFailed(uint32_t slot_index, const Error& error, uint64_t now_ns, int64_t now_unix_ms) {
  SlotInfo& slot = slots_.at(slot_index);
  if (slot.use != SlotUse::kGranted) return;
  const uint32_t instance = slot.instance;
  auto [job, part] = Holder(slot);
  if (const auto worker = workers_.find(instance); worker != workers_.end()) ++worker->second.failed;
  Release(slot, SlotUse::kFree);
  decisions_.actions.emplace_back(FreeSlot{slot_index});
  if (!job) return;
  if (job->stopped()) return EndStopped(*job, *part, now_unix_ms);
  const bool given_back = error.code == ErrorCode::kCancelled;
  if (given_back || CountFailure(*job, *part, error, instance, "synth", now_unix_ms)) RetrySynth(*job, *part, error, now_ns);
}

void Scheduler::Proved(uint32_t slot_index, std::string result, std::vector<StageTime> stages, uint64_t now_ns, int64_t now_unix_ms) {
  SlotInfo& slot = slots_.at(slot_index);
  if (slot.use != SlotUse::kLeased) return;
  const SlotInfo kept = slot;
  auto [job, part] = Holder(slot);
  if (const auto worker = workers_.find(slot.instance); worker != workers_.end()) ++worker->second.done;
  Release(slot, SlotUse::kDirty);
  if (!job) return;
  if (job->stopped()) return EndStopped(*job, *part, now_unix_ms);
  const uint64_t work = now_ns - part->since_ns;
  if (!part->stages.empty()) part->stages.back().work_ns = work;
  part->stages.insert(part->stages.end(), stages.begin(), stages.end());
  decisions_.ops.emplace_back(CommitResult{kept.job, kept.part, kept.attempt, std::move(result), PackStages(part->stages)});
  Say({.name = "proved", .job = kept.job, .part = kept.part, .attempt = kept.attempt, .stage = "gpu", .outcome = "ok",
       .work_ns = work, .slot = slot_index, .worker = kept.instance});
  EndPartition(*job, *part, JobState::kDone, std::nullopt, now_unix_ms);
}

void Scheduler::GpuFailed(uint32_t slot_index, const Error& error, uint64_t now_ns, int64_t now_unix_ms) {
  SlotInfo& slot = slots_.at(slot_index);
  if (slot.use != SlotUse::kLeased) return;
  if (const auto worker = workers_.find(slot.instance); worker != workers_.end()) ++worker->second.failed;
  ReleaseLeased(slot_index, error, error.code != ErrorCode::kCancelled, now_ns, now_unix_ms);
}

// The owner is gone or gave up; the sealed vectors are whole. Back to the queue of devices, or the end.
void Scheduler::ReleaseLeased(uint32_t slot_index, const Error& error, bool counts, uint64_t now_ns, int64_t now_unix_ms) {
  SlotInfo& slot = slots_[slot_index];
  const SlotInfo kept = slot;
  auto [job, part] = Holder(slot);
  Release(slot, SlotUse::kDirty);
  if (!job) return;
  if (job->stopped()) return EndStopped(*job, *part, now_unix_ms);
  if (counts && !CountFailure(*job, *part, error, kept.instance, "gpu", now_unix_ms)) return;
  slot.use = SlotUse::kSealed;
  slot.job = kept.job, slot.part = kept.part, slot.attempt = kept.attempt;
  decisions_.actions.emplace_back(SealSlotAgain{slot_index});
  // What the failed attempt measured on its device goes; its synthesis stays.
  while (!part->stages.empty() && part->stages.back().stage != "gpu") part->stages.pop_back();
  if (!part->stages.empty()) part->stages.pop_back();
  part->new_attempt_for_lease = true;
  ++retries_;
  Enqueue(*job, *part, PartPhase::kReady, now_ns);
}

void Scheduler::Wiped(uint32_t slot_index) {
  SlotInfo& slot = slots_.at(slot_index);
  if (slot.use == SlotUse::kWiping) Release(slot, SlotUse::kFree);
}

bool Scheduler::CountFailure(Job& job, Partition& part, const Error& error, uint32_t instance, std::string_view stage, int64_t now_unix_ms) {
  ++part.failures;
  part.avoid_instance = instance;
  const std::string text = OneLine(Status(error).ToString());
  if (part.causes.size() < kMaxCausesBytes) part.causes += "attempt " + std::to_string(part.attempt) + ", " + std::string(stage) + ": " + text + "\n";
  Say({.name = "attempt-failed", .job = job.record.id, .part = part.index, .attempt = part.attempt, .stage = std::string(stage),
       .outcome = "failed", .code = error.code, .text = text, .slot = part.slot, .worker = instance});
  if (!IsRetryable(error.code)) {
    EndPartition(job, part, JobState::kFailed, error, now_unix_ms);
    return false;
  }
  if (part.failures >= kMaxFailures) {
    std::string causes = part.causes;
    std::replace(causes.begin(), causes.end(), '\n', ';');
    EndPartition(job, part, JobState::kFailed,
                 Error{error.code, "partition " + std::to_string(part.index) + " failed " + std::to_string(part.failures) + " times", causes,
                       "see the log of the workers; submit the job again when the cause is gone"},
                 now_unix_ms);
    return false;
  }
  decisions_.ops.emplace_back(RecordFailure{job.record.id, part.index, part.failures, part.causes});
  return true;
}

void Scheduler::RetrySynth(Job& job, Partition& part, const Error& error, uint64_t now_ns) {
  ++retries_;
  part.stages.clear();
  part.new_attempt_for_lease = false;
  Enqueue(job, part, PartPhase::kWaiting, now_ns);
  const bool wait = error.code != ErrorCode::kCrashed && error.code != ErrorCode::kCancelled;
  if (!wait) return;
  const Key key = KeyOf(job, part);
  waiting_.erase(key);
  delayed_.emplace(now_ns + (kFirstBackoffNs << (2 * (part.failures - 1))), key);
}

void Scheduler::BeginAttemptOf(Job& job, Partition& part) {
  ++part.attempt;
  decisions_.ops.emplace_back(BeginAttempt{job.record.id, part.index, part.attempt});
  if (job.record.state == JobState::kQueued) job.record.state = JobState::kRunning;
}

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
    Stop(*job, now_ns, now_unix_ms);
  }
}

uint64_t Scheduler::NextBackoffNs() const { return delayed_.empty() ? std::numeric_limits<uint64_t>::max() : delayed_.begin()->first; }
int64_t Scheduler::NextDeadlineUnixMs() const {
  return deadlines_.empty() ? std::numeric_limits<int64_t>::max() : deadlines_.begin()->first;
}

// ---- dispatch ----

// 0: none now. A worker to be avoided is taken only if it is the only one of its role.
uint32_t Scheduler::PickWorker(WorkerRole role, uint32_t avoid) const {
  uint32_t best = 0, best_held = 0;
  bool others = false;
  for (const auto& [instance, worker] : workers_) {
    if (worker.role != role || worker.draining) continue;
    if (instance != avoid) others = true;
    if (instance == avoid || worker.held >= worker.capacity) continue;
    if (best == 0 || worker.held < best_held) best = instance, best_held = worker.held;
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
    const uint32_t instance = PickWorker(WorkerRole::kGpu, part.new_attempt_for_lease ? part.avoid_instance : 0);
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
    ++workers_.at(instance).held;
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
