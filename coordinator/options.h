// What the coordinator is told at its start: command line over configuration file over defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/config.h"
#include "core/base/paths.h"
#include "core/base/status.h"

namespace proofline::coordinator {

// A key's shape, as far as it decides what a slot must hold.
struct CircuitShape {
  uint32_t n_vars = 0, n_public = 0, log2_domain = 0;
};

struct Options {
  StackPaths paths;
  StackConfig config;
  uint32_t synth_workers = 1, owners = 1;  // expected; they decide the number of slots
  // A private stack: journal in memory, inputs by the client's own descriptors, one or two slots for this one key.
  std::optional<CircuitShape> private_shape;
  bool is_private() const { return private_shape.has_value(); }
  uint32_t heartbeat_ms = 1000;
  uint32_t suspect_ms = 10000;  // a worker that is silent for so long is killed
  bool help = false, version = false;
};

inline constexpr const char* kUsage =
    "usage: proofline-coordinator [--state DIR] [--config FILE] [--synth N] [--owners N] [--slot-count N] [--slot-bytes SIZE]\n"
    "         [--result-bytes SIZE] [--private N_VARS,N_PUBLIC,LOG2_DOMAIN] [--heartbeat-ms N] [--suspect-ms N] [--log-level LEVEL]\n"
    "       proofline-coordinator --version\n"
    "Started by `proofline up`, `proofline prove` or a service manager; reads STATE_DIRECTORY, RUNTIME_DIRECTORY, LISTEN_FDS,\n"
    "NOTIFY_SOCKET and WATCHDOG_USEC as systemd gives them.\n";

// kUsage for whatever is wrong; reads the configuration file and the environment.
Result<Options> ParseOptions(const std::vector<std::string>& args);

}  // namespace proofline::coordinator
