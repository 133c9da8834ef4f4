// Reading, counting and forgetting.
#include <cstdlib>

#include "coordinator/sqlite_journal.h"

namespace proofline::coordinator {

namespace {

Error UnpackError(const std::string& bytes) {
  wire::Error packed;
  if (!packed.ParseFromString(bytes)) return {ErrorCode::kInternal, "the journal holds an error that cannot be read", {}, {}};
  return {static_cast<ErrorCode>(packed.code()), packed.fact(), packed.detail(), packed.remedy()};
}

constexpr const char* kJobColumns =
    "SELECT id, name, circuit, circuit_name, priority, partition_count, created_ms, deadline_ms, ended_ms, content_mac, state, cancel FROM job ";

JobRecord ReadJob(const SqliteStatement& row) {
  JobRecord job;
  job.id = row.GetUint(0);
  job.name = row.GetBytes(1);
  job.circuit = row.GetUint(2);
  job.circuit_name = row.GetBytes(3);
  job.priority = static_cast<wire::Priority>(row.GetInt(4));
  job.partition_count = static_cast<uint32_t>(row.GetUint(5));
  job.created_unix_ms = row.GetInt(6);
  job.deadline_unix_ms = row.GetInt(7);
  job.ended_unix_ms = row.GetInt(8);
  job.content_mac = row.GetBytes(9);
  job.state = static_cast<JobState>(row.GetInt(10));
  job.cancel_requested = row.GetInt(11) != 0;
  return job;
}

}  // namespace

Result<std::vector<wire::Circuit>> SqliteJobStore::LoadCircuits() {
  std::vector<wire::Circuit> circuits;
  SqliteStatement s(*db_, "SELECT id, spec FROM circuit ORDER BY id");
  while (s.Step()) {
    wire::Circuit circuit;
    if (!circuit.ParseFromString(s.GetBytes(1)) || circuit.id() != s.GetUint(0)) {
      return Status(ErrorCode::kInvalidFile, "the journal " + path_ + " is damaged", "circuit " + std::to_string(s.GetUint(0)) + " cannot be read");
    }
    circuits.push_back(std::move(circuit));
  }
  if (!s.ok()) return Fail("load circuits");
  return circuits;
}

Result<std::vector<PartRecord>> SqliteJobStore::LoadParts(uint64_t job) {
  std::vector<PartRecord> parts;
  SqliteStatement s(*db_, "SELECT idx, state, attempt, failures, causes, error, stages FROM part WHERE job = ? ORDER BY idx");
  s.Uint(job);
  while (s.Step()) {
    PartRecord part;
    part.index = static_cast<uint32_t>(s.GetUint(0));
    part.state = static_cast<JobState>(s.GetInt(1));
    part.attempt = static_cast<uint32_t>(s.GetUint(2));
    part.failures = static_cast<uint32_t>(s.GetUint(3));
    part.causes = s.GetBytes(4);
    if (!s.IsNull(5)) part.error = UnpackError(s.GetBytes(5));
    part.stages = s.GetBytes(6);
    parts.push_back(std::move(part));
  }
  if (!s.ok()) return Fail("load partitions");
  return parts;
}

Result<std::vector<LoadedJob>> SqliteJobStore::LoadLiveJobs() {
  std::vector<LoadedJob> jobs;
  SqliteStatement s(*db_, (std::string(kJobColumns) + "WHERE state < 2 ORDER BY id").c_str());
  while (s.Step()) jobs.push_back({ReadJob(s), {}});
  if (!s.ok()) return Fail("load live jobs");
  for (LoadedJob& loaded : jobs) {
    PL_ASSIGN_OR_RETURN(loaded.parts, LoadParts(loaded.job.id));
    if (loaded.parts.size() != loaded.job.partition_count) {
      return Status(ErrorCode::kInvalidFile, "the journal " + path_ + " is damaged",
                    "job " + loaded.job.name + " has " + std::to_string(loaded.parts.size()) + " partitions, expected " +
                        std::to_string(loaded.job.partition_count));
    }
  }
  return jobs;
}

Result<std::optional<LoadedJob>> SqliteJobStore::FirstJob(SqliteStatement& query) {
  if (!query.Step()) {
    if (!query.ok()) return Fail("find job");
    return std::optional<LoadedJob>();
  }
  LoadedJob loaded{ReadJob(query), {}};
  PL_ASSIGN_OR_RETURN(loaded.parts, LoadParts(loaded.job.id));
  return std::optional(std::move(loaded));
}

Result<std::optional<LoadedJob>> SqliteJobStore::FindJob(uint64_t id) {
  SqliteStatement s(*db_, (std::string(kJobColumns) + "WHERE id = ?").c_str());
  s.Uint(id);
  return FirstJob(s);
}

Result<std::optional<LoadedJob>> SqliteJobStore::FindJobByName(std::string_view name) {
  SqliteStatement s(*db_, (std::string(kJobColumns) + "WHERE name = ?").c_str());
  s.Text(name);
  return FirstJob(s);
}

Result<std::optional<std::string>> SqliteJobStore::LoadResult(uint64_t job, uint32_t part) {
  SqliteStatement s(*db_, "SELECT bytes FROM result WHERE job = ? AND idx = ?");
  s.Uint(job).Uint(part);
  if (s.Step()) return std::optional(s.GetBytes(0));
  if (!s.ok()) return Fail("load result");
  return std::optional<std::string>();
}

Result<std::vector<WorkerRecord>> SqliteJobStore::LoadWorkers() {
  std::vector<WorkerRecord> workers;
  SqliteStatement s(*db_, "SELECT instance, generation, pid, start_ticks FROM worker ORDER BY instance");
  while (s.Step()) {
    workers.push_back({std::strtoull(s.GetBytes(1).c_str(), nullptr, 10), static_cast<uint32_t>(s.GetUint(0)),
                       static_cast<int32_t>(s.GetInt(2)), s.GetUint(3)});
  }
  if (!s.ok()) return Fail("load workers");
  return workers;
}

static void AddTo(EndedTotals& totals, JobState state, uint64_t count) {
  if (state == JobState::kDone) totals.done += count;
  if (state == JobState::kFailed) totals.failed += count;
  if (state == JobState::kCancelled) totals.cancelled += count;
}

Result<EndedTotals> SqliteJobStore::CountEnded(const char* kind, const char* sql) {
  EndedTotals totals;
  SqliteStatement kept(*db_, sql);
  while (kept.Step()) AddTo(totals, static_cast<JobState>(kept.GetInt(0)), kept.GetUint(1));
  SqliteStatement gone(*db_, "SELECT state, count FROM pruned WHERE kind = ?");
  gone.Text(kind);
  while (gone.Step()) AddTo(totals, static_cast<JobState>(gone.GetInt(0)), gone.GetUint(1));
  if (!kept.ok() || !gone.ok()) return Fail("count");
  return totals;
}

Status SqliteJobStore::PruneOne(uint64_t job, JobState state) {
  constexpr const char* kCount =
      "INSERT INTO pruned(kind, state, count) VALUES(?1, ?2, ?3) ON CONFLICT(kind, state) DO UPDATE SET count = count + excluded.count";
  SqliteStatement count_job(*db_, kCount);
  count_job.Text("job").Int(static_cast<int>(state)).Int(1);
  PL_RETURN_IF_ERROR(Run(count_job, "prune"));
  for (JobState part_state : {JobState::kDone, JobState::kFailed, JobState::kCancelled}) {
    SqliteStatement count(*db_, "SELECT COUNT(*) FROM part WHERE job = ? AND state = ?");
    count.Uint(job).Int(static_cast<int>(part_state));
    if (!count.Step()) return Fail("prune");
    if (count.GetInt(0) == 0) continue;
    SqliteStatement add(*db_, kCount);
    add.Text("part").Int(static_cast<int>(part_state)).Int(count.GetInt(0));
    PL_RETURN_IF_ERROR(Run(add, "prune"));
  }
  for (const char* sql : {"DELETE FROM result WHERE job = ?", "DELETE FROM part WHERE job = ?", "DELETE FROM job WHERE id = ?"}) {
    SqliteStatement remove(*db_, sql);
    remove.Uint(job);
    PL_RETURN_IF_ERROR(Run(remove, "prune"));
  }
  return OkStatus();
}

Result<uint32_t> SqliteJobStore::Prune(int64_t ended_before_unix_ms, uint32_t limit) {
  std::vector<std::pair<uint64_t, JobState>> old;
  {
    SqliteStatement s(*db_, "SELECT id, state FROM job WHERE state >= 2 AND ended_ms < ? ORDER BY ended_ms LIMIT ?");
    s.Int(ended_before_unix_ms).Uint(limit);
    while (s.Step()) old.emplace_back(s.GetUint(0), static_cast<JobState>(s.GetInt(1)));
    if (!s.ok()) return Fail("prune");
  }
  if (old.empty()) return 0u;
  PL_RETURN_IF_ERROR(Control("BEGIN IMMEDIATE"));
  Status status;
  for (const auto& [job, state] : old) {
    status = PruneOne(job, state);
    if (!status.ok()) break;
  }
  if (status.ok()) status = Control("COMMIT");
  if (!status.ok()) {
    if (sqlite3_get_autocommit(db_->get()) == 0) sqlite3_exec(db_->get(), "ROLLBACK", nullptr, nullptr, nullptr);
    return status;
  }
  return static_cast<uint32_t>(old.size());
}

}  // namespace proofline::coordinator
