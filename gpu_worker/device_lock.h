// Exactly one owner per device: a lock on a file in the stack's run directory and, for a CUDA device, a name of the machine's, since other
// stacks have other directories. The kernel drops both at the owner's death.
#pragma once

#include <string>

#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline::gpu_worker {

// `identity` names the device ("cpu-0"). Waits up to `wait_ms`, since a predecessor may be dying. kConflict if it is
// still held then. Held as long as the descriptor is open; children do not inherit it.
Result<UniqueFd> LockDevice(const std::string& run_dir, const std::string& identity, int wait_ms);

// The same over the whole machine, for a CUDA device ("cuda:0").
Result<UniqueFd> LockCudaDevice(const std::string& device, int wait_ms);

}  // namespace proofline::gpu_worker
