// A name that one process of this machine holds at a time: an abstract unix socket, so the kernel drops it at the holder's death and no file is
// left behind. Processes in another network namespace see other names.
#pragma once

#include <string>

#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline {

// Held as long as the descriptor is open; children do not inherit it. kConflict if another process holds it. At most 100 characters.
Result<UniqueFd> HoldName(const std::string& name);

// Whether somebody holds it at this moment; asking takes nothing.
bool IsNameHeld(const std::string& name);

// The name that the owner of a CUDA device of this machine holds, whatever stack it is of. `device` as in "cuda:0".
std::string DeviceLockName(const std::string& device);

}  // namespace proofline
