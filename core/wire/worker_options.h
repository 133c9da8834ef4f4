// The command line of a worker process. Workers are started by a supervisor, not typed by people.
//
//   [--config FILE] [--run-dir DIR] [--ordinal N] [--node N] [--threads N] and, for owners, [--device cpu | cuda:N]
//
// Without --run-dir the sockets are where the configuration file or core/base/paths.h says. An owner without --device has the file's
// device number --ordinal; without a file, the CPU.
#pragma once

#include <optional>
#include <string>

#include "core/base/paths.h"
#include "core/base/status.h"
#include "core/wire/codec.h"
#include "core/wire/worker_link.h"

namespace proofline::wire {

// Between worker and supervisor only: the arguments are wrong, do not start it again.
inline constexpr int kExitConfiguration = 64;

struct WorkerOptions {
  StackPaths paths;  // run_dir only
  uint32_t ordinal = 0;
  std::optional<uint32_t> node;
  uint32_t threads = 0;        // 0: the cores this process may use
  std::string device = "cpu";  // owners
};

// kUsage names the argument.
Result<WorkerOptions> ParseWorkerOptions(int argc, char** argv, Role role);

// What such a worker says about itself when it attaches; `build` is its version.
WorkerConfig ConfigOf(const WorkerOptions& options, Role role, std::string build);

}  // namespace proofline::wire
