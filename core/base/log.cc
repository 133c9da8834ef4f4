#include "core/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "core/base/clock.h"

namespace proofline {

namespace {

constexpr size_t kMaxTextBytes = 1500;
constexpr std::string_view kLevelNames[] = {"debug", "info", "warn", "error", "off"};

std::atomic<uint8_t> g_level{static_cast<uint8_t>(LogLevel::kInfo)};
std::atomic<uint32_t> g_instance{0};

std::string& Role() {
  static std::string role;
  return role;
}

// Leaked on purpose: threads may still log while static objects are being destroyed.
spdlog::logger& Logger() {
  static spdlog::logger* logger = [] {
    auto* made = new spdlog::logger("proofline", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

// Bytes that are not UTF-8 become '?', so that a line always parses. Returns the length of a valid sequence at `i`, or 0.
size_t Utf8Length(std::string_view s, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(s[k]); };
  const unsigned char lead = byte(i);
  const size_t n = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
  if (n == 0 || i + n > s.size()) return 0;
  for (size_t k = 1; k < n; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  }
  if (lead == 0xe0 && byte(i + 1) < 0xa0) return 0;  // overlong
  if (lead == 0xed && byte(i + 1) > 0x9f) return 0;  // surrogate
  if (lead == 0xf0 && byte(i + 1) < 0x90) return 0;
  if (lead == 0xf4 && byte(i + 1) > 0x8f) return 0;
  return n;
}

void AppendEscaped(std::string& out, std::string_view text) {
  out += '"';
  const size_t end = std::min(text.size(), kMaxTextBytes);
  for (size_t i = 0; i < end;) {
    const char c = text[i];
    const size_t n = Utf8Length(text, i);
    if (n == 0) {
      out += '?';
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escaped;
    } else {
      out.append(text.substr(i, n));
    }
    i += n;
  }
  if (text.size() > kMaxTextBytes) out += "...";
  out += '"';
}

void AppendValue(std::string& out, const LogField::Value& value) {
  std::visit(
      [&](auto v) {
        using T = decltype(v);
        if constexpr (std::is_same_v<T, std::string_view>) {
          AppendEscaped(out, v);
        } else if constexpr (std::is_same_v<T, bool>) {
          out += v ? "true" : "false";
        } else if constexpr (std::is_same_v<T, double>) {
          if (!std::isfinite(v)) {
            out += "null";
          } else {
            char digits[64];
            const auto end = std::to_chars(digits, digits + sizeof(digits), v);
            out.append(digits, end.ptr);
          }
        } else {
          out += std::to_string(v);
        }
      },
      value);
}

}  // namespace

namespace log_internal {

Identity CurrentIdentity() {
  // Asked each time: a forked child is another process.
  return {Role(), static_cast<int>(getpid()), g_instance.load(std::memory_order_relaxed)};
}

void AppendField(std::string& out, const LogField& field) {
  if (!out.empty() && out.back() != '{') out += ',';
  out += '"';
  out += field.key;
  out += "\":";
  AppendValue(out, field.value);
}

void WriteLine(LogLevel level, std::string_view line) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                   spdlog::level::err, spdlog::level::critical};
  Logger().log(kLevels[static_cast<size_t>(level)], spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace log_internal

Result<LogLevel> ParseLogLevel(std::string_view text) {
  for (size_t i = 0; i < std::size(kLevelNames); ++i) {
    if (text == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return Status(ErrorCode::kUsage, "unknown log level \"" + std::string(text) + "\"", {},
                "use one of: debug, info, warn, error, off");
}

void InitLog(std::string_view role, LogLevel level) {
  Role() = role;
  if (const char* named = std::getenv("PROOFLINE_LOG")) {
    if (auto parsed = ParseLogLevel(named); parsed.ok()) level = *parsed;
  }
  g_level.store(static_cast<uint8_t>(level), std::memory_order_relaxed);
}

void SetLogInstance(uint32_t instance) { g_instance.store(instance, std::memory_order_relaxed); }

bool LogEnabled(LogLevel level) {
  return level != LogLevel::kOff && static_cast<uint8_t>(level) >= g_level.load(std::memory_order_relaxed);
}

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!LogEnabled(level)) return;
  const auto who = log_internal::CurrentIdentity();
  std::string line = "{";
  const std::string now = FormatRfc3339(WallUnixMs());
  log_internal::AppendField(line, {"ts", now});
  log_internal::AppendField(line, {"level", kLevelNames[static_cast<size_t>(level)]});
  log_internal::AppendField(line, {"role", who.role});
  log_internal::AppendField(line, {"pid", who.pid});
  if (who.instance != 0) log_internal::AppendField(line, {"instance", who.instance});
  log_internal::AppendField(line, {"msg", message});
  for (const LogField& field : fields) log_internal::AppendField(line, field);
  line += '}';
  log_internal::WriteLine(level, line);
}

void LogStatus(LogLevel level, std::string_view message, const Status& status) {
  if (status.ok()) {
    Log(level, message);
    return;
  }
  const Error& e = status.error();
  Log(level, message, {{"error", ErrorCodeName(e.code)}, {"fact", e.fact}, {"detail", e.detail}, {"remedy", e.remedy}});
}

}  // namespace proofline
