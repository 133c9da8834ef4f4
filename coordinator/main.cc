// proofline-coordinator: jobs, journal, slots, scheduling. See README.md.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>
#include <vector>

#include "coordinator/coordinator.h"
#include "core/base/log.h"
#include "core/wire/socket.h"

namespace {

using namespace proofline;
using namespace proofline::coordinator;

constexpr int kExitConfiguration = 64;  // a restart cannot help: the supervisor does not try

int ReportFailure(const Status& status) {
  const Error& e = status.error();
  std::fprintf(stderr, "proofline-coordinator: %s\n", e.fact.c_str());
  if (!e.detail.empty()) std::fprintf(stderr, "  %s\n", e.detail.c_str());
  if (!e.remedy.empty()) std::fprintf(stderr, "  %s\n", e.remedy.c_str());
  return IsRetryable(e.code) || e.code == ErrorCode::kInternal ? ExitCodeFor(e.code) : kExitConfiguration;
}

void SetProcessLimits() {
  umask(0077);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  // The journal's secret is in our memory; slots are not in a dump anyway.
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  // Before the first thread, so that all of them leave these to the event loop.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  auto options = ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.ok()) return ReportFailure(options.status());
  if (options->help) return std::fputs(kUsage, stdout), 0;
  if (options->version) return std::puts("proofline-coordinator " PROOFLINE_VERSION), 0;
  SetProcessLimits();
  InitLog("coordinator", options->config.log_level);
  wire::Context context;
  auto coordinator = Coordinator::Start(context, *std::move(options));
  if (!coordinator.ok()) return ReportFailure(coordinator.status());
  if (const Status status = (*coordinator)->Run(); !status.ok()) {
    LogStatus(LogLevel::kError, "the coordinator cannot go on", status);
    return ReportFailure(status);
  }
  return 0;
}
