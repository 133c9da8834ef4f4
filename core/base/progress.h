// One line on a terminal that says how far long work is; silent on anything but a terminal and for short work.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace proofline {

// Writes to stderr only if that is a terminal, first after half a second, then at most ten times a second, and removes its line at
// the end. Advance may be called from any thread; whoever finds the line due writes it.
class Progress {
 public:
  // "WHAT: 40 % (410/1024 UNIT)"; `total` of 0 shows the count alone.
  Progress(std::string what, uint64_t total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Advance(uint64_t count = 1);

 private:
  std::string Line(uint64_t done) const;
  int64_t NowMs() const;

  const std::string what_, unit_;
  const uint64_t total_;
  const bool shown_;
  const std::chrono::steady_clock::time_point start_;
  std::atomic<uint64_t> done_{0};
  std::atomic<int64_t> due_ms_;
  std::atomic<bool> printed_{false};
};

}  // namespace proofline
