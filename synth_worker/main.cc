// proofline-synth-worker: synthesises partitions into slots, for one stack, on one NUMA node.
//
//   proofline-synth-worker [--config FILE] [--run-dir DIR] [--ordinal N] [--node N] [--threads N]
//
// Exit codes: 0 asked to stop; 3 the stack went away or has a new slot table (start again); 64 bad arguments (do not).

#include <stdio.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/log.h"
#include "core/base/process.h"
#include "core/base/service_manager.h"
#include "core/wire/worker_loop.h"
#include "core/wire/worker_options.h"
#include "shm/pidfd.h"
#include "shm/slot_memory.h"
#include "shm/topology.h"
#include "synth_worker/synth_runner.h"

namespace proofline::synth_worker {
namespace {

constexpr int kAttachWaitMs = 30000;
// Mapped, not resident: the pages belong to the page cache.
constexpr uint64_t kKeyCacheBytes = uint64_t{1} << 40;

Status Serve(const wire::WorkerOptions& options, int stop_fd) {
  auto topology = shm::SystemTopology();
  if (options.node) PL_RETURN_IF_ERROR(shm::BindThisThread(*topology, *options.node));
  uint32_t threads = std::max(options.threads ? options.threads : topology->usable_cores(), 1u);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  tbb::task_arena arena(static_cast<int>(threads));

  wire::Context context;
  PL_ASSIGN_OR_RETURN(UniqueFd self, shm::OpenSelfPidfd());
  PL_ASSIGN_OR_RETURN(auto link,
                      wire::WorkerLink::Start(context, wire::ConfigOf(options, wire::ROLE_SYNTH, PROOFLINE_VERSION), std::move(self), kAttachWaitMs, stop_fd));
  SetLogInstance(link->instance());
  PL_ASSIGN_OR_RETURN(shm::SlotTable table, shm::SlotTable::Attach(std::move(link->attachment().table)));
  PL_ASSIGN_OR_RETURN(std::vector<shm::Mapping> slots, shm::MapSlots(link->attachment().slots, table.layout()));
  link->attachment().slots.clear();

  SynthRunner runner(table, slots, link->instance(), options.paths.BrokerSocket(), arena, kKeyCacheBytes);
  wire::WorkerLoop loop(*link, runner, stop_fd, [watchdog = Watchdog()]() mutable { watchdog.Tick(); });
  ServiceManager::Ready();
  return loop.Run();
}

int ExitCode(const Status& status) {
  switch (status.code()) {
    case ErrorCode::kOk:
    case ErrorCode::kCancelled:
      return 0;
    case ErrorCode::kUsage:
      return wire::kExitConfiguration;
    default:
      return 3;
  }
}

Status Main(int argc, char** argv) {
  PL_ASSIGN_OR_RETURN(UniqueFd stop, TakeStopSignals());
  PL_ASSIGN_OR_RETURN(wire::WorkerOptions options, wire::ParseWorkerOptions(argc, argv, wire::ROLE_SYNTH));
  return Serve(options, stop.get());
}

}  // namespace
}  // namespace proofline::synth_worker

int main(int argc, char** argv) {
  using namespace proofline;
  HardenProcess();
  InitLog("synth-worker");
  Status status = synth_worker::Main(argc, argv);
  int code = synth_worker::ExitCode(status);
  if (code != 0) LogStatus(LogLevel::kError, "synthesis worker ends", status);
  // No destructors of statics under threads that may still run.
  fflush(nullptr);
  _exit(code);
}
