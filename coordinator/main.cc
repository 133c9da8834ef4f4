// proofline-coordinator: jobs, journal, slots, scheduling. See README.md.
#include <signal.h>

#include <cstdio>
#include <string>
#include <vector>

#include "coordinator/coordinator.h"
#include "core/base/log.h"
#include "core/base/process.h"
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

Status SetProcessLimits() {
  HardenProcess();  // the journal's secret is in our memory
  signal(SIGHUP, SIG_IGN);
  // Before the first thread, so that all of them leave these to the event loop.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return RaiseFileLimit();
}

}  // namespace

int main(int argc, char** argv) {
  auto options = ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.ok()) return ReportFailure(options.status());
  if (options->help) return std::fputs(kUsage, stdout), 0;
  if (options->version) return std::puts("proofline-coordinator " PROOFLINE_VERSION), 0;
  if (const Status status = SetProcessLimits(); !status.ok()) return ReportFailure(status);
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
