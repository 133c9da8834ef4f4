// A few lines around SQLite's C interface: an owned connection, a prepared statement, and its codes as Status.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace proofline::coordinator {

struct SqliteCloser {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using SqliteHandle = std::unique_ptr<sqlite3, SqliteCloser>;

// `what` names the operation for the detail.
Status SqliteError(sqlite3* db, const std::string& path, std::string_view what);

// Bind from 1 up by calls in order, then Step; Reset is done by the destructor, so one object is one execution.
class SqliteStatement {
 public:
  SqliteStatement(sqlite3* db, const char* sql);
  ~SqliteStatement() { sqlite3_finalize(stmt_); }
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  SqliteStatement& Int(int64_t value);
  SqliteStatement& Uint(uint64_t value) { return Int(static_cast<int64_t>(value)); }
  SqliteStatement& Text(std::string_view value);
  SqliteStatement& Blob(std::string_view value);
  SqliteStatement& Null();

  // True: a row is there. False: done, or failed; then ok() tells.
  bool Step();
  bool ok() const { return code_ == SQLITE_OK || code_ == SQLITE_ROW || code_ == SQLITE_DONE; }
  int code() const { return code_; }

  int64_t GetInt(int column) const { return sqlite3_column_int64(stmt_, column); }
  uint64_t GetUint(int column) const { return static_cast<uint64_t>(GetInt(column)); }
  std::string GetBytes(int column) const;
  bool IsNull(int column) const { return sqlite3_column_type(stmt_, column) == SQLITE_NULL; }

 private:
  void Note(int code) {
    if (ok()) code_ = code;
  }
  sqlite3_stmt* stmt_ = nullptr;
  int code_ = SQLITE_OK;
  int next_ = 1;
};

}  // namespace proofline::coordinator
