// One coordinator a state directory: an flock that the kernel drops with the process.
#pragma once

#include <string>

#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline::coordinator {

// The lock lives as long as the descriptor. kConflict, naming the process that has it; kIo.
Result<UniqueFd> LockStateDirectory(const std::string& lock_file);
// The directory and those above it, 0700 where made here. kIo.
Status MakeDirectories(const std::string& path);

}  // namespace proofline::coordinator
