// A worker's side of the protocol without its work: attaching, greeting, heartbeats, coordinators that come and go.
//
// One thread (the worker's control thread) uses a link. Nothing here blocks longer than the wait of Turn, except Start.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/wire/broker.h"
#include "core/wire/socket.h"

namespace proofline::wire {

struct WorkerConfig {
  std::string work_path, broker_path;
  Role role = ROLE_SYNTH;
  uint32_t ordinal = 0;
  uint32_t node = 0;
  std::string device;  // owners only
  std::string build;
};

// What a worker says about itself in each heartbeat.
struct WorkerReport {
  uint64_t progress = 0;  // grows while it works
  std::vector<HeldSlot> held;
};

class WorkerLink {
 public:
  // Attaches over the broker socket, with `pidfd` naming this process, and connects the work socket. Waits up to
  // `wait_ms` for a coordinator to answer; kCancelled as soon as `stop_fd` is readable. The coordinator's refusal is
  // passed on.
  static Result<std::unique_ptr<WorkerLink>> Start(Context& context, WorkerConfig config, UniqueFd pidfd, int wait_ms,
                                                   int stop_fd);

  // The descriptors of table and slots are the caller's to take.
  Attachment& attachment() { return attachment_; }
  uint32_t instance() const { return attachment_.instance; }
  uint64_t term() const { return attachment_.term; }

  // Waits until something arrives, one of `wake_fds` is readable or the next heartbeat is due; sends what is due; gives
  // the orders (SynthGrant, GpuLease, WipeOrder, CancelSlot, Drain) that came with the newest term. A failure means
  // that the worker must end: the coordinator has another slot table, or wants nothing of it.
  Result<std::vector<Frame>> Turn(std::span<const int> wake_fds, const WorkerReport& report);

  // A doorbell: may be lost.
  void Notify(Frame frame);
  // The next Turn sends a heartbeat at once.
  void HeartbeatNow() { next_heartbeat_ = {}; }

 private:
  using Clock = std::chrono::steady_clock;
  WorkerLink(WorkerConfig config, UniqueFd pidfd) : config_(std::move(config)), pidfd_(std::move(pidfd)) {}

  Hello MakeHello() const;
  void SendDue(const WorkerReport& report);
  int WaitMs() const;
  Status ReadBroker();
  Status OnReattached(const AttachReply& reply);
  void Reattach();
  Result<bool> Accept(const Frame& frame);

  WorkerConfig config_;
  UniqueFd pidfd_;
  Attachment attachment_;
  std::optional<BrokerConnection> broker_;
  std::optional<DealerSocket> socket_;
  bool attached_ = true;  // to the coordinator of the newest term, as far as is known
  bool welcomed_ = false;
  int heartbeat_ms_ = 1000;
  int hello_ms_ = 0;
  Clock::time_point next_hello_{}, next_heartbeat_{}, next_attach_{};
};

// What a synthesis worker does for its input: a connection of its own (so that any thread may call it), GetInput, the
// descriptor beside the answer. Tries again while the coordinator is away, up to `wait_ms`.
Result<UniqueFd> FetchInput(const std::string& broker_path, const GetInput& request, int wait_ms);

}  // namespace proofline::wire
