// Who gets what next. Pure logic: no socket, file, clock or shared memory; times come in as arguments, and what is to be done comes
// out as journal operations and actions, which the caller carries out in that order (first the journal, then the actions).
//
// Rules
//  1. Order in both queues (waiting for synthesis, sealed and waiting for a device): priority, then first come.
//  2. Flow control is the number of free slots and nothing else. With more than two slots the last free one is kept for
//     critical work.
//  3. A slot is reused only after a wipe, by a synthesis worker, of whatever secret is left in it.
//  4. A failure that a retry can help (IsRetryable) puts the partition back, at most kMaxFailures times in all; any other ends
//     it at once. Other partitions of the job go on.
//  5. Cancelling and deadlines act between stages: what a worker holds runs to the end of its stage (the worker is told and may
//     stop earlier) and is then dropped.
//  6. A coordinator that restarts, and a worker that gives work back (kCancelled, unasked) because it is leaving, cost a partition
//     no failure; such a worker gets nothing more.
//  7. A sealed partition goes to a device that has room and was last given its circuit, so that a key stays where it is; else to
//     the one that holds least, and among those to one that would not have to drop another circuit's key.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/job_store.h"
#include "coordinator/job_table.h"

namespace proofline::coordinator {

inline constexpr uint32_t kMaxFailures = 3;

// What the scheduler believes of a slot; the slot manager keeps the words in step.
enum class SlotUse : uint8_t {
  kFree,
  kGranted,  // a synthesis worker writes
  kSealed,   // full, waits for a device
  kLeased,   // a device reads
  kDirty,    // nobody's; must be wiped
  kWiping,   // a synthesis worker wipes
};

struct SlotInfo {
  SlotUse use = SlotUse::kFree;
  uint32_t instance = 0;  // in kGranted, kLeased, kWiping
  uint64_t job = 0;       // in kGranted, kSealed, kLeased
  uint32_t part = 0;
  uint32_t attempt = 0;
};

enum class WorkerRole : uint8_t { kSynth, kGpu };

struct WorkerInfo {
  WorkerRole role = WorkerRole::kSynth;
  uint32_t capacity = 1;  // slots it may hold at once
  uint32_t held = 0;
  bool draining = false;  // gets nothing new
  uint64_t circuit = 0;   // of its last lease in this life of ours; 0: none yet
  uint64_t done = 0, failed = 0;
};

// ---- actions ----
struct GrantSlot { uint32_t slot = 0, instance = 0; uint64_t job = 0; uint32_t part = 0, attempt = 0; };  // FREE -> GRANT
struct LeaseSlot { uint32_t slot = 0, instance = 0; uint64_t job = 0; uint32_t part = 0, attempt = 0; };  // READY -> LEASE
struct WipeSlot { uint32_t slot = 0, instance = 0; };                                                     // -> WIPE
struct FreeSlot { uint32_t slot = 0; };        // its live owner gave up and has wiped it: -> FREE
struct SealSlotAgain { uint32_t slot = 0; };   // the vectors are whole, the device's owner is gone or gave up: -> READY
struct HintCancel { uint32_t slot = 0, instance = 0; };
struct JobEnded { uint64_t job = 0; };         // inputs can go, waiting clients are answered
// An event (core/base/event.h) that owns its texts; written after the journal has what it tells.
struct Note {
  std::string name{};
  uint64_t job = 0;
  int64_t part = -1;
  uint32_t attempt = 0;
  std::string stage{}, outcome{};
  uint64_t queue_wait_ns = 0, work_ns = 0;
  ErrorCode code = ErrorCode::kOk;
  std::string text{};
  int64_t slot = -1;
  uint32_t worker = 0;
};
using Action = std::variant<GrantSlot, LeaseSlot, WipeSlot, FreeSlot, SealSlotAgain, HintCancel, JobEnded, Note>;

struct Decisions {
  std::vector<JournalOp> ops;
  std::vector<Action> actions;
};

class Scheduler {
 public:
  explicit Scheduler(uint32_t slot_count = 0) : slots_(slot_count) {}

  // ---- beginning: before the first worker is up ----
  void SetSlotCount(uint32_t slot_count) { slots_.assign(slot_count, {}); }
  // Counts what the journal has of earlier lives.
  void SetTotals(const EndedTotals& jobs, const EndedTotals& partitions);
  void RestoreJob(const LoadedJob& loaded, uint64_t now_ns);
  // The slot holds work of that attempt, in that use. False: stale (no such live partition, another attempt, already in a slot);
  // then the slot is dirty (kGranted and kLeased: once its owner is dead, see WorkerDead; until then it stays with the instance).
  bool RestoreSlot(uint32_t slot, const SlotInfo& info, uint64_t now_ns);

  // After the last RestoreSlot: what a cancelled job still has waiting ends, and so does a job without anything live.
  void FinishRestoring(int64_t now_unix_ms);

  // ---- what happens ----
  // The record is complete and its name free. Live from now on.
  void Submit(JobRecord record, uint64_t now_ns, int64_t now_unix_ms);
  // False: no such live job.
  bool Cancel(uint64_t job, int64_t now_unix_ms);

  void WorkerUp(uint32_t instance, WorkerRole role, uint32_t capacity);
  void WorkerDraining(uint32_t instance);
  // Confirmed dead, and what its slots' words said before has been reported. `why` becomes part of the cause.
  void WorkerDead(uint32_t instance, const std::string& why, uint64_t now_ns, int64_t now_unix_ms);

  // The slot's owner moved the word. Ignored unless the slot is in the use that the report follows from.
  void Sealed(uint32_t slot, std::vector<StageTime> stages, uint64_t now_ns, int64_t now_unix_ms);
  void SynthFailed(uint32_t slot, const Error& error, uint64_t now_ns, int64_t now_unix_ms);
  void Proved(uint32_t slot, std::string result, std::vector<StageTime> stages, uint64_t now_ns, int64_t now_unix_ms);
  void GpuFailed(uint32_t slot, const Error& error, uint64_t now_ns, int64_t now_unix_ms);
  void Wiped(uint32_t slot);

  // Deadlines and back-offs that are due.
  void Tick(uint64_t now_ns, int64_t now_unix_ms);
  // Gives out what can be given out.
  void Dispatch(uint64_t now_ns);
  // What all calls since the last TakeDecisions ask for, in order.
  Decisions TakeDecisions() { return std::exchange(decisions_, {}); }

  // ---- views ----
  JobTable& table() { return table_; }
  const JobTable& table() const { return table_; }
  const std::vector<SlotInfo>& slots() const { return slots_; }
  const std::map<uint32_t, WorkerInfo>& workers() const { return workers_; }
  const Tally& job_tally() const { return jobs_; }
  const Tally& partition_tally() const { return partitions_; }
  uint64_t retries() const { return retries_; }
  size_t queued_synth() const { return waiting_.size() + delayed_.size(); }
  size_t queued_gpu() const { return ready_.size(); }
  // When Tick has something to do next; UINT64_MAX: never. Back-offs on the monotonic clock, deadlines on the wall clock.
  uint64_t NextBackoffNs() const;
  int64_t NextDeadlineUnixMs() const;
  // Every rule between the parts of the state that must hold at any time; empty if it does. For tests.
  std::string CheckInvariants() const;

 private:
  struct Key {
    uint8_t rank = 0;  // of the priority, critical first
    uint64_t job = 0;
    uint32_t part = 0;
    auto operator<=>(const Key&) const = default;
  };
  static uint8_t Rank(wire::Priority priority);
  static Key KeyOf(const Job& job, const Partition& part) { return {Rank(job.record.priority), job.record.id, part.index}; }

  void Enqueue(Job& job, Partition& part, PartPhase phase, uint64_t now_ns);
  void Dequeue(const Job& job, const Partition& part);
  void Release(SlotInfo& slot, SlotUse use);
  std::pair<Job*, Partition*> Holder(const SlotInfo& slot);
  void Stop(Job& job, int64_t now_unix_ms);
  void EndPartition(Job& job, Partition& part, JobState outcome, std::optional<Error> error, int64_t now_unix_ms);
  void EndStopped(Job& job, Partition& part, int64_t now_unix_ms);
  void FinishJob(Job& job, int64_t now_unix_ms);
  // Counts a failed attempt; true if the partition may be tried again.
  bool CountFailure(Job& job, Partition& part, const Error& error, uint32_t instance, std::string_view stage, int64_t now_unix_ms);
  void RetrySynth(Job& job, Partition& part, const Error& error, uint64_t now_ns);
  void ReleaseLeased(uint32_t slot, const Error& error, bool counts, uint64_t now_ns, int64_t now_unix_ms);
  void BeginAttemptOf(Job& job, Partition& part);
  uint32_t PickWorker(WorkerRole role, uint32_t avoid, uint64_t circuit = 0) const;
  int32_t PickFreeSlot(bool critical) const;
  void DispatchLeases(uint64_t now_ns);
  void DispatchWipes();
  void DispatchGrants(bool critical_only, uint64_t now_ns);
  void Say(Note note) { decisions_.actions.emplace_back(std::move(note)); }

  JobTable table_;
  std::vector<SlotInfo> slots_;
  std::map<uint32_t, WorkerInfo> workers_;
  std::set<Key> waiting_, ready_;
  std::multimap<uint64_t, Key> delayed_;               // by the time their back-off ends
  std::set<std::pair<int64_t, uint64_t>> deadlines_;   // (unix ms, job)
  Tally jobs_, partitions_;
  uint64_t retries_ = 0;
  Decisions decisions_;
};

// How a partition's stages lie in the journal and in views.
std::string PackStages(const std::vector<StageTime>& stages);
std::vector<StageTime> UnpackStages(const std::string& bytes);

}  // namespace proofline::coordinator
