#include "coordinator/sqlite_statement.h"

namespace proofline::coordinator {

Status SqliteError(sqlite3* db, const std::string& path, std::string_view what) {
  const int code = sqlite3_errcode(db) & 0xff;
  const std::string detail =
      std::string(what) + ": " + sqlite3_errmsg(db) + " (sqlite code " + std::to_string(sqlite3_extended_errcode(db)) + ")";
  switch (code) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Status(ErrorCode::kInvalidFile, "the journal " + path + " is damaged", detail,
                    "put a copy of it back, or move it away to begin with an empty journal; it has not been changed");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Status(ErrorCode::kConflict, "the journal " + path + " is in use by another process", detail,
                    "stop the other coordinator, or use another state directory");
    case SQLITE_FULL:
      return Status(ErrorCode::kResource, "no space left for the journal " + path, detail, "free space on its file system");
    case SQLITE_NOMEM:
      return Status(ErrorCode::kResource, "no memory for the journal " + path, detail);
    case SQLITE_CONSTRAINT:
      return Status(ErrorCode::kConflict, "the journal " + path + " has an entry that contradicts this one", detail);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_IOERR:
      return Status(ErrorCode::kIo, "the journal " + path + " cannot be opened or written", detail,
                    "check the directory, its owner and the file system");
    default:
      return Status(ErrorCode::kInternal, "the journal " + path + " refused an operation", detail);
  }
}

SqliteDb::~SqliteDb() {
  for (const auto& [sql, statement] : compiled_) sqlite3_finalize(statement);
  sqlite3_close_v2(db_);
}

sqlite3_stmt* SqliteDb::Compiled(const char* sql, int* code) {
  const auto known = compiled_.find(sql);
  if (known != compiled_.end()) return known->second;
  sqlite3_stmt* statement = nullptr;
  *code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (*code != SQLITE_OK) return nullptr;
  return compiled_[sql] = statement;
}

SqliteStatement::SqliteStatement(SqliteDb& db, const char* sql) : stmt_(db.Compiled(sql, &code_)) {
  if (stmt_) sqlite3_reset(stmt_);
}

SqliteStatement::~SqliteStatement() {
  if (!stmt_) return;
  sqlite3_reset(stmt_);
  sqlite3_clear_bindings(stmt_);
}

SqliteStatement& SqliteStatement::Int(int64_t value) {
  if (stmt_) Note(sqlite3_bind_int64(stmt_, next_++, value));
  return *this;
}

SqliteStatement& SqliteStatement::Text(std::string_view value) {
  if (stmt_) Note(sqlite3_bind_text(stmt_, next_++, value.data() ? value.data() : "", static_cast<int>(value.size()), SQLITE_TRANSIENT));
  return *this;
}

SqliteStatement& SqliteStatement::Blob(std::string_view value) {
  if (stmt_) Note(sqlite3_bind_blob(stmt_, next_++, value.data() ? value.data() : "", static_cast<int>(value.size()), SQLITE_TRANSIENT));
  return *this;
}

SqliteStatement& SqliteStatement::Null() {
  if (stmt_) Note(sqlite3_bind_null(stmt_, next_++));
  return *this;
}

bool SqliteStatement::Step() {
  if (!stmt_ || !ok()) return false;
  code_ = sqlite3_step(stmt_);
  return code_ == SQLITE_ROW;
}

std::string SqliteStatement::GetBytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(stmt_, column));
  const int bytes = sqlite3_column_bytes(stmt_, column);
  return data ? std::string(data, static_cast<size_t>(bytes)) : std::string();
}

}  // namespace proofline::coordinator
