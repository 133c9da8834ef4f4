// Which calls of the CUDA runtime this process makes, and which it may not make while it works.
//
// Every runtime call of ours is written inside PL_CUDA_RETURN_IF_ERROR (check.h), which counts it here by name and phase. Between ready
// and shutdown an owner makes no call that stalls the whole device or that changes what memory it holds: BannedWhenReady is the one list of
// them, for this ledger and for the test that watches the process from outside.
//
// No CUDA header is needed here. All methods may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace proofline::cuda {

// An owner's life: everything is made in kStart, work is done in kReady, everything is given back in kShutdown.
enum class Phase : uint8_t { kStart = 0, kReady = 1, kShutdown = 2 };

// Names of runtime and driver calls; a name that ends with '*' stands for all that begin so.
std::span<const std::string_view> BannedWhenReady();
// Is this call on the list? Version suffixes ("_v2", "_ptsz", "_v11060") do not matter.
bool IsBannedWhenReady(std::string_view name);

class CallLedger {
 public:
  // The process's own: one process owns one device.
  static CallLedger& Process();

  void Enter(Phase phase);
  Phase phase() const;

  // Counts the call that `expression` makes; its name is what stands before the first '('. A banned call in kReady is counted as refused
  // and gives kInternal, and the caller does not make it; a debug build aborts.
  Status Count(const char* expression, const char* file, int line);

  uint64_t Calls(Phase phase) const;
  uint64_t Calls(Phase phase, std::string_view name) const;
  // Banned calls that were asked for between ready and shutdown.
  uint64_t Refused() const;
  std::map<std::string, uint64_t, std::less<>> CallsByName(Phase phase) const;
  void Reset();  // for tests

 private:
  using Counts = std::map<std::string, uint64_t, std::less<>>;

  mutable std::mutex mutex_;  // guards the rest
  Phase phase_ = Phase::kStart;
  std::array<Counts, 3> counts_;
  uint64_t refused_ = 0;
};

}  // namespace proofline::cuda
