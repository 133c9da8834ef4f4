// A stack's configuration file (TOML). Every setting has a default, so that no file is needed; what the file says and we do not
// know is refused with its line, so that a misspelt setting is not silently ignored.
//
//   state_dir = "/srv/proofline"       # default: see paths.h
//   run_dir = "/run/proofline"
//   [slots]
//   count = 6                          # default: 3 a device, 1 a synthesis worker, 1 for critical work
//   bytes = "512MiB"                   # of each; default: what the largest known circuit needs
//   result_bytes = "64KiB"
//   huge_pages = true
//   [workers]
//   synth = 2
//   devices = ["cpu"]                  # "cpu" or "cuda:N", one owner each
//   [results]
//   keep = "7d"                        # ended jobs and their proofs are forgotten after this
//   [log]
//   level = "info"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.h"
#include "core/base/status.h"

namespace proofline {

struct StackConfig {
  std::string state_dir, run_dir;  // empty: the defaults of paths.h
  uint32_t slot_count = 0;         // 0: chosen
  uint64_t slot_bytes = 0;         // 0: chosen
  uint64_t slot_result_bytes = 0;  // 0: chosen
  bool huge_pages = true;
  uint32_t synth_workers = 0;          // 0: chosen
  std::vector<std::string> devices;    // empty: chosen
  uint64_t keep_results_s = 7 * 24 * 3600;
  LogLevel log_level = LogLevel::kInfo;
};

// kUsage, naming file, line, found and expected, for whatever is wrong in it; kIo when it cannot be read.
Result<StackConfig> LoadConfig(const std::string& path);
// `name` stands for the file in messages.
Result<StackConfig> ParseConfig(std::string_view text, const std::string& name);

// "90s", "30m", "24h", "7d" in seconds. kUsage otherwise, 0 and overflow included.
Result<uint64_t> ParseLongDuration(std::string_view text);

}  // namespace proofline
