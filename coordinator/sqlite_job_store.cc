#include "coordinator/sqlite_job_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "coordinator/sqlite_journal.h"
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

}  // namespace

Status SqliteJobStore::Exec(const char* sql) {
  if (sqlite3_exec(db_->get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return Fail(sql);
  return OkStatus();
}

Status SqliteJobStore::Control(const char* sql) {
  SqliteStatement s(*db_, sql);
  return Run(s, sql);
}

Status SqliteJobStore::SetDurable(bool durable) {
  if (in_memory_ || durable == durable_) return OkStatus();
  // Pragmas may act when they are compiled, so never from the kept statements.
  PL_RETURN_IF_ERROR(Exec(durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"));
  durable_ = durable;
  return OkStatus();
}

Status SqliteJobStore::Run(SqliteStatement& s, std::string_view what) {
  s.Step();
  if (!s.ok()) return Fail(what);
  return OkStatus();
}

Status SqliteJobStore::ChangeOne(SqliteStatement& s, std::string_view what) {
  PL_RETURN_IF_ERROR(Run(s, what));
  if (sqlite3_changes(db_->get()) != 1) {
    return Status(ErrorCode::kConflict, "the journal " + path_ + " contradicts an operation", std::string(what));
  }
  return OkStatus();
}

Result<std::optional<std::string>> SqliteJobStore::Meta(const char* key) {
  SqliteStatement s(*db_, "SELECT value FROM meta WHERE key = ?");
  s.Text(key);
  if (s.Step()) return std::optional(s.GetBytes(0));
  if (!s.ok()) return Fail("read meta");
  return std::optional<std::string>();
}

Status SqliteJobStore::SetMeta(const char* key, std::string_view value) {
  SqliteStatement s(*db_, "INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value");
  s.Text(key).Blob(value);
  return Run(s, "write meta");
}

Status SqliteJobStore::CreateSchema() {
  std::array<uint8_t, 32> secret{};
  PL_RETURN_IF_ERROR(FillRandom(secret));
  PL_RETURN_IF_ERROR(Control("BEGIN IMMEDIATE"));
  PL_RETURN_IF_ERROR(Exec(kSchema));
  PL_RETURN_IF_ERROR(Exec(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str()));
  PL_RETURN_IF_ERROR(Exec(("PRAGMA user_version = " + std::to_string(kSchemaVersion)).c_str()));
  PL_RETURN_IF_ERROR(SetMeta("content_secret", {reinterpret_cast<const char*>(secret.data()), secret.size()}));
  PL_RETURN_IF_ERROR(SetMeta("term", "0"));
  PL_RETURN_IF_ERROR(SetMeta("next_job", "1"));
  Wipe(secret.data(), secret.size());
  return Control("COMMIT");
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

namespace {

constexpr const char* kInMemory = ":memory:";

Result<std::unique_ptr<SqliteDb>> Open(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  auto db = std::make_unique<SqliteDb>(raw);
  if (code != SQLITE_OK) return SqliteError(raw, path, "open");
  sqlite3_extended_result_codes(raw, 1);
  return db;
}

Result<std::unique_ptr<SqliteJobStore>> Connect(const std::string& path, int flags) {
  PL_ASSIGN_OR_RETURN(auto db, Open(path, flags));
  return std::make_unique<SqliteJobStore>(std::move(db), path, path == kInMemory);
}

Result<int64_t> Pragma(SqliteDb& db, const std::string& path, const char* sql) {
  SqliteStatement s(db, sql);
  if (!s.Step()) return SqliteError(db.get(), path, sql);
  return s.GetInt(0);
}

Status Damaged(const std::string& path, std::string detail) {
  return Status(ErrorCode::kInvalidFile, "the journal " + path + " is damaged", std::move(detail),
                "put a copy of it back, or move it away to begin with an empty journal; it has not been changed");
}

// Reads only. The whole file is checked as long as that is quick.
Status CheckFile(const std::string& path) {
  PL_ASSIGN_OR_RETURN(const auto db, Open(path, SQLITE_OPEN_READWRITE));
  PL_ASSIGN_OR_RETURN(const int64_t application, Pragma(*db, path, "PRAGMA application_id"));
  if (application != kApplicationId) return Damaged(path, "it is an SQLite file, but none of ours");
  PL_ASSIGN_OR_RETURN(const int64_t version, Pragma(*db, path, "PRAGMA user_version"));
  if (version > kSchemaVersion) {
    return Status(ErrorCode::kUnsupported,
                  "the journal " + path + " has schema " + std::to_string(version) + ", this program knows " + std::to_string(kSchemaVersion),
                  {}, "use the newer program");
  }
  if (version != kSchemaVersion) return Damaged(path, "its schema version is " + std::to_string(version));
  constexpr off_t kQuickBytes = off_t{256} << 20;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || info.st_size > kQuickBytes) return OkStatus();
  SqliteStatement check(*db, "PRAGMA quick_check(1)");
  if (!check.Step()) return SqliteError(db->get(), path, "quick_check");
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
  PL_ASSIGN_OR_RETURN(auto store, Connect(kInMemory, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  PL_RETURN_IF_ERROR(store->Exec("PRAGMA synchronous = OFF"));
  PL_RETURN_IF_ERROR(store->CreateSchema());
  PL_RETURN_IF_ERROR(store->TakeTerm());
  return std::unique_ptr<JobStore>(std::move(store));
}

}  // namespace proofline::coordinator
