// Processes by descriptor: the only safe name of a process that may be dead already. A pidfd becomes readable when its
// process has ended; only then may a slot that it owned be used again.
#pragma once

#include "core/base/unique_fd.h"
#include "core/base/status.h"

namespace proofline::shm {

Result<UniqueFd> OpenSelfPidfd();
// kInvalidArgument if `fd` is not a pidfd (a peer may have sent anything). Never signals.
Status CheckPidfd(int fd);
// Sends SIGKILL; a process that has ended already is success. Death is confirmed by the pidfd alone.
Status KillByPidfd(int pidfd);
bool HasExited(int pidfd);

}  // namespace proofline::shm
