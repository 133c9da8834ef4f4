// Durations as people type and read them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace proofline::cli {

// "500ms", "30s", "2m", "1h", "1.5s", "0s"; a unit is required. At most 30 days. kUsage names `option` otherwise.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text, std::string_view option);
// "0.4 ms", "12.3 ms", "1.24 s", "2 m 05 s"
std::string FormatNs(uint64_t nanoseconds);

}  // namespace proofline::cli
