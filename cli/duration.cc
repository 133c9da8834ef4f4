#include "cli/duration.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace proofline::cli {

Result<std::chrono::milliseconds> ParseDuration(std::string_view text, std::string_view option) {
  constexpr double kMostMs = 30.0 * 24 * 3600 * 1000;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const double scale = unit == "ms" ? 1 : unit == "s" ? 1e3 : unit == "m" ? 60e3 : unit == "h" ? 3600e3 : 0;
  const bool fine = error == std::errc() && scale > 0 && std::isfinite(value) && value >= 0 && !std::signbit(value) && value * scale <= kMostMs;
  if (!fine)
    return Status(ErrorCode::kUsage, std::string(option) + ": \"" + std::string(text) + "\" is no duration", "",
                  "write a number and a unit: 500ms, 30s, 2m or 1h, at most 720h");
  return std::chrono::milliseconds(std::llround(value * scale));
}

std::string FormatNs(uint64_t nanoseconds) {
  char text[64];
  const double ms = static_cast<double>(nanoseconds) / 1e6;
  if (ms < 999.95) {
    std::snprintf(text, sizeof text, "%.1f ms", ms);
  } else if (ms < 59995) {
    std::snprintf(text, sizeof text, "%.2f s", ms / 1e3);
  } else {
    const auto seconds = static_cast<unsigned long long>(std::llround(ms / 1e3));
    std::snprintf(text, sizeof text, "%llu m %02llu s", seconds / 60, seconds % 60);
  }
  return text;
}

}  // namespace proofline::cli
