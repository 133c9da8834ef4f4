// A few lines around SQLite's C interface: an owned connection with its prepared statements, one execution of a statement, and its
// codes as Status.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/status.h"

namespace proofline::coordinator {

// Owns the connection. Statements are compiled once for each text, so texts must be few: values are bound, never pasted.
class SqliteDb {
 public:
  explicit SqliteDb(sqlite3* db) : db_(db) {}
  ~SqliteDb();
  SqliteDb(const SqliteDb&) = delete;
  SqliteDb& operator=(const SqliteDb&) = delete;
  sqlite3* get() const { return db_; }

 private:
  friend class SqliteStatement;
  // Null when it does not compile; `code` says why.
  sqlite3_stmt* Compiled(const char* sql, int* code);

  sqlite3* db_;
  std::unordered_map<std::string, sqlite3_stmt*> compiled_;
};

// `what` names the operation for the detail.
Status SqliteError(sqlite3* db, const std::string& path, std::string_view what);

// One execution: bind from 1 up by calls in order, then Step. Two objects of the same text must not be in use at the same time.
class SqliteStatement {
 public:
  SqliteStatement(SqliteDb& db, const char* sql);
  ~SqliteStatement();  // keeps no bound value
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
  int code_ = SQLITE_OK;
  sqlite3_stmt* stmt_ = nullptr;
  int next_ = 1;
};

}  // namespace proofline::coordinator
