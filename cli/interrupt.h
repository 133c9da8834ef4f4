// SIGINT, SIGTERM and SIGHUP as something to wait for, so that a command can put things in order before it ends.
#pragma once

#include "core/base/status.h"

namespace proofline::cli {

// While one exists, the three signals set a descriptor instead of ending the process. At most one at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();  // back to the default
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  int fd() const;           // readable from the first signal on
  static int signal();      // the first that came since the start of the process; 0 = none
  static void Forget();     // the command took it as an ordinary wish to end
};

// What an interrupted command returns; main.cc then ends by the same signal, as shells expect.
Status Interrupted();

}  // namespace proofline::cli
