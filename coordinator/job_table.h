// The live jobs, in memory. What happens to a job:
//
//   submit -> kQueued -> kRunning -> kDone       every partition has a result
//                  \          \---> kFailed      a partition failed (the others still finish), or the deadline was missed
//                   \-----------> kCancelled     by request, between stages
//
// and to each of its partitions (PartPhase; the slot's word in brackets):
//
//             grant              sealed              lease              result committed
//   kWaiting -------> kSynth ------------> kReady ----------> kGpu ----------------------> kEnded (done)
//   (no slot)         [GRANT]    ^         [READY]   ^        [LEASE]                      [RESULT, then wiped, FREE]
//      ^                 |       |            |       \---------/
//      |   worker died   |       |   job      |        owner died or gave a retryable failure: leased again, no new synthesis
//      \-----------------/       | cancelled  |
//        retryable failure       \------------+--> kEnded (failed: wrong input, or kMaxFailures failed attempts; cancelled)
//
// A job leaves this table when it has ended: the journal keeps it (job_store.h). Only the scheduler changes what is here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coordinator/job_store.h"

namespace proofline::coordinator {

enum class PartPhase : uint8_t { kWaiting, kSynth, kReady, kGpu, kEnded };

// One stage's wait and work; sub-stages of a worker have queue_ns 0.
struct StageTime {
  std::string stage;
  uint64_t queue_ns = 0;
  uint64_t work_ns = 0;
};

struct Partition {
  uint32_t index = 0;
  PartPhase phase = PartPhase::kWaiting;
  JobState outcome = JobState::kQueued;  // when kEnded: kDone, kFailed, kCancelled
  uint32_t attempt = 0;                  // fencing token: the last attempt that was begun
  uint32_t failures = 0;
  bool new_attempt_for_lease = false;    // the sealed vectors come from an attempt that failed on its device
  int32_t slot = -1;                     // in kSynth, kReady, kGpu
  uint32_t avoid_instance = 0;           // the worker of the last failure
  uint64_t since_ns = 0;                 // monotonic, entry into this phase
  std::string causes;                    // one line a failed attempt
  std::optional<Error> error;
  std::vector<StageTime> stages;         // of the current attempt
};

struct Job {
  JobRecord record;
  std::vector<Partition> parts;
  uint32_t live_parts = 0;
  bool cancelled = false;        // by request
  bool deadline_missed = false;  // implies that nothing of it is begun any more
  bool stopped() const { return cancelled || deadline_missed; }
};

// accepted = finished + failed + cancelled + live, always.
struct Tally {
  uint64_t accepted = 0, finished = 0, failed = 0, cancelled = 0, live = 0;
  bool balances() const { return accepted == finished + failed + cancelled + live; }
  void Accept(uint64_t n) { accepted += n, live += n; }
  // One of the live ones ended.
  void End(JobState state) {
    --live;
    ++(state == JobState::kDone ? finished : state == JobState::kFailed ? failed : cancelled);
  }
};

class JobTable {
 public:
  // Null if there is no live job of that number or name.
  Job* Find(uint64_t id);
  Job* FindByName(std::string_view name);
  Job& Add(std::unique_ptr<Job> job);
  void Remove(uint64_t id);
  size_t size() const { return jobs_.size(); }
  const std::map<uint64_t, std::unique_ptr<Job>>& jobs() const { return jobs_; }
  bool UsesCircuit(uint64_t circuit) const;

 private:
  std::map<uint64_t, std::unique_ptr<Job>> jobs_;
  std::unordered_map<std::string, uint64_t> by_name_;
  std::unordered_map<uint64_t, uint32_t> circuit_uses_;
};

}  // namespace proofline::coordinator
