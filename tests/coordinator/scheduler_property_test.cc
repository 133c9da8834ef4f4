// Random sequences of everything that can happen, against a plain model of the outside world: workers that seal, prove, fail,
// die, leave; clients that submit and cancel; restarts from the journal. After each step the scheduler's invariants hold, no two
// live owners hold a slot, a slot is granted only when it is clean; in the end everything drains and each partition ended once.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "coordinator/scheduler.h"

namespace proofline::coordinator {
namespace {

class World {
 public:
  explicit World(uint32_t seed) : rng_(seed), slots_(1 + Pick(6)) { scheduler_.SetSlotCount(static_cast<uint32_t>(slots_.size())); }

  void Step() {
    now_ += 1 + Pick(50'000'000);
    unix_ms_ += 1 + Pick(50);
    switch (Pick(12)) {
      case 0: case 1: Submit(); break;
      case 2: if (workers_.size() < 6) NewWorker(); break;
      case 3: if (Pick(3) == 0) Kill(); break;
      case 4: if (Pick(4) == 0) Leave(); break;
      case 5: if (Pick(4) == 0 && last_job_ > 0) scheduler_.Cancel(1 + Pick(static_cast<uint32_t>(last_job_)), unix_ms_); break;
      case 6: if (Pick(20) == 0) Restart(); break;
      default: WorkSomeSlot(true); break;
    }
    Settle();
  }

  // No more trouble: everything that is live must end.
  void Drain() {
    for (int i = 0; i < 3; ++i) NewWorker(WorkerRole::kSynth), NewWorker(WorkerRole::kGpu);
    for (int i = 0; i < 100'000 && (scheduler_.job_tally().live > 0 || Busy()); ++i) {
      now_ += 1'000'000'000;
      WorkSomeSlot(false);
      Settle();
    }
    ASSERT_EQ(scheduler_.job_tally().live, 0u);
    ASSERT_EQ(scheduler_.partition_tally().live, 0u);
    for (const SlotInfo& slot : scheduler_.slots()) ASSERT_EQ(slot.use, SlotUse::kFree);
    ASSERT_EQ(scheduler_.job_tally().accepted, last_job_);
    ASSERT_EQ(ended_parts_.size(), accepted_parts_);
    ASSERT_EQ(ended_jobs_.size(), last_job_);
  }

 private:
  struct Slot {
    bool clean = true;
    uint32_t writer = 0;
  };
  uint32_t Pick(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(rng_); }

  void Submit() {
    JobRecord r;
    r.id = ++last_job_;
    r.name = std::to_string(r.id);
    r.partition_count = 1 + Pick(4);
    r.priority = static_cast<wire::Priority>(Pick(4));
    if (Pick(5) == 0) r.deadline_unix_ms = unix_ms_ + Pick(2000);
    accepted_parts_ += r.partition_count;
    scheduler_.Submit(r, now_, unix_ms_);
  }
  void NewWorker() { NewWorker(Pick(2) ? WorkerRole::kSynth : WorkerRole::kGpu); }
  void NewWorker(WorkerRole role) {
    workers_[++last_worker_] = role;
    scheduler_.WorkerUp(last_worker_, role, role == WorkerRole::kSynth ? 1 : 1 + Pick(2));
  }
  uint32_t AnyWorker() {
    if (workers_.empty()) return 0;
    auto at = workers_.begin();
    std::advance(at, Pick(static_cast<uint32_t>(workers_.size())));
    return at->first;
  }
  void Kill() {
    const uint32_t worker = AnyWorker();
    if (worker == 0) return;
    workers_.erase(worker);
    for (Slot& slot : slots_) {
      if (slot.writer == worker) slot.writer = 0;
    }
    scheduler_.WorkerDead(worker, "killed", now_, unix_ms_);
  }
  void Leave() {
    if (const uint32_t worker = AnyWorker()) scheduler_.WorkerDraining(worker);
  }
  Error SomeError() {
    constexpr ErrorCode kCodes[] = {ErrorCode::kMismatch, ErrorCode::kResource, ErrorCode::kDeviceFault, ErrorCode::kCancelled, ErrorCode::kIo};
    return {kCodes[Pick(5)], "trouble", "", ""};
  }
  void WorkSomeSlot(bool with_trouble) {
    const uint32_t i = Pick(static_cast<uint32_t>(slots_.size()));
    const bool fail = with_trouble && Pick(6) == 0;
    const SlotUse use = scheduler_.slots()[i].use;
    if (use == SlotUse::kGranted) {
      slots_[i].writer = 0;
      if (fail) {
        slots_[i].clean = true;  // a live owner wipes
        scheduler_.SynthFailed(i, SomeError(), now_, unix_ms_);
      } else {
        scheduler_.Sealed(i, {}, now_, unix_ms_);
      }
    } else if (use == SlotUse::kLeased) {
      slots_[i].writer = 0;
      fail ? scheduler_.GpuFailed(i, SomeError(), now_, unix_ms_) : scheduler_.Proved(i, "r", {}, now_, unix_ms_);
    } else if (use == SlotUse::kWiping) {
      slots_[i] = {};
      scheduler_.Wiped(i);
    }
    // Reports that make no sense in this state are ignored.
    const uint32_t other = Pick(static_cast<uint32_t>(slots_.size()));
    if (with_trouble && scheduler_.slots()[other].use != SlotUse::kWiping) scheduler_.Wiped(other);
    if (with_trouble && scheduler_.slots()[other].use != SlotUse::kLeased) scheduler_.Proved(other, "late", {}, now_, unix_ms_);
    if (with_trouble && scheduler_.slots()[other].use != SlotUse::kGranted) scheduler_.SynthFailed(other, SomeError(), now_, unix_ms_);
  }
  bool Busy() const {
    for (const SlotInfo& slot : scheduler_.slots()) {
      if (slot.use != SlotUse::kFree) return true;
    }
    return false;
  }
  // A new scheduler from the journal model and the slots' words; all workers come back.
  void Restart() {
    Settle();
    const std::vector<SlotInfo> words = scheduler_.slots();
    Scheduler fresh(static_cast<uint32_t>(slots_.size()));
    EndedTotals jobs, parts;
    for (const auto& [id, state] : ended_jobs_) ++(state == JobState::kDone ? jobs.done : state == JobState::kFailed ? jobs.failed : jobs.cancelled);
    for (const auto& [key, state] : ended_parts_) ++(state == JobState::kDone ? parts.done : state == JobState::kFailed ? parts.failed : parts.cancelled);
    fresh.SetTotals(jobs, parts);
    for (const auto& [id, loaded] : journal_) fresh.RestoreJob(loaded, now_);
    for (uint32_t i = 0; i < words.size(); ++i) {
      fresh.RestoreSlot(i, words[i], now_);
      // Rounding a stale sealed slot down to "dirty" is the scheduler's business; the model's slot stays as it is.
    }
    fresh.FinishRestoring(unix_ms_);
    for (const auto& [instance, role] : workers_) fresh.WorkerUp(instance, role, 2);
    scheduler_ = std::move(fresh);
  }

  void Settle() {
    scheduler_.Tick(now_, unix_ms_);
    scheduler_.Dispatch(now_);
    const std::string broken = scheduler_.CheckInvariants();
    ASSERT_EQ(broken, "");
    const Decisions decisions = scheduler_.TakeDecisions();
    for (const JournalOp& op : decisions.ops) Journal(op);
    for (const Action& action : decisions.actions) Act(action);
  }

  PartRecord& Part(uint64_t job, uint32_t part) { return journal_.at(job).parts.at(part); }
  void EndPartOnce(uint64_t job, uint32_t part, JobState state) {
    ASSERT_TRUE(ended_parts_.emplace(std::pair(job, part), state).second) << "partition ended twice";
    Part(job, part).state = state;
  }
  void Journal(const JournalOp& op) {
    if (const auto* accept = std::get_if<AcceptJob>(&op)) {
      LoadedJob& loaded = journal_[accept->job.id];
      loaded.job = accept->job;
      for (uint32_t i = 0; i < accept->job.partition_count; ++i) loaded.parts.push_back({.index = i});
    } else if (const auto* begin = std::get_if<BeginAttempt>(&op)) {
      ASSERT_EQ(Part(begin->job, begin->part).attempt + 1, begin->attempt);
      Part(begin->job, begin->part).attempt = begin->attempt;
    } else if (const auto* failure = std::get_if<RecordFailure>(&op)) {
      Part(failure->job, failure->part).failures = failure->failures;
    } else if (const auto* result = std::get_if<CommitResult>(&op)) {
      ASSERT_EQ(Part(result->job, result->part).attempt, result->attempt);
      EndPartOnce(result->job, result->part, JobState::kDone);
    } else if (const auto* end = std::get_if<EndPart>(&op)) {
      EndPartOnce(end->job, end->part, end->state);
    } else if (const auto* cancel = std::get_if<RequestCancel>(&op)) {
      journal_.at(cancel->job).job.cancel_requested = true;
    } else if (const auto* done = std::get_if<EndJob>(&op)) {
      ASSERT_TRUE(ended_jobs_.emplace(done->job, done->state).second) << "job ended twice";
      for (const PartRecord& part : journal_.at(done->job).parts) ASSERT_TRUE(IsEnded(part.state));
      journal_.erase(done->job);
    }
  }
  void Act(const Action& action) {
    if (const auto* grant = std::get_if<GrantSlot>(&action)) {
      ASSERT_TRUE(slots_[grant->slot].clean) << "granted a slot with another's secret";
      ASSERT_EQ(slots_[grant->slot].writer, 0u);
      ASSERT_TRUE(workers_.contains(grant->instance));
      slots_[grant->slot] = {false, grant->instance};
    } else if (const auto* lease = std::get_if<LeaseSlot>(&action)) {
      ASSERT_FALSE(slots_[lease->slot].clean);
      ASSERT_EQ(slots_[lease->slot].writer, 0u);
      slots_[lease->slot].writer = lease->instance;
    } else if (const auto* wipe = std::get_if<WipeSlot>(&action)) {
      ASSERT_EQ(slots_[wipe->slot].writer, 0u);
      slots_[wipe->slot].writer = wipe->instance;
    }
  }

  std::mt19937 rng_;
  std::vector<Slot> slots_;
  Scheduler scheduler_;
  std::map<uint32_t, WorkerRole> workers_;
  std::map<uint64_t, LoadedJob> journal_;
  std::map<std::pair<uint64_t, uint32_t>, JobState> ended_parts_;
  std::map<uint64_t, JobState> ended_jobs_;
  uint64_t now_ = 1, last_job_ = 0, accepted_parts_ = 0;
  int64_t unix_ms_ = 1'000'000;
  uint32_t last_worker_ = 0;
};

TEST(SchedulerPropertyTest, InvariantsHoldAndEverythingEndsOnce) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    for (int step = 0; step < 600 && !testing::Test::HasFatalFailure(); ++step) world.Step();
    if (!testing::Test::HasFatalFailure()) world.Drain();
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace proofline::coordinator
