// Whoever started us and keeps our descriptors: systemd, or the supervisor in `proofline up`, by the same protocol (sd_listen_fds,
// sd_notify). Without one, every call does nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline {

// By their names: "work", "front", "broker" are listening sockets; "table" and "slot-0", "slot-1", ... what a former life stored.
struct InheritedFds {
  UniqueFd work, front, broker, table;
  std::vector<UniqueFd> slots;  // in order; shorter if one is missing
};

class ServiceManager {
 public:
  static InheritedFds TakeFds();
  // Keeps the table and the slots over our death; returns when the manager has them. kIo if there is a manager and it does not answer.
  static Status Store(int table, const std::vector<int>& slots);
  // Forgets what was stored before.
  static void Forget(uint32_t slot_count);
  static void Ready();
  static void Stopping();
  static void Ping();
  // How often to ping; nullopt: no watchdog.
  static std::optional<uint64_t> PingIntervalNs();
};

// Pings at that interval for a loop that calls Tick more often than that. One thread.
class Watchdog {
 public:
  void Tick();
  // When the next ping is due by the monotonic clock; nullopt: never.
  std::optional<uint64_t> due_ns() const { return interval_ns_ ? std::optional(next_ns_) : std::nullopt; }

 private:
  std::optional<uint64_t> interval_ns_ = ServiceManager::PingIntervalNs();
  uint64_t next_ns_ = 0;
};

}  // namespace proofline
