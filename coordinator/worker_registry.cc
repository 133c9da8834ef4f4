#include "coordinator/worker_registry.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/base/text.h"
#include "shm/pidfd.h"

namespace proofline::coordinator {

std::optional<uint64_t> ProcessStartTicks(int32_t pid) {
  std::ifstream file(StrCat("/proc/", pid, "/stat"));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name may hold spaces and parentheses: count from the last one. Field 3 follows it.
  size_t at = line.rfind(')');
  if (at == std::string::npos) return std::nullopt;
  for (int field = 2; field < 22; ++field) {
    at = line.find(' ', at + 1);
    if (at == std::string::npos) return std::nullopt;
  }
  return std::strtoull(line.c_str() + at + 1, nullptr, 10);
}

namespace {

// The process that a pidfd names; -1 if it is gone or the descriptor is no pidfd.
int32_t PidOf(int pidfd) {
  std::ifstream info(StrCat("/proc/self/fdinfo/", pidfd));
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("Pid:", 0) == 0) return static_cast<int32_t>(std::strtol(line.c_str() + 4, nullptr, 10));
  }
  return -1;
}

Status BadHello(const std::string& fact) {
  return Status(ErrorCode::kInvalidArgument, StrCat("a worker cannot be attached: ", fact));
}

}  // namespace

Result<Worker*> WorkerRegistry::Attach(uint32_t instance, const wire::Hello& hello, int32_t socket_pid, UniqueFd pidfd, uint64_t now_ns) {
  if (hello.role() != wire::ROLE_SYNTH && hello.role() != wire::ROLE_GPU) return BadHello(StrCat("role ", static_cast<int>(hello.role()), " is none of a worker"));
  PL_RETURN_IF_ERROR(shm::CheckPidfd(pidfd.get()));
  // The coordinator kills through this descriptor: it must be the sender's own.
  const int32_t named = PidOf(pidfd.get());
  if (named != socket_pid || named != hello.pid()) {
    return BadHello(StrCat("its pidfd names process ", named, ", its socket ", socket_pid, ", its message ", hello.pid()));
  }
  const auto ticks = ProcessStartTicks(named);
  if (!ticks) return BadHello("its process has ended");
  if (const Worker* old = Find(instance); old && (old->pid != named || old->start_ticks != *ticks)) {
    return BadHello(StrCat("instance ", instance, " belongs to process ", old->pid));
  }
  Worker& worker = workers_[instance];
  worker = Worker{};
  worker.instance = instance;
  worker.role = hello.role() == wire::ROLE_GPU ? WorkerRole::kGpu : WorkerRole::kSynth;
  worker.pid = named;
  worker.start_ticks = *ticks;
  worker.pidfd = std::move(pidfd);
  worker.ordinal = hello.ordinal();
  worker.node = hello.node();
  worker.device = hello.device().substr(0, 64);
  worker.heard_ns = worker.progress_ns = now_ns;
  return &worker;
}

bool WorkerRegistry::Restore(const WorkerRecord& record, uint64_t now_ns) {
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, record.pid, 0)));
  if (!pidfd) return false;
  // Opened before the check: if the start time fits now, the descriptor names that process and no later one of the same number.
  const auto ticks = ProcessStartTicks(record.pid);
  if (!ticks || *ticks != record.start_ticks || shm::HasExited(pidfd.get())) return false;
  Worker& worker = workers_[record.instance];
  worker.instance = record.instance;
  worker.pid = record.pid;
  worker.start_ticks = record.start_ticks;
  worker.pidfd = std::move(pidfd);
  worker.restored = true;
  worker.heard_ns = worker.progress_ns = now_ns;
  return true;
}

Worker* WorkerRegistry::Find(uint32_t instance) {
  const auto at = workers_.find(instance);
  return at == workers_.end() ? nullptr : &at->second;
}

Worker* WorkerRegistry::FindByPeer(std::string_view peer) {
  for (auto& [instance, worker] : workers_) {
    if (!worker.peer.empty() && worker.peer == peer) return &worker;
  }
  return nullptr;
}

std::vector<uint32_t> WorkerRegistry::Overdue(uint64_t now_ns, uint64_t silence_ns, uint64_t stuck_ns, const std::map<uint32_t, WorkerInfo>& load) const {
  std::vector<uint32_t> overdue;
  for (const auto& [instance, worker] : workers_) {
    if (!worker.suspicion.empty()) continue;
    // An owner may spend long between attaching and its Hello (it pins memory); its supervisor has a limit for that.
    const bool silent = worker.peer.empty() ? worker.restored && now_ns > worker.heard_ns + 3 * silence_ns : now_ns > worker.heard_ns + silence_ns;
    const auto info = load.find(instance);
    const bool stuck = info != load.end() && info->second.held > 0 && now_ns > worker.progress_ns + stuck_ns;
    if (silent || stuck) overdue.push_back(instance);
  }
  return overdue;
}

}  // namespace proofline::coordinator
