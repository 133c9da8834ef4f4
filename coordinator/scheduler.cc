#include "coordinator/scheduler.h"

#include <algorithm>

namespace proofline::coordinator {

namespace {

Error CancelledError() { return {ErrorCode::kCancelled, "the job was cancelled", {}, {}}; }
Error DeadlineError() {
  return {ErrorCode::kTimeout, "the job's deadline passed before this partition was proved", {}, "submit it again with a later --deadline"};
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

void Scheduler::FinishRestoring(int64_t now_unix_ms) {
  std::vector<uint64_t> ids;
  for (const auto& [id, job] : table_.jobs()) ids.push_back(id);
  for (const uint64_t id : ids) {
    Job& job = *table_.Find(id);
    if (job.live_parts == 0) {
      FinishJob(job, now_unix_ms);
    } else if (job.cancelled) {
      Stop(job, now_unix_ms);
    }
  }
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

bool Scheduler::Cancel(uint64_t id, int64_t now_unix_ms) {
  Job* job = table_.Find(id);
  if (!job) return false;
  if (job->cancelled) return true;
  job->cancelled = true;
  job->record.cancel_requested = true;
  decisions_.ops.emplace_back(RequestCancel{id});
  Say({.name = "job-cancel", .job = id});
  Stop(*job, now_unix_ms);
  return true;
}

void Scheduler::Stop(Job& job, int64_t now_unix_ms) {
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

}  // namespace proofline::coordinator
