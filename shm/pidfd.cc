#include "shm/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace proofline::shm {

Result<UniqueFd> OpenSelfPidfd() {
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!fd.valid())
    return Status(ErrorCode::kResource, std::string("pidfd_open failed: ") + strerror(errno), "",
                  "Linux 5.3 or later is needed.");
  return fd;
}

Status CheckPidfd(int fd) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(fd));
  std::string line;
  while (std::getline(info, line))
    if (line.rfind("Pid:", 0) == 0) return OkStatus();
  return Status(ErrorCode::kInvalidArgument, "a descriptor that should name a process does not");
}

Status KillByPidfd(int pidfd) {
  if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0) == 0 || errno == ESRCH) return OkStatus();
  return Status(ErrorCode::kIo, std::string("killing a worker failed: ") + strerror(errno));
}

bool HasExited(int pidfd) {
  pollfd item{pidfd, POLLIN, 0};
  return poll(&item, 1, 0) > 0 && (item.revents & POLLIN);
}

}  // namespace proofline::shm
