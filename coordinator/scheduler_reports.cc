// What workers report, and what becomes of a failed attempt.
#include <algorithm>

#include "coordinator/scheduler.h"

namespace proofline::coordinator {

namespace {

constexpr uint64_t kFirstBackoffNs = 100'000'000;
constexpr size_t kMaxCausesBytes = 3000;
constexpr size_t kMaxCauseBytes = 600;

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > kMaxCauseBytes) text.resize(kMaxCauseBytes);
  return text;
}

}  // namespace

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
  if (given_back) WorkerDraining(instance);
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
  const uint32_t instance = slot.instance;
  const Job* job = Holder(slot).first;
  const bool given_back = error.code == ErrorCode::kCancelled && job && !job->stopped();
  ReleaseLeased(slot_index, error, error.code != ErrorCode::kCancelled, now_ns, now_unix_ms);
  if (given_back) WorkerDraining(instance);
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

}  // namespace proofline::coordinator
