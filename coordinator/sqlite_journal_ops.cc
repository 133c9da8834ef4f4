// Writing: one transaction a batch.
#include <algorithm>

#include "coordinator/sqlite_journal.h"

namespace proofline::coordinator {

namespace {

std::string PackError(const Error& error) {
  wire::Error packed;
  packed.set_code(static_cast<uint32_t>(error.code));
  packed.set_fact(error.fact);
  packed.set_detail(error.detail);
  packed.set_remedy(error.remedy);
  return packed.SerializeAsString();
}

// What only concerns processes that a power loss ends too may be lost by it, but not by the end of ours.
bool NeedsDisk(const JournalOp& op) {
  return !(std::holds_alternative<BeginAttempt>(op) || std::holds_alternative<RecordFailure>(op) || std::holds_alternative<PutWorker>(op) ||
           std::holds_alternative<RemoveWorker>(op));
}

}  // namespace

Status SqliteJobStore::Do(const ReserveJobNumbers& op) { return SetMeta("next_job", std::to_string(op.up_to)); }

Status SqliteJobStore::Do(const PutCircuit& op) {
  SqliteStatement s(*db_, "INSERT INTO circuit(id, name, spec) VALUES(?, ?, ?) "
                          "ON CONFLICT(id) DO UPDATE SET spec = excluded.spec WHERE name = excluded.name");
  s.Uint(op.circuit.id()).Text(op.circuit.name()).Blob(op.circuit.SerializeAsString());
  return ChangeOne(s, "put circuit");
}

Status SqliteJobStore::Do(const RemoveCircuit& op) {
  SqliteStatement s(*db_, "DELETE FROM circuit WHERE id = ?");
  s.Uint(op.id);
  return ChangeOne(s, "remove circuit");
}

Status SqliteJobStore::Do(const AcceptJob& op) {
  const JobRecord& j = op.job;
  SqliteStatement s(*db_, "INSERT INTO job VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)");
  s.Uint(j.id).Text(j.name).Uint(j.circuit).Text(j.circuit_name).Int(j.priority).Uint(j.partition_count).Int(j.created_unix_ms);
  s.Int(j.deadline_unix_ms).Int(0).Blob(j.content_mac).Int(static_cast<int>(JobState::kQueued));
  PL_RETURN_IF_ERROR(ChangeOne(s, "accept job"));
  for (uint32_t i = 0; i < j.partition_count; ++i) {
    SqliteStatement part(*db_, "INSERT INTO part VALUES(?, ?, 0, 0, 0, '', NULL, '')");
    part.Uint(j.id).Uint(i);
    PL_RETURN_IF_ERROR(ChangeOne(part, "accept partition"));
  }
  return OkStatus();
}

Status SqliteJobStore::Do(const BeginAttempt& op) {
  SqliteStatement s(*db_, "UPDATE part SET attempt = ?3 WHERE job = ?1 AND idx = ?2 AND attempt = ?3 - 1 AND state < 2");
  s.Uint(op.job).Uint(op.part).Uint(op.attempt);
  PL_RETURN_IF_ERROR(ChangeOne(s, "begin attempt"));
  SqliteStatement job(*db_, "UPDATE job SET state = 1 WHERE id = ? AND state = 0");
  job.Uint(op.job);
  return Run(job, "job runs");
}

Status SqliteJobStore::Do(const RecordFailure& op) {
  SqliteStatement s(*db_, "UPDATE part SET failures = ?3, causes = ?4 WHERE job = ?1 AND idx = ?2 AND state < 2");
  s.Uint(op.job).Uint(op.part).Uint(op.failures).Text(op.causes);
  return ChangeOne(s, "record failure");
}

Status SqliteJobStore::Do(const CommitResult& op) {
  SqliteStatement s(*db_, "UPDATE part SET state = 2, stages = ?4 WHERE job = ?1 AND idx = ?2 AND attempt = ?3 AND state < 2");
  s.Uint(op.job).Uint(op.part).Uint(op.attempt).Blob(op.stages);
  PL_RETURN_IF_ERROR(ChangeOne(s, "commit result of the current attempt"));
  SqliteStatement result(*db_, "INSERT INTO result(job, idx, attempt, bytes) VALUES(?, ?, ?, ?)");
  result.Uint(op.job).Uint(op.part).Uint(op.attempt).Blob(op.bytes);
  return ChangeOne(result, "store result");
}

Status SqliteJobStore::Do(const EndPart& op) {
  SqliteStatement s(*db_,
                    "UPDATE part SET state = ?3, failures = ?4, error = ?5, stages = ?6 WHERE job = ?1 AND idx = ?2 AND state < 2");
  s.Uint(op.job).Uint(op.part).Int(static_cast<int>(op.state)).Uint(op.failures).Blob(PackError(op.error)).Blob(op.stages);
  return ChangeOne(s, "end partition");
}

Status SqliteJobStore::Do(const RequestCancel& op) {
  SqliteStatement s(*db_, "UPDATE job SET cancel = 1 WHERE id = ? AND state < 2");
  s.Uint(op.job);
  return ChangeOne(s, "request cancel");
}

Status SqliteJobStore::Do(const EndJob& op) {
  SqliteStatement s(*db_, "UPDATE job SET state = ?2, ended_ms = ?3 WHERE id = ?1 AND state < 2");
  s.Uint(op.job).Int(static_cast<int>(op.state)).Int(op.ended_unix_ms);
  return ChangeOne(s, "end job");
}

Status SqliteJobStore::Do(const PutWorker& op) {
  SqliteStatement s(*db_, "INSERT OR REPLACE INTO worker(instance, generation, pid, start_ticks) VALUES(?, ?, ?, ?)");
  s.Uint(op.worker.instance).Text(std::to_string(op.worker.generation)).Int(op.worker.pid).Uint(op.worker.start_ticks);
  return ChangeOne(s, "add worker");
}

Status SqliteJobStore::Do(const RemoveWorker& op) {
  SqliteStatement s(*db_, "DELETE FROM worker WHERE instance = ?");
  s.Uint(op.instance);
  return Run(s, "remove worker");
}

Status SqliteJobStore::InTransaction(const std::vector<JournalOp>& batch) {
  PL_RETURN_IF_ERROR(Control("BEGIN IMMEDIATE"));
  for (const JournalOp& op : batch) {
    PL_RETURN_IF_ERROR(std::visit([this](const auto& o) { return Do(o); }, op));
  }
  return Control("COMMIT");
}

Status SqliteJobStore::Apply(const std::vector<JournalOp>& batch) {
  if (batch.empty()) return OkStatus();
  PL_RETURN_IF_ERROR(SetDurable(std::any_of(batch.begin(), batch.end(), NeedsDisk)));
  Status status = InTransaction(batch);
  // Some failures (disk full) have rolled back already.
  if (!status.ok() && sqlite3_get_autocommit(db_->get()) == 0) sqlite3_exec(db_->get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

}  // namespace proofline::coordinator
