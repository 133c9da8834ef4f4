// The worker processes: who they are, whether they are heard, and their pidfds, through which alone they are killed and known to be dead.
//
//   attached (broker)  ->  up (Hello on the work socket)  ->  draining (Drain)
//        \__________________\___________________________\->  suspected (silent, or no progress: SIGKILL sent)  ->  gone (pidfd)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/job_store.h"
#include "coordinator/scheduler.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/wire/proofline.pb.h"

namespace proofline::coordinator {

struct Worker {
  uint32_t instance = 0;
  WorkerRole role = WorkerRole::kSynth;
  int32_t pid = 0;
  uint64_t start_ticks = 0;
  UniqueFd pidfd;
  uint32_t ordinal = 0, node = 0;
  std::string device;
  std::string peer;  // routing id on the work socket; empty: not up
  uint64_t heard_ns = 0;
  uint64_t progress = 0, progress_ns = 0;
  bool draining = false;
  bool restored = false;  // known from the journal, has not attached again yet
  std::string suspicion;  // why it is being killed; empty: it is not
};

class WorkerRegistry {
 public:
  // A new process with its own pidfd, which must be one and name the process that the socket and the message name.
  // `instance` was never used before, or belongs to this very process (it outlived the coordinator).
  Result<Worker*> Attach(uint32_t instance, const wire::Hello& hello, int32_t socket_pid, UniqueFd pidfd, uint64_t now_ns);
  // A worker that the journal knows. False if that process is gone; then it is not added.
  bool Restore(const WorkerRecord& record, uint64_t now_ns);

  Worker* Find(uint32_t instance);
  Worker* FindByPeer(std::string_view peer);
  void Remove(uint32_t instance) { workers_.erase(instance); }
  std::map<uint32_t, Worker>& all() { return workers_; }
  const std::map<uint32_t, Worker>& all() const { return workers_; }

  // The silent and the stuck; `holds` tells whether a worker has work.
  std::vector<uint32_t> Overdue(uint64_t now_ns, uint64_t silence_ns, uint64_t stuck_ns, const std::map<uint32_t, WorkerInfo>& load) const;

 private:
  std::map<uint32_t, Worker> workers_;
};

// Field 22 of /proc/PID/stat; nullopt if there is no such process.
std::optional<uint64_t> ProcessStartTicks(int32_t pid);

}  // namespace proofline::coordinator
