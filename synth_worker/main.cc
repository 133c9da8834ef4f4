// proofline-synth-worker: synthesises partitions into slots, for one stack, on one NUMA node.
//
//   proofline-synth-worker [--run-dir DIR] [--ordinal N] [--node N] [--threads N]
//
// Exit codes: 0 asked to stop; 3 the stack went away or has a new slot table (start again); 64 bad arguments (do not).

#include <systemd/sd-daemon.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/log.h"
#include "core/base/process.h"
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
  uint32_t threads = options.threads ? options.threads : topology->usable_cores();
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::max(threads, 1u));
  tbb::task_arena arena(static_cast<int>(std::max(threads, 1u)));

  wire::Context context;
  wire::WorkerConfig config;
  config.work_path = options.paths.WorkSocket();
  config.broker_path = options.paths.BrokerSocket();
  config.role = wire::ROLE_SYNTH;
  config.ordinal = options.ordinal;
  config.node = options.node.value_or(0);
  config.build = PROOFLINE_VERSION;
  PL_ASSIGN_OR_RETURN(UniqueFd self, shm::OpenSelfPidfd());
  PL_ASSIGN_OR_RETURN(auto link, wire::WorkerLink::Start(context, config, std::move(self), kAttachWaitMs, stop_fd));
  SetLogInstance(link->instance());
  wire::Attachment attachment = std::move(link->attachment());
  PL_ASSIGN_OR_RETURN(shm::SlotTable table, shm::SlotTable::Attach(std::move(attachment.table)));
  PL_ASSIGN_OR_RETURN(std::vector<shm::Mapping> slots, shm::MapSlots(attachment.slots, table.layout()));
  attachment.slots.clear();

  SynthRunner runner(table, slots, attachment.instance, options.paths.BrokerSocket(), arena, kKeyCacheBytes);
  wire::WorkerLoop loop(*link, runner, stop_fd, [] { sd_notify(0, "WATCHDOG=1"); });
  sd_notify(0, "READY=1");
  return loop.Run();
}

}  // namespace
}  // namespace proofline::synth_worker

int main(int argc, char** argv) {
  using namespace proofline;
  HardenProcess();
  InitLog("synth-worker");
  auto stop = TakeStopSignals();
  auto options = wire::ParseWorkerOptions(argc, argv, wire::ROLE_SYNTH);
  Status status = !options.ok() ? options.status() : !stop.ok() ? stop.status() : synth_worker::Serve(*options, stop->get());
  if (!status.ok()) LogStatus(LogLevel::kError, "synthesis worker ends", status);
  int code = status.ok() ? 0 : !options.ok() ? wire::kExitConfiguration : 3;
  // No destructors of mappings under threads that may still run.
  fflush(nullptr);
  _exit(code);
}
