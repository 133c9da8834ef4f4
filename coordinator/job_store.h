// The journal: what must survive the coordinator. Accepted jobs, their partitions and attempts, results, circuits.
//
// Writing is by batches of small operations: Apply runs a whole batch in one transaction, durable when it returns OK, or changes
// nothing. Durable means: survives a power loss; for batches of BeginAttempt, RecordFailure, PutWorker and RemoveWorker alone: survives
// the end of this process, since a power loss ends everybody whom they could concern. The coordinator collects the operations of one round of its event loop, applies them, and only then lets anybody see
// their effects (an acknowledgement, a grant, a freed slot). So a job that was acknowledged is in the journal, an attempt is in it
// before its grant, a result before its slot is freed; and many submissions share one sync.
//
// An operation that contradicts the journal fails the batch with kConflict: the attempt number of a partition is its fencing
// token, only the current attempt may commit, and a partition has one result, the first. One thread uses a store.
//
// SqliteJobStore is the implementation for one host; job_store_conformance.h in tests/coordinator is what every implementation
// must pass.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/status.h"
#include "core/wire/proofline.pb.h"

namespace proofline::coordinator {

// The numbers are in the journal and in messages (wire::JobState). Partitions use the same states.
enum class JobState : uint8_t { kQueued = 0, kRunning = 1, kDone = 2, kFailed = 3, kCancelled = 4 };
inline bool IsEnded(JobState s) { return s == JobState::kDone || s == JobState::kFailed || s == JobState::kCancelled; }

struct JobRecord {
  uint64_t id = 0;
  std::string name;  // unique; what users type
  uint64_t circuit = 0;
  std::string circuit_name;
  wire::Priority priority = wire::PRIORITY_NORMAL;
  uint32_t partition_count = 0;
  int64_t created_unix_ms = 0;
  int64_t deadline_unix_ms = 0;  // 0 = none
  int64_t ended_unix_ms = 0;     // 0 = live
  std::string content_mac;       // empty or 32 bytes
  bool cancel_requested = false;
  JobState state = JobState::kQueued;
};

struct PartRecord {
  uint32_t index = 0;
  JobState state = JobState::kQueued;  // kQueued until it ended: where it is between is the slot table's business
  uint32_t attempt = 0;                // the last one that was begun
  uint32_t failures = 0;               // of attempts; kMaxFailures of them end the partition
  std::string causes{};                // one line a failed attempt
  std::optional<Error> error{};        // why it failed
  std::string stages{};                // wire::PartitionView with stage times; of ended partitions
};

struct LoadedJob {
  JobRecord job;
  std::vector<PartRecord> parts;
};

// A worker process of the current slot table, so that a restarted coordinator can tell whether an owner still lives.
struct WorkerRecord {
  uint64_t generation = 0;
  uint32_t instance = 0;
  int32_t pid = 0;
  uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat: with the pid it names one process of this boot
};

// Jobs or partitions that ended, those already pruned included.
struct EndedTotals {
  uint64_t done = 0, failed = 0, cancelled = 0;
};

// ---- operations ----
struct ReserveJobNumbers { uint64_t up_to = 0; };                 // numbers below are never given out again
struct PutCircuit { wire::Circuit circuit; };                     // id is set; new id and name, or both of one that is there: replaced
struct RemoveCircuit { uint64_t id = 0; };
struct AcceptJob { JobRecord job; };                              // partitions are made: queued, attempt 0
struct BeginAttempt { uint64_t job = 0; uint32_t part = 0, attempt = 0; };  // attempt = last + 1
struct RecordFailure { uint64_t job = 0; uint32_t part = 0, failures = 0; std::string causes; };  // to be tried again
struct CommitResult { uint64_t job = 0; uint32_t part = 0, attempt = 0; std::string bytes, stages; };
struct EndPart { uint64_t job = 0; uint32_t part = 0; JobState state = JobState::kFailed; uint32_t failures = 0; Error error; std::string stages; };
struct RequestCancel { uint64_t job = 0; };
struct EndJob { uint64_t job = 0; JobState state = JobState::kDone; int64_t ended_unix_ms = 0; };
struct PutWorker { WorkerRecord worker; };
struct RemoveWorker { uint32_t instance = 0; };
using JournalOp = std::variant<ReserveJobNumbers, PutCircuit, RemoveCircuit, AcceptJob, BeginAttempt, RecordFailure, CommitResult,
                               EndPart, RequestCancel, EndJob, PutWorker, RemoveWorker>;

class JobStore {
 public:
  virtual ~JobStore() = default;

  // Counts the openings of this journal; 1 for the first.
  virtual uint64_t term() const = 0;
  // Of this state directory; made once. Keys the HMAC over a job's content.
  virtual const std::array<uint8_t, 32>& content_secret() const = 0;
  // The first number that no job had and no submission was given.
  virtual uint64_t first_free_job_number() const = 0;

  // All or nothing, durable on OK. kConflict: contradicts the journal. kResource, kIo: cannot be written now, the same batch may
  // succeed later. kInvalidFile: the journal is damaged.
  virtual Status Apply(const std::vector<JournalOp>& batch) = 0;

  virtual Result<std::vector<wire::Circuit>> LoadCircuits() = 0;
  virtual Result<std::vector<LoadedJob>> LoadLiveJobs() = 0;
  virtual Result<std::optional<LoadedJob>> FindJob(uint64_t id) = 0;
  virtual Result<std::optional<LoadedJob>> FindJobByName(std::string_view name) = 0;
  virtual Result<std::optional<std::string>> LoadResult(uint64_t job, uint32_t part) = 0;
  virtual Result<std::vector<WorkerRecord>> LoadWorkers() = 0;
  virtual Result<EndedTotals> CountEndedJobs() = 0;
  virtual Result<EndedTotals> CountEndedPartitions() = 0;
  // Forgets at most `limit` jobs that ended before the given time, results included; totals keep counting them. How many went.
  virtual Result<uint32_t> Prune(int64_t ended_before_unix_ms, uint32_t limit) = 0;
};

}  // namespace proofline::coordinator
