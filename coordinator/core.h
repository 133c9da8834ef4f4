// What the three doors (workers, clients, broker) and the event loop share, and the rule of a round.
//
// A round of the event loop handles what has arrived, lets the scheduler decide, writes all journal operations of the round in one
// transaction, and only then runs the effects: messages out, words of slots moved. So nobody ever sees what the journal does
// not have. Handlers therefore never send by themselves: they add to `outbox`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/circuit_registry.h"
#include "coordinator/job_store.h"
#include "coordinator/options.h"
#include "coordinator/scheduler.h"
#include "coordinator/slot_manager.h"
#include "coordinator/spool.h"
#include "coordinator/submissions.h"
#include "coordinator/worker_registry.h"

namespace proofline::coordinator {

struct Outbox {
  std::vector<JournalOp> ops;
  std::vector<std::function<void()>> effects;  // run once, in order, after the ops are durable
};

struct Core {
  Core(Options o, std::unique_ptr<JobStore> s, SlotManager m) : options(std::move(o)), store(std::move(s)), slots(std::move(m)) {}

  Options options;
  std::unique_ptr<JobStore> store;
  SlotManager slots;
  std::unique_ptr<Spool> spool;  // null in a private stack
  Scheduler scheduler;
  CircuitRegistry circuits;
  WorkerRegistry workers;
  Submissions submissions;
  std::map<uint64_t, std::vector<UniqueFd>> direct_inputs;  // of live jobs of a private stack
  Outbox outbox;
  std::set<std::string> names_of_round;  // of jobs accepted in this round: the journal does not know them yet

  // The times of this round.
  uint64_t now_ns = 0;
  int64_t now_unix_ms = 0;

  uint64_t next_job = 0, reserved_jobs = 0;
  int64_t started_unix_ms = 0;
  uint64_t proofs_refused = 0, workers_lost = 0;
  bool stopping = false;

  uint64_t term() const { return store->term(); }
  // Numbers are never given out twice, not even after a crash; reserves the next ones when it must.
  uint64_t TakeJobNumber() {
    if (next_job + 1 >= reserved_jobs) {
      reserved_jobs = next_job + kJobNumberBlock;
      outbox.ops.emplace_back(ReserveJobNumbers{reserved_jobs});
    }
    return next_job++;
  }
  static constexpr uint64_t kJobNumberBlock = 256;
};

}  // namespace proofline::coordinator
