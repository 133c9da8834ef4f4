#include "coordinator/sqlite_job_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "coordinator/sqlite_statement.h"
#include "core/base/rng.h"
#include "core/base/secret.h"
#include "core/base/unique_fd.h"

namespace proofline::coordinator {

namespace {

constexpr int kApplicationId = 0x50524c4a;  // "PRLJ"
constexpr int kSchemaVersion = 1;

constexpr const char* kSchema = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE circuit(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec BLOB NOT NULL);
CREATE TABLE job(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, circuit INTEGER NOT NULL, circuit_name TEXT NOT NULL,
  priority INTEGER NOT NULL, partition_count INTEGER NOT NULL, created_ms INTEGER NOT NULL, deadline_ms INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL, content_mac BLOB NOT NULL, state INTEGER NOT NULL, cancel INTEGER NOT NULL);
CREATE INDEX job_live ON job(id) WHERE state < 2;
CREATE INDEX job_ended ON job(ended_ms) WHERE state >= 2;
CREATE TABLE part(
  job INTEGER NOT NULL, idx INTEGER NOT NULL, state INTEGER NOT NULL, attempt INTEGER NOT NULL, failures INTEGER NOT NULL,
  causes TEXT NOT NULL, error BLOB, stages BLOB NOT NULL, PRIMARY KEY(job, idx)) WITHOUT ROWID;
CREATE TABLE result(
  job INTEGER NOT NULL, idx INTEGER NOT NULL, attempt INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY(job, idx));
CREATE TABLE worker(instance INTEGER PRIMARY KEY, generation BLOB NOT NULL, pid INTEGER NOT NULL, start_ticks INTEGER NOT NULL);
CREATE TABLE pruned(kind TEXT NOT NULL, state INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(kind, state)) WITHOUT ROWID;
)sql";

std::string PackError(const Error& error) {
  wire::Error packed;
  packed.set_code(static_cast<uint32_t>(error.code));
  packed.set_fact(error.fact);
  packed.set_detail(error.detail);
  packed.set_remedy(error.remedy);
  return packed.SerializeAsString();
}

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

class SqliteJobStore : public JobStore {
 public:
  SqliteJobStore(SqliteHandle db, std::string path) : db_(std::move(db)), path_(std::move(path)) {}
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
  Status Fail(std::string_view what) { return SqliteError(db_.get(), path_, what); }

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

  SqliteHandle db_;
  std::string path_;
  uint64_t term_ = 0, next_job_ = 1;
  std::array<uint8_t, 32> secret_{};
};

Status SqliteJobStore::Exec(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return Fail(sql);
  return OkStatus();
}

Status SqliteJobStore::Run(SqliteStatement& s, std::string_view what) {
  s.Step();
  if (!s.ok()) return Fail(what);
  return OkStatus();
}

Status SqliteJobStore::ChangeOne(SqliteStatement& s, std::string_view what) {
  PL_RETURN_IF_ERROR(Run(s, what));
  if (sqlite3_changes(db_.get()) != 1) {
    return Status(ErrorCode::kConflict, "the journal " + path_ + " contradicts an operation", std::string(what));
  }
  return OkStatus();
}

Result<std::optional<std::string>> SqliteJobStore::Meta(const char* key) {
  SqliteStatement s(db_.get(), "SELECT value FROM meta WHERE key = ?");
  s.Text(key);
  if (s.Step()) return std::optional(s.GetBytes(0));
  if (!s.ok()) return Fail("read meta");
  return std::optional<std::string>();
}

Status SqliteJobStore::SetMeta(const char* key, std::string_view value) {
  SqliteStatement s(db_.get(), "INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value");
  s.Text(key).Blob(value);
  return Run(s, "write meta");
}

Status SqliteJobStore::CreateSchema() {
  std::array<uint8_t, 32> secret{};
  PL_RETURN_IF_ERROR(FillRandom(secret));
  PL_RETURN_IF_ERROR(Exec("BEGIN IMMEDIATE"));
  PL_RETURN_IF_ERROR(Exec(kSchema));
  PL_RETURN_IF_ERROR(Exec(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str()));
  PL_RETURN_IF_ERROR(Exec(("PRAGMA user_version = " + std::to_string(kSchemaVersion)).c_str()));
  PL_RETURN_IF_ERROR(SetMeta("content_secret", {reinterpret_cast<const char*>(secret.data()), secret.size()}));
  PL_RETURN_IF_ERROR(SetMeta("term", "0"));
  PL_RETURN_IF_ERROR(SetMeta("next_job", "1"));
  Wipe(secret.data(), secret.size());
  return Exec("COMMIT");
}

// One row of meta as a number; what cannot be read is damage.
Result<uint64_t> ParseCounter(const std::optional<std::string>& text, const std::string& path, const char* key) {
  uint64_t value = 0;
  if (text) {
    errno = 0;
    char* end = nullptr;
    value = std::strtoull(text->c_str(), &end, 10);
    if (errno == 0 && end && *end == 0 && !text->empty()) return value;
  }
  return Status(ErrorCode::kInvalidFile, "the journal " + path + " is damaged", std::string("its meta entry ") + key + " is missing or no number",
                "put a copy of it back, or move it away to begin with an empty journal");
}

Status SqliteJobStore::TakeTerm() {
  PL_ASSIGN_OR_RETURN(auto secret, Meta("content_secret"));
  if (!secret || secret->size() != secret_.size()) {
    return Status(ErrorCode::kInvalidFile, "the journal " + path_ + " is damaged", "its content secret is missing");
  }
  std::memcpy(secret_.data(), secret->data(), secret_.size());
  Wipe(secret->data(), secret->size());
  PL_ASSIGN_OR_RETURN(auto term_text, Meta("term"));
  PL_ASSIGN_OR_RETURN(const uint64_t term, ParseCounter(term_text, path_, "term"));
  PL_ASSIGN_OR_RETURN(auto next_text, Meta("next_job"));
  PL_ASSIGN_OR_RETURN(next_job_, ParseCounter(next_text, path_, "next_job"));
  PL_RETURN_IF_ERROR(SetMeta("term", std::to_string(term + 1)));
  term_ = term + 1;
  return OkStatus();
}

Status SqliteJobStore::Do(const ReserveJobNumbers& op) { return SetMeta("next_job", std::to_string(op.up_to)); }

Status SqliteJobStore::Do(const PutCircuit& op) {
  SqliteStatement s(db_.get(), "INSERT INTO circuit(id, name, spec) VALUES(?, ?, ?)");
  s.Uint(op.circuit.id()).Text(op.circuit.name()).Blob(op.circuit.SerializeAsString());
  return ChangeOne(s, "add circuit");
}

Status SqliteJobStore::Do(const RemoveCircuit& op) {
  SqliteStatement s(db_.get(), "DELETE FROM circuit WHERE id = ?");
  s.Uint(op.id);
  return ChangeOne(s, "remove circuit");
}

Status SqliteJobStore::Do(const AcceptJob& op) {
  const JobRecord& j = op.job;
  SqliteStatement s(db_.get(), "INSERT INTO job VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)");
  s.Uint(j.id).Text(j.name).Uint(j.circuit).Text(j.circuit_name).Int(j.priority).Uint(j.partition_count).Int(j.created_unix_ms);
  s.Int(j.deadline_unix_ms).Int(0).Blob(j.content_mac).Int(static_cast<int>(JobState::kQueued));
  PL_RETURN_IF_ERROR(ChangeOne(s, "accept job"));
  for (uint32_t i = 0; i < j.partition_count; ++i) {
    SqliteStatement part(db_.get(), "INSERT INTO part VALUES(?, ?, 0, 0, 0, '', NULL, '')");
    part.Uint(j.id).Uint(i);
    PL_RETURN_IF_ERROR(ChangeOne(part, "accept partition"));
  }
  return OkStatus();
}

Status SqliteJobStore::Do(const BeginAttempt& op) {
  SqliteStatement s(db_.get(), "UPDATE part SET attempt = ?3 WHERE job = ?1 AND idx = ?2 AND attempt = ?3 - 1 AND state < 2");
  s.Uint(op.job).Uint(op.part).Uint(op.attempt);
  PL_RETURN_IF_ERROR(ChangeOne(s, "begin attempt"));
  SqliteStatement job(db_.get(), "UPDATE job SET state = 1 WHERE id = ? AND state = 0");
  job.Uint(op.job);
  return Run(job, "job runs");
}

Status SqliteJobStore::Do(const RecordFailure& op) {
  SqliteStatement s(db_.get(), "UPDATE part SET failures = ?3, causes = ?4 WHERE job = ?1 AND idx = ?2 AND state < 2");
  s.Uint(op.job).Uint(op.part).Uint(op.failures).Text(op.causes);
  return ChangeOne(s, "record failure");
}

Status SqliteJobStore::Do(const CommitResult& op) {
  SqliteStatement s(db_.get(), "UPDATE part SET state = 2, stages = ?4 WHERE job = ?1 AND idx = ?2 AND attempt = ?3 AND state < 2");
  s.Uint(op.job).Uint(op.part).Uint(op.attempt).Blob(op.stages);
  PL_RETURN_IF_ERROR(ChangeOne(s, "commit result of the current attempt"));
  SqliteStatement result(db_.get(), "INSERT INTO result(job, idx, attempt, bytes) VALUES(?, ?, ?, ?)");
  result.Uint(op.job).Uint(op.part).Uint(op.attempt).Blob(op.bytes);
  return ChangeOne(result, "store result");
}

Status SqliteJobStore::Do(const EndPart& op) {
  SqliteStatement s(db_.get(),
                    "UPDATE part SET state = ?3, failures = ?4, error = ?5, stages = ?6 WHERE job = ?1 AND idx = ?2 AND state < 2");
  s.Uint(op.job).Uint(op.part).Int(static_cast<int>(op.state)).Uint(op.failures).Blob(PackError(op.error)).Blob(op.stages);
  return ChangeOne(s, "end partition");
}

Status SqliteJobStore::Do(const RequestCancel& op) {
  SqliteStatement s(db_.get(), "UPDATE job SET cancel = 1 WHERE id = ? AND state < 2");
  s.Uint(op.job);
  return ChangeOne(s, "request cancel");
}

Status SqliteJobStore::Do(const EndJob& op) {
  SqliteStatement s(db_.get(), "UPDATE job SET state = ?2, ended_ms = ?3 WHERE id = ?1 AND state < 2");
  s.Uint(op.job).Int(static_cast<int>(op.state)).Int(op.ended_unix_ms);
  return ChangeOne(s, "end job");
}

Status SqliteJobStore::Do(const PutWorker& op) {
  SqliteStatement s(db_.get(), "INSERT OR REPLACE INTO worker(instance, generation, pid, start_ticks) VALUES(?, ?, ?, ?)");
  s.Uint(op.worker.instance).Text(std::to_string(op.worker.generation)).Int(op.worker.pid).Uint(op.worker.start_ticks);
  return ChangeOne(s, "add worker");
}

Status SqliteJobStore::Do(const RemoveWorker& op) {
  SqliteStatement s(db_.get(), "DELETE FROM worker WHERE instance = ?");
  s.Uint(op.instance);
  return Run(s, "remove worker");
}

Status SqliteJobStore::InTransaction(const std::vector<JournalOp>& batch) {
  PL_RETURN_IF_ERROR(Exec("BEGIN IMMEDIATE"));
  for (const JournalOp& op : batch) {
    PL_RETURN_IF_ERROR(std::visit([this](const auto& o) { return Do(o); }, op));
  }
  return Exec("COMMIT");
}

Status SqliteJobStore::Apply(const std::vector<JournalOp>& batch) {
  if (batch.empty()) return OkStatus();
  Status status = InTransaction(batch);
  // Some failures (disk full) have rolled back already.
  if (!status.ok() && sqlite3_get_autocommit(db_.get()) == 0) sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

Result<std::vector<wire::Circuit>> SqliteJobStore::LoadCircuits() {
  std::vector<wire::Circuit> circuits;
  SqliteStatement s(db_.get(), "SELECT id, spec FROM circuit ORDER BY id");
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
  SqliteStatement s(db_.get(), "SELECT idx, state, attempt, failures, causes, error, stages FROM part WHERE job = ? ORDER BY idx");
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
  SqliteStatement s(db_.get(), (std::string(kJobColumns) + "WHERE state < 2 ORDER BY id").c_str());
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
  SqliteStatement s(db_.get(), (std::string(kJobColumns) + "WHERE id = ?").c_str());
  s.Uint(id);
  return FirstJob(s);
}

Result<std::optional<LoadedJob>> SqliteJobStore::FindJobByName(std::string_view name) {
  SqliteStatement s(db_.get(), (std::string(kJobColumns) + "WHERE name = ?").c_str());
  s.Text(name);
  return FirstJob(s);
}

Result<std::optional<std::string>> SqliteJobStore::LoadResult(uint64_t job, uint32_t part) {
  SqliteStatement s(db_.get(), "SELECT bytes FROM result WHERE job = ? AND idx = ?");
  s.Uint(job).Uint(part);
  if (s.Step()) return std::optional(s.GetBytes(0));
  if (!s.ok()) return Fail("load result");
  return std::optional<std::string>();
}

Result<std::vector<WorkerRecord>> SqliteJobStore::LoadWorkers() {
  std::vector<WorkerRecord> workers;
  SqliteStatement s(db_.get(), "SELECT instance, generation, pid, start_ticks FROM worker ORDER BY instance");
  while (s.Step()) {
    workers.push_back({std::strtoull(s.GetBytes(1).c_str(), nullptr, 10), static_cast<uint32_t>(s.GetUint(0)),
                       static_cast<int32_t>(s.GetInt(2)), s.GetUint(3)});
  }
  if (!s.ok()) return Fail("load workers");
  return workers;
}

void AddTo(EndedTotals& totals, JobState state, uint64_t count) {
  if (state == JobState::kDone) totals.done += count;
  if (state == JobState::kFailed) totals.failed += count;
  if (state == JobState::kCancelled) totals.cancelled += count;
}

Result<EndedTotals> SqliteJobStore::CountEnded(const char* kind, const char* sql) {
  EndedTotals totals;
  SqliteStatement kept(db_.get(), sql);
  while (kept.Step()) AddTo(totals, static_cast<JobState>(kept.GetInt(0)), kept.GetUint(1));
  SqliteStatement gone(db_.get(), "SELECT state, count FROM pruned WHERE kind = ?");
  gone.Text(kind);
  while (gone.Step()) AddTo(totals, static_cast<JobState>(gone.GetInt(0)), gone.GetUint(1));
  if (!kept.ok() || !gone.ok()) return Fail("count");
  return totals;
}

Status SqliteJobStore::PruneOne(uint64_t job, JobState state) {
  constexpr const char* kCount =
      "INSERT INTO pruned(kind, state, count) VALUES(?1, ?2, ?3) ON CONFLICT(kind, state) DO UPDATE SET count = count + excluded.count";
  SqliteStatement count_job(db_.get(), kCount);
  count_job.Text("job").Int(static_cast<int>(state)).Int(1);
  PL_RETURN_IF_ERROR(Run(count_job, "prune"));
  for (JobState part_state : {JobState::kDone, JobState::kFailed, JobState::kCancelled}) {
    SqliteStatement count(db_.get(), "SELECT COUNT(*) FROM part WHERE job = ? AND state = ?");
    count.Uint(job).Int(static_cast<int>(part_state));
    if (!count.Step()) return Fail("prune");
    if (count.GetInt(0) == 0) continue;
    SqliteStatement add(db_.get(), kCount);
    add.Text("part").Int(static_cast<int>(part_state)).Int(count.GetInt(0));
    PL_RETURN_IF_ERROR(Run(add, "prune"));
  }
  for (const char* sql : {"DELETE FROM result WHERE job = ?", "DELETE FROM part WHERE job = ?", "DELETE FROM job WHERE id = ?"}) {
    SqliteStatement remove(db_.get(), sql);
    remove.Uint(job);
    PL_RETURN_IF_ERROR(Run(remove, "prune"));
  }
  return OkStatus();
}

Result<uint32_t> SqliteJobStore::Prune(int64_t ended_before_unix_ms, uint32_t limit) {
  std::vector<std::pair<uint64_t, JobState>> old;
  {
    SqliteStatement s(db_.get(), "SELECT id, state FROM job WHERE state >= 2 AND ended_ms < ? ORDER BY ended_ms LIMIT ?");
    s.Int(ended_before_unix_ms).Uint(limit);
    while (s.Step()) old.emplace_back(s.GetUint(0), static_cast<JobState>(s.GetInt(1)));
    if (!s.ok()) return Fail("prune");
  }
  if (old.empty()) return 0u;
  PL_RETURN_IF_ERROR(Exec("BEGIN IMMEDIATE"));
  Status status;
  for (const auto& [job, state] : old) {
    status = PruneOne(job, state);
    if (!status.ok()) break;
  }
  if (status.ok()) status = Exec("COMMIT");
  if (!status.ok()) {
    if (sqlite3_get_autocommit(db_.get()) == 0) sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    return status;
  }
  return static_cast<uint32_t>(old.size());
}

// ---- opening ----

Result<std::unique_ptr<SqliteJobStore>> Connect(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteHandle db(raw);
  if (code != SQLITE_OK) return SqliteError(raw, path, "open");
  sqlite3_extended_result_codes(raw, 1);
  return std::make_unique<SqliteJobStore>(std::move(db), path);
}

Result<int64_t> Pragma(sqlite3* db, const std::string& path, const char* sql) {
  SqliteStatement s(db, sql);
  if (!s.Step()) return SqliteError(db, path, sql);
  return s.GetInt(0);
}

Status Damaged(const std::string& path, std::string detail) {
  return Status(ErrorCode::kInvalidFile, "the journal " + path + " is damaged", std::move(detail),
                "put a copy of it back, or move it away to begin with an empty journal; it has not been changed");
}

// Reads only. The whole file is checked as long as that is quick.
Status CheckFile(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteHandle db(raw);
  if (code != SQLITE_OK) return SqliteError(raw, path, "open");
  PL_ASSIGN_OR_RETURN(const int64_t pages_locked, Pragma(raw, path, "PRAGMA schema_version"));
  (void)pages_locked;
  PL_ASSIGN_OR_RETURN(const int64_t application, Pragma(raw, path, "PRAGMA application_id"));
  if (application != kApplicationId) return Damaged(path, "it is an SQLite file, but none of ours");
  PL_ASSIGN_OR_RETURN(const int64_t version, Pragma(raw, path, "PRAGMA user_version"));
  if (version > kSchemaVersion) {
    return Status(ErrorCode::kUnsupported,
                  "the journal " + path + " has schema " + std::to_string(version) + ", this program knows " + std::to_string(kSchemaVersion),
                  {}, "use the newer program");
  }
  if (version != kSchemaVersion) return Damaged(path, "its schema version is " + std::to_string(version));
  constexpr off_t kQuickBytes = off_t{256} << 20;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || info.st_size > kQuickBytes) return OkStatus();
  SqliteStatement check(raw, "PRAGMA quick_check(1)");
  if (!check.Step()) return SqliteError(raw, path, "quick_check");
  if (const std::string verdict = check.GetBytes(0); verdict != "ok") return Damaged(path, verdict);
  return OkStatus();
}

Status SyncDirectoryOf(const std::string& path) {
  const std::string dir = path.substr(0, path.rfind('/'));
  UniqueFd fd(open(dir.empty() ? "/" : dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || fsync(fd.get()) != 0) return Status(ErrorCode::kIo, "cannot sync the directory " + dir, std::strerror(errno));
  return OkStatus();
}

Status CreateFile(const std::string& path) {
  const std::string temporary = path + ".new";
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) unlink((temporary + suffix).c_str());
  {
    PL_ASSIGN_OR_RETURN(auto store, Connect(temporary, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    PL_RETURN_IF_ERROR(store->Exec("PRAGMA synchronous = FULL"));
    PL_RETURN_IF_ERROR(store->CreateSchema());
  }
  chmod(temporary.c_str(), 0600);
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    return Status(ErrorCode::kIo, "cannot put the journal in place at " + path, std::strerror(errno));
  }
  return SyncDirectoryOf(path);
}

}  // namespace

Result<std::unique_ptr<JobStore>> OpenSqliteJobStore(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) {
    if (info.st_size == 0) return Damaged(path, "the file is empty");
    PL_RETURN_IF_ERROR(CheckFile(path));
  } else if (errno != ENOENT) {
    return Status(ErrorCode::kIo, "the journal " + path + " cannot be read", std::strerror(errno), "check the directory and its owner");
  } else if (stat((path + "-wal").c_str(), &info) == 0 && info.st_size > 0) {
    return Damaged(path, "the file is missing, but its log " + path + "-wal is there");
  } else {
    PL_RETURN_IF_ERROR(CreateFile(path));
  }
  PL_ASSIGN_OR_RETURN(auto store, Connect(path, SQLITE_OPEN_READWRITE));
  // Exclusive before the first access: a second process is refused, and there is no -shm file.
  PL_RETURN_IF_ERROR(store->Exec("PRAGMA locking_mode = EXCLUSIVE"));
  PL_RETURN_IF_ERROR(store->Exec("PRAGMA journal_mode = WAL"));
  PL_RETURN_IF_ERROR(store->Exec("PRAGMA synchronous = FULL"));
  PL_RETURN_IF_ERROR(store->TakeTerm());
  return std::unique_ptr<JobStore>(std::move(store));
}

Result<std::unique_ptr<JobStore>> OpenMemoryJobStore() {
  PL_ASSIGN_OR_RETURN(auto store, Connect(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  PL_RETURN_IF_ERROR(store->Exec("PRAGMA synchronous = OFF"));
  PL_RETURN_IF_ERROR(store->CreateSchema());
  PL_RETURN_IF_ERROR(store->TakeTerm());
  return std::unique_ptr<JobStore>(std::move(store));
}

}  // namespace proofline::coordinator
