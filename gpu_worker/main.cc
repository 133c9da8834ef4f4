// proofline-gpu-worker: the one owner of one device of one stack.
//
//   proofline-gpu-worker [--config FILE] [--run-dir DIR] [--ordinal N] [--device cpu | cuda:N] [--node N] [--threads N]
//
// Exit codes: 0 asked to stop; 3 the stack went away or has a new slot table (start again); 64 bad arguments, 70 the
// device gave a wrong answer or is lost, 72 the device is not there (64 and 72: do not start again).

#include <stdio.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/log.h"
#include "core/base/process.h"
#include "core/base/service_manager.h"
#include "core/base/text.h"
#include "core/wire/worker_loop.h"
#include "core/wire/worker_options.h"
#include "gpu_worker/device_lock.h"
#include "gpu_worker/gpu_runner.h"
#include "gpu_worker/known_answer.h"
#include "shm/pidfd.h"
#include "shm/slot_memory.h"
#include "shm/topology.h"

namespace proofline::gpu_worker {
namespace {

constexpr int kExitDeviceFault = 70;
constexpr int kExitDeviceMissing = 72;
constexpr int kAttachWaitMs = 30000;
constexpr int kLockWaitMs = 5000;
// Mapped, not resident: the pages belong to the page cache.
constexpr uint64_t kKeyCacheBytes = uint64_t{1} << 40;

// A CPU is no single thing to own: its owners are told apart by their ordinals.
std::string DeviceIdentity(const wire::WorkerOptions& options) {
  return options.device == "cpu" ? StrCat("cpu-", options.ordinal) : options.device;
}

// A lost device: its slot has been given up already, and what else is under way is found by our death.
void EndWithLostDevice() {
  fflush(nullptr);
  _exit(kExitDeviceFault);
}

Status Serve(const wire::WorkerOptions& options, int stop_fd) {
  PL_ASSIGN_OR_RETURN(UniqueFd lock, LockDevice(options.paths.run_dir, DeviceIdentity(options), kLockWaitMs));
  UniqueFd machine_lock;
  if (options.device != "cpu") {
    PL_ASSIGN_OR_RETURN(machine_lock, LockCudaDevice(options.device, kLockWaitMs));
  }
  auto topology = shm::SystemTopology();
  if (options.node) PL_RETURN_IF_ERROR(shm::BindThisThread(*topology, *options.node));
  uint32_t threads = std::max(options.threads ? options.threads : topology->usable_cores(), 1u);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  tbb::task_arena arena(static_cast<int>(threads));
  std::vector<shm::Mapping> slots;  // outlives the device, which pins them
  PL_ASSIGN_OR_RETURN(std::unique_ptr<Device> device, OpenDevice(options.device));
  PL_RETURN_IF_ERROR(arena.execute([&] { return ProveKnownAnswers(*device); }));

  wire::Context context;
  PL_ASSIGN_OR_RETURN(UniqueFd self, shm::OpenSelfPidfd());
  PL_ASSIGN_OR_RETURN(auto link,
                      wire::WorkerLink::Start(context, wire::ConfigOf(options, wire::ROLE_GPU, PROOFLINE_VERSION), std::move(self), kAttachWaitMs, stop_fd));
  SetLogInstance(link->instance());
  PL_ASSIGN_OR_RETURN(shm::SlotTable table, shm::SlotTable::Attach(std::move(link->attachment().table)));
  PL_ASSIGN_OR_RETURN(slots, shm::MapSlots(link->attachment().slots, table.layout()));
  link->attachment().slots.clear();
  for (const shm::Mapping& slot : slots) PL_RETURN_IF_ERROR(device->Pin({slot.data(), slot.size_bytes()}));
  PL_RETURN_IF_ERROR(device->BecomeReady());

  GpuRunner runner(table, slots, link->instance(), *device, arena, kKeyCacheBytes, EndWithLostDevice);
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
    case ErrorCode::kDeviceFault:
      return kExitDeviceFault;
    case ErrorCode::kUnsupported:
      return kExitDeviceMissing;
    default:
      return 3;
  }
}

Status Main(int argc, char** argv) {
  PL_ASSIGN_OR_RETURN(UniqueFd stop, TakeStopSignals());
  PL_ASSIGN_OR_RETURN(wire::WorkerOptions options, wire::ParseWorkerOptions(argc, argv, wire::ROLE_GPU));
  return Serve(options, stop.get());
}

}  // namespace
}  // namespace proofline::gpu_worker

int main(int argc, char** argv) {
  using namespace proofline;
  HardenProcess();
  InitLog("gpu-worker");
  Status status = gpu_worker::Main(argc, argv);
  int code = gpu_worker::ExitCode(status);
  if (code != 0) LogStatus(LogLevel::kError, "owner ends", status);
  // No destructors of statics under threads that may still run.
  fflush(nullptr);
  _exit(code);
}
