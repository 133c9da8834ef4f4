// The shape that both kinds of worker share: a control thread (the caller) that talks and beats, and one job thread
// that runs orders one after the other. What an order means is the OrderRunner's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/wire/worker_link.h"

namespace proofline::wire {

using CancelFlag = std::atomic<bool>;

// One order for a slot in one epoch.
struct SlotEpoch {
  uint32_t slot = 0, epoch = 0;
  auto operator<=>(const SlotEpoch&) const = default;
};

// What the slot table says about a slot whose word names this worker.
struct OwnedSlot {
  SlotEpoch key;
  uint64_t word = 0;
};

class OrderRunner {
 public:
  virtual ~OrderRunner() = default;
  // Which slot an order is for; nullopt: not an order of this worker's role, or not well-formed. Control thread.
  virtual std::optional<SlotEpoch> KeyOf(const Frame& order) = 0;
  // Every slot whose word names this worker as its owner. Control thread.
  virtual std::vector<OwnedSlot> Owned() = 0;
  // The order for such a slot where it can be told from the table alone (a wipe); nullopt: it must be asked for.
  // Control thread.
  virtual std::optional<Frame> OrderFor(const OwnedSlot& slot) = 0;
  // Runs an order to its end, looking at the slot's word first and at `cancel` between stages. The message to send
  // afterwards, if any (its term is filled in). Job thread.
  virtual std::optional<Frame> Run(const Frame& order, const CancelFlag& cancel) = 0;
  // Once, before the first Run: `peek` is the order that will run next, if there is one already and nobody has cancelled it. Job thread, in Run.
  using Peek = std::function<std::optional<Frame>()>;
  virtual void SetPeek(Peek) {}
};

class WorkerLoop {
 public:
  // `stop_fd` becomes readable when the process shall end. `on_turn` runs on the control thread at least once per
  // heartbeat.
  WorkerLoop(WorkerLink& link, OrderRunner& runner, int stop_fd, std::function<void()> on_turn);
  ~WorkerLoop();
  // Until stop_fd is readable (cancels what runs) or the worker has been drained: OK. A failure: the worker must end
  // because the stack has no use for it any more.
  Status Run();

 private:
  struct Job {
    Frame order;
    CancelFlag cancel{false};
  };

  void Enqueue(Frame order);
  void OnOrder(Frame order);
  void Cancel(const Frame& order);
  WorkerReport Report();
  void SendFinished();
  void JobThread();
  std::optional<Frame> PeekNext();
  void StopJobs();
  bool Idle();

  WorkerLink& link_;
  OrderRunner& runner_;
  int stop_fd_;
  std::function<void()> on_turn_;
  UniqueFd wake_;
  bool draining_ = false;
  bool asked_ = false;

  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::map<SlotEpoch, std::shared_ptr<Job>> known_;  // queued or running
  std::deque<SlotEpoch> queue_;
  std::vector<Frame> finished_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace proofline::wire
