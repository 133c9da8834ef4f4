#include "coordinator/state_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/text.h"

namespace proofline::coordinator {

Result<UniqueFd> LockStateDirectory(const std::string& lock_file) {
  UniqueFd fd(open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return Status(ErrorCode::kIo, StrCat("the lock file ", lock_file, " cannot be made"), std::strerror(errno), "check the state directory, its owner and its file system");
  char holder[32] = {};
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Status(ErrorCode::kIo, StrCat("the lock file ", lock_file, " cannot be locked"), std::strerror(errno), "use a local file system");
    const ssize_t n = pread(fd.get(), holder, sizeof(holder) - 1, 0);
    const std::string pid(holder, n > 0 ? std::string_view(holder, static_cast<size_t>(n)).find_first_not_of("0123456789") : 0);
    return Status(ErrorCode::kConflict, StrCat("another coordinator uses this state directory: process ", pid.empty() ? "unknown" : pid), StrCat("it holds ", lock_file),
                  "stop that stack, or use another directory with --state");
  }
  const std::string pid = StrCat(getpid(), "\n");
  if (ftruncate(fd.get(), 0) != 0 || pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return Status(ErrorCode::kIo, StrCat("the lock file ", lock_file, " cannot be written"), std::strerror(errno), "check the file system of the state directory");
  }
  return fd;
}

Status MakeDirectories(const std::string& path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at + 1);
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return Status(ErrorCode::kIo, StrCat("the directory ", part, " cannot be made"), std::strerror(errno), "choose another with --state, or make it first");
    }
  }
  return OkStatus();
}

}  // namespace proofline::coordinator
