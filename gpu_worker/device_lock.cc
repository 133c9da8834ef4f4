#include "gpu_worker/device_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "core/base/name_lock.h"
#include "core/base/text.h"

namespace proofline::gpu_worker {

namespace {
constexpr int kStepMs = 10;
void SleepStep() {
  timespec step{0, kStepMs * 1000000};
  nanosleep(&step, nullptr);
}
}  // namespace

Result<UniqueFd> LockDevice(const std::string& run_dir, const std::string& identity, int wait_ms) {
  std::string path = StrCat(run_dir, "/device-", identity, ".lock");
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return Status(ErrorCode::kIo, StrCat(path, ": ", strerror(errno)));
  for (int waited = 0; flock(fd.get(), LOCK_EX | LOCK_NB) != 0; waited += kStepMs) {
    if (errno != EWOULDBLOCK && errno != EINTR) return Status(ErrorCode::kIo, StrCat(path, ": ", strerror(errno)));
    if (waited >= wait_ms)
      return Status(ErrorCode::kConflict, StrCat("device ", identity, " has another owner"), StrCat("it holds ", path),
                    "One owner for each device; end the other one first.");
    SleepStep();
  }
  return fd;
}

Result<UniqueFd> LockCudaDevice(const std::string& device, int wait_ms) {
  for (int waited = 0;; waited += kStepMs) {
    auto held = HoldName(DeviceLockName(device));
    if (held.status().code() != ErrorCode::kConflict) return held;
    if (waited >= wait_ms)
      return Status(ErrorCode::kConflict, StrCat("device ", device, " has another owner on this machine"), "",
                    "One owner for each device; end the other one first, or choose another device.");
    SleepStep();
  }
}

}  // namespace proofline::gpu_worker
