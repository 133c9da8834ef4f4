// The class behind OpenSqliteJobStore, for the files that implement it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/job_store.h"
#include "coordinator/sqlite_statement.h"
#include "core/base/secret.h"

namespace proofline::coordinator {

class SqliteJobStore : public JobStore {
 public:
  SqliteJobStore(std::unique_ptr<SqliteDb> db, std::string path, bool in_memory) : db_(std::move(db)), path_(std::move(path)), in_memory_(in_memory) {}
  ~SqliteJobStore() override { Wipe(secret_.data(), secret_.size()); }

  uint64_t term() const override { return term_; }
  const std::array<uint8_t, 32>& content_secret() const override { return secret_; }
  uint64_t first_free_job_number() const override { return next_job_; }

  Status CreateSchema();
  Status TakeTerm();

  Status Apply(const std::vector<JournalOp>& batch) override;
  Result<std::vector<wire::Circuit>> LoadCircuits() override;
  Result<std::vector<LoadedJob>> LoadLiveJobs() override;
  Result<std::optional<LoadedJob>> FindJob(uint64_t id) override;
  Result<std::optional<LoadedJob>> FindJobByName(std::string_view name) override;
  Result<std::optional<std::string>> LoadResult(uint64_t job, uint32_t part) override;
  Result<std::vector<WorkerRecord>> LoadWorkers() override;
  Result<EndedTotals> CountEndedJobs() override { return CountEnded("job", "SELECT state, COUNT(*) FROM job WHERE state >= 2 GROUP BY state"); }
  Result<EndedTotals> CountEndedPartitions() override {
    return CountEnded("part", "SELECT state, COUNT(*) FROM part WHERE state >= 2 GROUP BY state");
  }
  Result<uint32_t> Prune(int64_t ended_before_unix_ms, uint32_t limit) override;

  Status Exec(const char* sql);
  // The same for a statement that is needed again and again.
  Status Control(const char* sql);
  Status Fail(std::string_view what) { return SqliteError(db_->get(), path_, what); }

 private:
  // Runs a statement that must change exactly one row.
  Status ChangeOne(SqliteStatement& s, std::string_view what);
  Status Run(SqliteStatement& s, std::string_view what);
  Status Do(const ReserveJobNumbers& op);
  Status Do(const PutCircuit& op);
  Status Do(const RemoveCircuit& op);
  Status Do(const AcceptJob& op);
  Status Do(const BeginAttempt& op);
  Status Do(const RecordFailure& op);
  Status Do(const CommitResult& op);
  Status Do(const EndPart& op);
  Status Do(const RequestCancel& op);
  Status Do(const EndJob& op);
  Status Do(const PutWorker& op);
  Status Do(const RemoveWorker& op);
  Status InTransaction(const std::vector<JournalOp>& batch);
  Result<std::optional<std::string>> Meta(const char* key);
  Status SetMeta(const char* key, std::string_view value);
  Result<std::vector<PartRecord>> LoadParts(uint64_t job);
  Result<std::optional<LoadedJob>> FirstJob(SqliteStatement& query);
  Result<EndedTotals> CountEnded(const char* kind, const char* sql);
  Status PruneOne(uint64_t job, JobState state);

  // Whether commits wait for the disk.
  Status SetDurable(bool durable);

  std::unique_ptr<SqliteDb> db_;
  std::string path_;
  bool in_memory_;
  bool durable_ = true;
  uint64_t term_ = 0, next_job_ = 1;
  std::array<uint8_t, 32> secret_{};
};

}  // namespace proofline::coordinator
