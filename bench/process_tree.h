// Runs a program and measures the whole of it: wall time from before fork to after the last wait, and memory over all of its descendants.
// Only for benches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace proofline::bench {

struct ProcessRun {
  int exit_code = 0;            // 128 + signal when a signal ended it
  double wall_seconds = 0;
  double cpu_seconds = 0;       // user and system of all descendants that were waited for
  uint64_t peak_pss_bytes = 0;  // 0 unless sampled
  int peak_processes = 0;       // how many processes shared the peak; 0 unless sampled
  bool memory_incomplete = false;  // a process forbade reading its memory map (dumpable = 0 and we are not root)
  std::string errors;           // what it wrote to stderr, the first 4 KiB
};

// Starts argv[0] (a path) with stdin and stdout on /dev/null and waits for it.
//
// With sample_memory, the proportional set sizes (Pss of /proc/PID/smaps_rollup) of the program and of all its descendants are summed about
// every 3 ms and the largest sum is kept. A page that k processes map counts 1/k in each, so shared memory counts once. Sampling takes the
// processes' mmap locks and slows them: take times from runs without it.
//
// The calling process becomes a subreaper meanwhile, so that descendants whose parent ended still count; whatever of them is left when the
// program ends is given a second, then killed.
Result<ProcessRun> RunProgram(const std::vector<std::string>& argv, bool sample_memory);

}  // namespace proofline::bench
