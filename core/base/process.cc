#include "core/base/process.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include <string>

namespace proofline {

namespace {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr rlim_t kFewestFiles = 64;
constexpr int kLargeBlockBytes = 1 << 20;
}  // namespace

void HardenProcess() {
  umask(077);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit of file sizes fails, and says so
  if (kSanitized) return;
  prctl(PR_SET_DUMPABLE, 0);
  // The defaults raise the threshold after each large block freed, and keep what was freed: a worker would hold its
  // peak for ever.
  mallopt(M_MMAP_THRESHOLD, kLargeBlockBytes);
  mallopt(M_TRIM_THRESHOLD, kLargeBlockBytes);
  mallopt(M_ARENA_MAX, 2);
}

Status RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return OkStatus();
  if (limit.rlim_max < kFewestFiles)
    return Status(ErrorCode::kResource, "at most " + std::to_string(limit.rlim_max) + " files may be open at once, at least " + std::to_string(kFewestFiles) + " are needed", {}, "raise the limit of open files (ulimit -n)");
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return OkStatus();
}

Result<UniqueFd> TakeStopSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return Status(ErrorCode::kResource, std::string("signalfd failed: ") + strerror(errno));
  return fd;
}

}  // namespace proofline
