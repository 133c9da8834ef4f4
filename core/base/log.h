// The log: one JSON object a line, to stderr, from any thread. A line is written with one call, so lines of different
// processes that share a stderr do not mix (up to the kernel's PIPE_BUF of 4096 bytes; longer texts are cut).
//
//   {"ts":"2025-03-01T12:34:56.789Z","level":"warn","role":"coordinator","pid":42,"msg":"slot reclaimed","slot":3}
//
// Never log a secret: no witness value, blinding scalar, content key or input byte.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/status.h"

namespace proofline {

enum class LogLevel : uint8_t { kDebug = 0, kInfo = 1, kWarn = 2, kError = 3, kOff = 4 };

// "debug", "info", "warn", "error", "off".
Result<LogLevel> ParseLogLevel(std::string_view text);

// Who writes. Call once at the start of main, before other threads exist; the log works without it (role "").
// The level is `level`, unless the environment variable PROOFLINE_LOG names another.
void InitLog(std::string_view role, LogLevel level = LogLevel::kInfo);
// The instance number that the coordinator gave this worker. 0 = none yet. Any thread.
void SetLogInstance(uint32_t instance);
bool LogEnabled(LogLevel level);

// A key and a value. Keys are literals of ours ([a-z_]); values are escaped.
struct LogField {
  using Value = std::variant<std::string_view, int64_t, uint64_t, double, bool>;
  std::string_view key;
  Value value;

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
  LogField(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
  LogField(std::string_view k, bool v) : key(k), value(v) {}
  LogField(std::string_view k, double v) : key(k), value(v) {}
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  LogField(std::string_view k, T v) : key(k) {
    if constexpr (std::is_signed_v<T>) {
      value = static_cast<int64_t>(v);
    } else {
      value = static_cast<uint64_t>(v);
    }
  }
};

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});
inline void LogDebug(std::string_view m, std::initializer_list<LogField> f = {}) { Log(LogLevel::kDebug, m, f); }
inline void LogInfo(std::string_view m, std::initializer_list<LogField> f = {}) { Log(LogLevel::kInfo, m, f); }
inline void LogWarn(std::string_view m, std::initializer_list<LogField> f = {}) { Log(LogLevel::kWarn, m, f); }
inline void LogError(std::string_view m, std::initializer_list<LogField> f = {}) { Log(LogLevel::kError, m, f); }
// The status's code, fact, detail and remedy as fields.
void LogStatus(LogLevel level, std::string_view message, const Status& status);

namespace log_internal {
struct Identity {
  std::string role;
  int pid = 0;
  uint32_t instance = 0;
};
Identity CurrentIdentity();
// `"key":value` with a comma before it unless `out` ends in '{'.
void AppendField(std::string& out, const LogField& field);
// A finished JSON object, without the line end.
void WriteLine(LogLevel level, std::string_view line);
}  // namespace log_internal

}  // namespace proofline
