#include "coordinator/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace proofline::coordinator {
namespace {

template <class T>
std::vector<T> Of(const std::vector<Action>& actions) {
  std::vector<T> out;
  for (const Action& action : actions) {
    if (const T* a = std::get_if<T>(&action)) out.push_back(*a);
  }
  return out;
}
template <class T>
std::vector<T> Of(const std::vector<JournalOp>& ops) {
  std::vector<T> out;
  for (const JournalOp& op : ops) {
    if (const T* o = std::get_if<T>(&op)) out.push_back(*o);
  }
  return out;
}

constexpr uint32_t kSynth1 = 11, kGpu1 = 21, kGpu2 = 22;

class SchedulerTest : public testing::Test {
 protected:
  void Start(uint32_t slots, uint32_t synths = 1, uint32_t gpus = 1) {
    s_.SetSlotCount(slots);
    for (uint32_t i = 0; i < synths; ++i) s_.WorkerUp(kSynth1 + i, WorkerRole::kSynth, 1);
    for (uint32_t i = 0; i < gpus; ++i) s_.WorkerUp(kGpu1 + i, WorkerRole::kGpu, 1);
  }
  uint64_t Submit(uint32_t parts = 1, wire::Priority priority = wire::PRIORITY_NORMAL, int64_t deadline = 0, uint64_t circuit = 1) {
    JobRecord r;
    r.circuit = circuit;
    r.id = ++last_job_;
    r.name = "j" + std::to_string(r.id);
    r.priority = priority;
    r.partition_count = parts;
    r.deadline_unix_ms = deadline;
    s_.Submit(r, now_, 0);
    return r.id;
  }
  Decisions Go() {
    s_.Dispatch(++now_);
    EXPECT_EQ(s_.CheckInvariants(), "");
    return s_.TakeDecisions();
  }
  Scheduler s_;
  uint64_t now_ = 1000, last_job_ = 0;
};

TEST_F(SchedulerTest, OnePartitionGoesAllTheWay) {
  Start(1);
  const uint64_t job = Submit();
  Decisions d = Go();
  ASSERT_EQ(Of<AcceptJob>(d.ops).size(), 1u);
  ASSERT_EQ(Of<BeginAttempt>(d.ops).size(), 1u);
  EXPECT_EQ(Of<BeginAttempt>(d.ops)[0].attempt, 1u);
  ASSERT_EQ(Of<GrantSlot>(d.actions).size(), 1u);
  EXPECT_EQ(Of<GrantSlot>(d.actions)[0].instance, kSynth1);

  now_ = 5000;
  s_.Sealed(0, {{"rows", 0, 77}}, now_, 0);
  d = Go();
  ASSERT_EQ(Of<LeaseSlot>(d.actions).size(), 1u);
  EXPECT_EQ(Of<LeaseSlot>(d.actions)[0].attempt, 1u);
  EXPECT_TRUE(Of<BeginAttempt>(d.ops).empty());

  now_ = 9000;
  s_.Proved(0, "bytes", {{"msm_h", 0, 88}}, now_, 123);
  d = Go();
  ASSERT_EQ(Of<CommitResult>(d.ops).size(), 1u);
  EXPECT_EQ(Of<CommitResult>(d.ops)[0].bytes, "bytes");
  ASSERT_EQ(Of<EndJob>(d.ops).size(), 1u);
  EXPECT_EQ(Of<EndJob>(d.ops)[0].state, JobState::kDone);
  EXPECT_EQ(Of<EndJob>(d.ops)[0].ended_unix_ms, 123);
  ASSERT_EQ(Of<JobEnded>(d.actions).size(), 1u);
  // The commit comes before the wipe that frees the slot: operations are applied before actions.
  ASSERT_EQ(Of<WipeSlot>(d.actions).size(), 1u);
  const auto stages = UnpackStages(Of<CommitResult>(d.ops)[0].stages);
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_EQ(stages[0].stage, "synth");
  EXPECT_EQ(stages[0].work_ns, 5000u - 1001u);
  EXPECT_EQ(stages[1].stage, "rows");
  EXPECT_EQ(stages[2].stage, "gpu");
  EXPECT_EQ(stages[2].queue_ns, 1u);
  EXPECT_EQ(stages[2].work_ns, 9000u - 5001u);
  EXPECT_EQ(stages[3].work_ns, 88u);
  EXPECT_EQ(s_.table().Find(job), nullptr);

  s_.Wiped(0);
  EXPECT_EQ(s_.slots()[0].use, SlotUse::kFree);
  EXPECT_EQ(s_.job_tally().finished, 1u);
  EXPECT_EQ(s_.partition_tally().finished, 1u);
}

TEST_F(SchedulerTest, PrioritiesGoFirstAndFirstComeWithin) {
  Start(8, 0, 0);
  Submit(1, wire::PRIORITY_LOW);       // 1
  Submit(1, wire::PRIORITY_NORMAL);    // 2
  Submit(1, wire::PRIORITY_HIGH);      // 3
  Submit(1, wire::PRIORITY_CRITICAL);  // 4
  Submit(1, wire::PRIORITY_HIGH);      // 5
  s_.WorkerUp(1, WorkerRole::kSynth, 8);
  std::vector<uint64_t> order;
  const Decisions d = Go();
  for (const GrantSlot& g : Of<GrantSlot>(d.actions)) order.push_back(g.job);
  EXPECT_EQ(order, (std::vector<uint64_t>{4, 3, 5, 2, 1}));
  // Sealed in another order, leased by priority again.
  for (uint32_t slot = 0; slot < 5; ++slot) s_.Sealed(4 - slot, {}, now_, 0);
  s_.WorkerUp(2, WorkerRole::kGpu, 8);
  order.clear();
  for (const LeaseSlot& l : Of<LeaseSlot>(Go().actions)) order.push_back(l.job);
  EXPECT_EQ(order, (std::vector<uint64_t>{4, 3, 5, 2, 1}));
}

TEST_F(SchedulerTest, OneSlotIsKeptForCriticalWork) {
  Start(3, 0);
  s_.WorkerUp(kSynth1, WorkerRole::kSynth, 9);
  Submit(5);
  EXPECT_EQ(Of<GrantSlot>(Go().actions).size(), 2u);
  Submit(1, wire::PRIORITY_CRITICAL);
  const auto grants = Of<GrantSlot>(Go().actions);
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_EQ(grants[0].job, 2u);
}

TEST_F(SchedulerTest, TwoSlotsAreBothUsed) {
  Start(2, 2);
  Submit(5);
  EXPECT_EQ(Of<GrantSlot>(Go().actions).size(), 2u);
}

TEST_F(SchedulerTest, NoFreeSlotNoGrant) {
  Start(1, 2);
  Submit(2);
  EXPECT_EQ(Of<GrantSlot>(Go().actions).size(), 1u);
  s_.Sealed(0, {}, now_, 0);
  EXPECT_TRUE(Of<GrantSlot>(Go().actions).empty());
  s_.Proved(0, "x", {}, now_, 0);
  EXPECT_TRUE(Of<GrantSlot>(Go().actions).empty()) << "the slot has not been wiped";
  s_.Wiped(0);
  EXPECT_EQ(Of<GrantSlot>(Go().actions).size(), 1u);
}

TEST_F(SchedulerTest, WrongInputFailsThePartitionAtOnceAndTheOthersGoOn) {
  Start(8, 2);
  Submit(2);
  Go();
  s_.SynthFailed(0, {ErrorCode::kMismatch, "witness of another circuit", "", ""}, now_, 0);
  Decisions d = Go();
  ASSERT_EQ(Of<EndPart>(d.ops).size(), 1u);
  EXPECT_EQ(Of<EndPart>(d.ops)[0].error.fact, "witness of another circuit");
  EXPECT_TRUE(Of<RecordFailure>(d.ops).empty());
  EXPECT_EQ(Of<FreeSlot>(d.actions).size(), 1u);
  EXPECT_TRUE(Of<EndJob>(d.ops).empty());
  s_.Sealed(1, {}, now_, 0);
  Go();
  s_.Proved(1, "x", {}, now_, 0);
  d = Go();
  ASSERT_EQ(Of<EndJob>(d.ops).size(), 1u);
  EXPECT_EQ(Of<EndJob>(d.ops)[0].state, JobState::kFailed);
  EXPECT_EQ(s_.partition_tally().finished, 1u);
  EXPECT_EQ(s_.partition_tally().failed, 1u);
}

TEST_F(SchedulerTest, ThreeDeadWorkersFailThePartitionWithAllCauses) {
  Start(1, 0);
  Submit();
  for (uint32_t n = 1; n <= 3; ++n) {
    const uint32_t worker = 100 + n, wiper = 200 + n;
    s_.WorkerUp(worker, WorkerRole::kSynth, 1);
    const auto grants = Of<GrantSlot>(Go().actions);
    ASSERT_EQ(grants.size(), 1u);
    EXPECT_EQ(grants[0].attempt, n);
    s_.WorkerDead(worker, "signal 9", now_, 0);
    EXPECT_EQ(s_.slots()[0].use, SlotUse::kDirty) << "its payload must be wiped before reuse";
    if (n == 3) break;
    s_.WorkerUp(wiper, WorkerRole::kSynth, 1);
    EXPECT_EQ(Of<WipeSlot>(Go().actions).size(), 1u);
    s_.WorkerDraining(wiper);
    s_.Wiped(0);
  }
  const Decisions d = Go();
  ASSERT_EQ(Of<EndPart>(d.ops).size(), 1u);
  const Error error = Of<EndPart>(d.ops)[0].error;
  EXPECT_EQ(error.code, ErrorCode::kCrashed);
  EXPECT_NE(error.detail.find("attempt 1"), std::string::npos);
  EXPECT_NE(error.detail.find("attempt 3"), std::string::npos);
  EXPECT_EQ(s_.retries(), 2u);
}

TEST_F(SchedulerTest, DeadOwnerIsFollowedByAnotherLeaseWithoutSynthesis) {
  Start(1);
  Submit();
  Go();
  s_.Sealed(0, {}, now_, 0);
  Go();
  s_.WorkerDead(kGpu1, "signal 9", now_, 0);
  s_.WorkerUp(kGpu2, WorkerRole::kGpu, 1);
  const Decisions d = Go();
  EXPECT_EQ(Of<SealSlotAgain>(d.actions).size(), 1u);
  ASSERT_EQ(Of<LeaseSlot>(d.actions).size(), 1u);
  EXPECT_EQ(Of<LeaseSlot>(d.actions)[0].attempt, 2u);
  EXPECT_EQ(Of<LeaseSlot>(d.actions)[0].instance, kGpu2);
  EXPECT_TRUE(Of<GrantSlot>(d.actions).empty());
  ASSERT_EQ(Of<BeginAttempt>(d.ops).size(), 1u);
}

TEST_F(SchedulerTest, AFailedDeviceIsAvoidedIfThereIsAnother) {
  Start(1, 1, 2);
  Submit();
  Go();
  s_.Sealed(0, {}, now_, 0);
  const uint32_t first = Of<LeaseSlot>(Go().actions)[0].instance;
  s_.GpuFailed(0, {ErrorCode::kDeviceFault, "wrong proof", "", ""}, now_, 0);
  const auto leases = Of<LeaseSlot>(Go().actions);
  ASSERT_EQ(leases.size(), 1u);
  EXPECT_NE(leases[0].instance, first);
}

TEST_F(SchedulerTest, ADeviceKeepsTheCircuitItWasGiven) {
  s_.SetSlotCount(16);
  s_.WorkerUp(kSynth1, WorkerRole::kSynth, 16);
  s_.WorkerUp(kGpu1, WorkerRole::kGpu, 2);
  s_.WorkerUp(kGpu2, WorkerRole::kGpu, 2);
  // The devices that partitions of these circuits go to, all sealed at once, and the first `proved` of them are done afterwards.
  const auto lease = [&](const std::vector<uint64_t>& circuits, size_t proved) {
    for (uint64_t circuit : circuits) Submit(1, wire::PRIORITY_NORMAL, 0, circuit);
    for (const GrantSlot& grant : Of<GrantSlot>(Go().actions)) s_.Sealed(grant.slot, {}, now_, 0);
    const auto leases = Of<LeaseSlot>(Go().actions);
    std::vector<uint32_t> instances;
    for (const LeaseSlot& l : leases) instances.push_back(l.instance);
    for (size_t i = 0; i < proved; ++i) s_.Proved(leases[i].slot, "bytes", {}, now_, 0);
    for (const WipeSlot& wipe : Of<WipeSlot>(Go().actions)) s_.Wiped(wipe.slot);
    return instances;
  };
  using Instances = std::vector<uint32_t>;
  EXPECT_EQ(lease({1}, 1), Instances{kGpu1});
  EXPECT_EQ(lease({2}, 1), Instances{kGpu2});  // both are idle; the first one's key stays
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(lease({1}, 1), Instances{kGpu1});
    EXPECT_EQ(lease({2, 1}, 2), (Instances{kGpu2, kGpu1}));
  }
  // More than its holder has room for: the other one helps, and then both have the key.
  EXPECT_EQ(lease({1, 1, 1}, 3), (Instances{kGpu1, kGpu1, kGpu2}));
  EXPECT_EQ(lease({1, 1}, 2), (Instances{kGpu1, kGpu2}));
  // The holder dies; its successor has no key.
  s_.WorkerDead(kGpu1, "signal 9", now_, 0);
  s_.WorkerUp(kGpu1 + 10, WorkerRole::kGpu, 2);
  EXPECT_EQ(lease({1}, 1), Instances{kGpu2});
  EXPECT_EQ(lease({3}, 1), Instances{kGpu1 + 10});
}

TEST_F(SchedulerTest, LackOfAResourceIsRetriedAfterAPause) {
  Start(1);
  Submit();
  Go();
  s_.SynthFailed(0, {ErrorCode::kResource, "no memory", "", ""}, now_, 0);
  EXPECT_TRUE(Of<GrantSlot>(Go().actions).empty());
  EXPECT_EQ(s_.queued_synth(), 1u);
  now_ = s_.NextBackoffNs();
  s_.Tick(now_, 0);
  EXPECT_EQ(Of<GrantSlot>(Go().actions).size(), 1u);
}

TEST_F(SchedulerTest, WorkGivenBackByALeavingWorkerCostsNoFailure) {
  Start(1, 2);
  Submit();
  const uint32_t first = Of<GrantSlot>(Go().actions)[0].instance;
  s_.SynthFailed(0, {ErrorCode::kCancelled, "leaving", "", ""}, now_, 0);
  const auto grants = Of<GrantSlot>(Go().actions);
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_NE(grants[0].instance, first);
  EXPECT_TRUE(s_.workers().at(first).draining);
  EXPECT_EQ(s_.table().Find(1)->parts[0].failures, 0u);
}

TEST_F(SchedulerTest, CancelEndsWhatWaitsAndDropsWhatRuns) {
  Start(8, 2);
  const uint64_t job = Submit(4);
  Go();  // 0 and 1 in synthesis
  s_.Sealed(0, {}, now_, 0);
  Go();  // 0 leased
  ASSERT_TRUE(s_.Cancel(job, 0));
  Decisions d = Go();
  EXPECT_EQ(Of<RequestCancel>(d.ops).size(), 1u);
  const size_t ended_at_once = Of<EndPart>(d.ops).size();
  EXPECT_EQ(Of<HintCancel>(d.actions).size(), 4u - ended_at_once);
  EXPECT_TRUE(Of<EndJob>(d.ops).empty());
  for (uint32_t slot = 0; slot < 8; ++slot) {
    if (s_.slots()[slot].use == SlotUse::kGranted) s_.Sealed(slot, {}, now_, 0);
    if (s_.slots()[slot].use == SlotUse::kLeased) s_.Proved(slot, "x", {}, now_, 0);
  }
  d = Go();
  EXPECT_TRUE(Of<CommitResult>(d.ops).empty());
  ASSERT_EQ(Of<EndJob>(d.ops).size(), 1u);
  EXPECT_EQ(Of<EndJob>(d.ops)[0].state, JobState::kCancelled);
  EXPECT_EQ(s_.partition_tally().cancelled, 4u);
  EXPECT_FALSE(s_.Cancel(job, 0)) << "it has ended";
}

TEST_F(SchedulerTest, AMissedDeadlineFailsTheJob) {
  Start(1, 0);
  Submit(1, wire::PRIORITY_NORMAL, 5000);
  EXPECT_EQ(s_.NextDeadlineUnixMs(), 5000);
  s_.Tick(now_, 4999);
  EXPECT_TRUE(Of<EndJob>(Go().ops).empty());
  s_.Tick(now_, 5000);
  const Decisions d = Go();
  ASSERT_EQ(Of<EndPart>(d.ops).size(), 1u);
  EXPECT_EQ(Of<EndPart>(d.ops)[0].error.code, ErrorCode::kTimeout);
  EXPECT_EQ(Of<EndJob>(d.ops)[0].state, JobState::kFailed);
}

TEST_F(SchedulerTest, DoubledAndLateReportsChangeNothing) {
  Start(2);
  Submit(1);
  Go();
  s_.Proved(0, "early", {}, now_, 0);
  s_.Sealed(0, {}, now_, 0);
  s_.Sealed(0, {}, now_, 0);
  s_.SynthFailed(0, {ErrorCode::kIo, "late", "", ""}, now_, 0);
  Go();
  s_.Proved(0, "x", {}, now_, 0);
  s_.Proved(0, "y", {}, now_, 0);
  const Decisions d = Go();
  ASSERT_EQ(Of<CommitResult>(d.ops).size(), 1u);
  EXPECT_EQ(Of<CommitResult>(d.ops)[0].bytes, "x");
}

// ---- after a restart ----

LoadedJob Loaded(uint64_t id, std::vector<PartRecord> parts) {
  LoadedJob loaded;
  loaded.job.id = id;
  loaded.job.name = "j" + std::to_string(id);
  loaded.job.partition_count = static_cast<uint32_t>(parts.size());
  loaded.parts = std::move(parts);
  return loaded;
}

TEST_F(SchedulerTest, ARestartTakesUpSealedSlotsAndDropsStaleOnes) {
  s_.SetSlotCount(4);
  s_.SetTotals({5, 1, 0}, {9, 1, 0});
  s_.RestoreJob(Loaded(7, {{.index = 0, .attempt = 2}, {.index = 1, .attempt = 1}, {.index = 2, .state = JobState::kDone, .attempt = 1}}), now_);
  EXPECT_TRUE(s_.RestoreSlot(0, {SlotUse::kSealed, 0, 7, 0, 2}, now_));
  EXPECT_FALSE(s_.RestoreSlot(1, {SlotUse::kSealed, 0, 7, 1, 3}, now_)) << "the journal has no attempt 3";
  EXPECT_FALSE(s_.RestoreSlot(2, {SlotUse::kLeased, 55, 7, 2, 1}, now_)) << "has its result";
  EXPECT_TRUE(s_.RestoreSlot(3, {SlotUse::kFree, 0, 0, 0, 0}, now_));
  EXPECT_EQ(s_.CheckInvariants(), "");
  EXPECT_EQ(s_.slots()[1].use, SlotUse::kDirty);
  EXPECT_EQ(s_.slots()[2].use, SlotUse::kLeased);
  s_.WorkerDead(55, "gone", now_, 0);
  EXPECT_EQ(s_.slots()[2].use, SlotUse::kDirty);
  s_.WorkerUp(kGpu1, WorkerRole::kGpu, 1);
  const auto leases = Of<LeaseSlot>(Go().actions);
  ASSERT_EQ(leases.size(), 1u);
  EXPECT_EQ(leases[0].attempt, 2u);
  EXPECT_EQ(s_.job_tally().accepted, 7u);
  EXPECT_EQ(s_.partition_tally().accepted, 12u);
  EXPECT_EQ(s_.partition_tally().live, 2u);
}

TEST_F(SchedulerTest, ARestartEndsWhatACancelledJobStillHadWaiting) {
  s_.SetSlotCount(2);
  LoadedJob cancelled = Loaded(7, {{.index = 0, .attempt = 1}, {.index = 1, .attempt = 1}});
  cancelled.job.cancel_requested = true;
  s_.RestoreJob(cancelled, now_);
  s_.RestoreJob(Loaded(8, {{.index = 0, .state = JobState::kDone, .attempt = 1}}), now_);
  EXPECT_TRUE(s_.RestoreSlot(0, {SlotUse::kGranted, kSynth1, 7, 0, 1}, now_));
  s_.FinishRestoring(0);
  EXPECT_EQ(s_.CheckInvariants(), "");
  EXPECT_EQ(s_.table().Find(8), nullptr);
  EXPECT_EQ(s_.partition_tally().cancelled, 1u);
  s_.Sealed(0, {}, now_, 0);
  EXPECT_EQ(s_.table().Find(7), nullptr);
  EXPECT_EQ(s_.job_tally().cancelled, 1u);
}

TEST_F(SchedulerTest, ARestartKeepsWhatAWorkerStillWrites) {
  s_.SetSlotCount(1);
  s_.RestoreJob(Loaded(7, {{.index = 0, .attempt = 1}}), now_);
  EXPECT_TRUE(s_.RestoreSlot(0, {SlotUse::kGranted, kSynth1, 7, 0, 1}, now_));
  s_.WorkerUp(kSynth1, WorkerRole::kSynth, 1);
  s_.WorkerUp(kGpu1, WorkerRole::kGpu, 1);
  EXPECT_TRUE(Of<GrantSlot>(Go().actions).empty());
  s_.Sealed(0, {}, now_, 0);
  EXPECT_EQ(Of<LeaseSlot>(Go().actions).size(), 1u);
}

}  // namespace
}  // namespace proofline::coordinator
