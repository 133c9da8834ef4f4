// The event loop. One thread; it never waits for a worker or a client, only for its journal.
#pragma once

#include <memory>

#include "coordinator/broker.h"
#include "coordinator/core.h"
#include "coordinator/front_door.h"
#include "coordinator/work_door.h"
#include "core/base/service_manager.h"

namespace proofline::coordinator {

class Coordinator {
 public:
  // SIGTERM and SIGINT must be blocked in all threads already. `context` outlives the coordinator.
  static Result<std::unique_ptr<Coordinator>> Start(wire::Context& context, Options options);
  // Serves until a signal to end. Nothing is lost by ending: journal and slots outlive us.
  Status Run();

 private:
  Coordinator(UniqueFd lock, UniqueFd signals, std::unique_ptr<Core> core, wire::RouterSocket work, wire::RouterSocket front, wire::BrokerListener broker);
  void Begin();
  Status Round();
  void Poll();
  int TimeoutMs() const;
  void Timers();
  // Journal first, then effects. Waits as long as the journal cannot be written for a reason that may pass.
  Status CommitRound();
  Status ApplyOrWait(const std::vector<JournalOp>& ops);
  void Carry(const Action& action);
  void ReadSignals();

  UniqueFd lock_;
  UniqueFd signals_;
  std::unique_ptr<Core> core_;
  WorkDoor work_;
  FrontDoor front_;
  Broker broker_;
  uint64_t next_scan_ns_ = 0, next_prune_ns_ = 0;
  Watchdog watchdog_;
};

}  // namespace proofline::coordinator
