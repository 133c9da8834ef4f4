// The processes of a stack, under a Supervisor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/supervisor.h"
#include "core/base/log.h"
#include "core/base/paths.h"
#include "core/base/status.h"
#include "core/groth16/types.h"

namespace proofline::cli {

struct StackOptions {
  StackPaths paths;  // both directories exist
  uint32_t synth_count = 1;
  std::vector<std::string> devices;  // as ResolveDevice gives them; one GPU owner each
  std::string config;                // TOML file, absolute; empty = none
  LogLevel log_level = LogLevel::kInfo;  // of `config`; PROOFLINE_LOG in our environment goes before
  // A private stack keeps its journal in memory, takes direct inputs only, and has one slot sized for this key.
  bool is_private = false;
  ProvingKeyView shape;
  SupervisorOptions::Output output = SupervisorOptions::Output::kInherit;
  UniqueFd output_file;
  std::function<void(const std::string&)> notice;
};

// Binds the sockets and starts coordinator, synthesis workers and GPU owners, which lie beside our own program. They need not be
// ready yet: what connects meanwhile waits in the sockets.
Result<std::unique_ptr<Supervisor>> StartStack(StackOptions options);

// "" (the best there is), "cpu" or "cuda:N" to what a GPU owner is told. kUsage for another text, kUnavailable or kUnsupported for
// a device that this machine or this build does not have.
Result<std::string> ResolveDevice(const std::string& wanted);

}  // namespace proofline::cli
