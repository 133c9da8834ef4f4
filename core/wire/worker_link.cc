#include "core/wire/worker_link.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace proofline::wire {

namespace {

using std::chrono::milliseconds;

constexpr int kMaxOrdersPerTurn = 64;
constexpr int kFirstHelloMs = 5;
constexpr int kMaxHelloMs = 500;
constexpr int kAttachRetryMs = 100;

int MsUntil(std::chrono::steady_clock::time_point t) {
  auto left = std::chrono::ceil<milliseconds>(t - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 10000));
}

void MakeNonBlocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

}  // namespace

Hello WorkerLink::MakeHello() const {
  Hello hello;
  hello.set_role(config_.role);
  hello.set_instance(attachment_.instance);
  hello.set_pid(getpid());
  hello.set_ordinal(config_.ordinal);
  hello.set_node(config_.node);
  hello.set_device(config_.device);
  hello.set_build(config_.build);
  hello.set_generation(attachment_.generation);
  return hello;
}

Result<std::unique_ptr<WorkerLink>> WorkerLink::Start(Context& context, WorkerConfig config, UniqueFd pidfd,
                                                      int wait_ms, int stop_fd) {
  std::unique_ptr<WorkerLink> link(new WorkerLink(std::move(config), std::move(pidfd)));
  auto end = Clock::now() + milliseconds(wait_ms);
  for (;;) {
    auto connection = BrokerConnection::Connect(link->config_.broker_path, std::max(MsUntil(end), 1));
    Status status = connection.ok() ? OkStatus() : connection.status();
    if (status.ok()) {
      auto attached = AttachToBroker(*connection, link->MakeHello(), link->pidfd_.get(), stop_fd);
      if (attached.ok()) {
        link->attachment_ = *std::move(attached);
        link->broker_ = *std::move(connection);
        break;
      }
      status = attached.status();
    }
    // Only a coordinator that is not there (yet) is worth waiting for.
    bool absent = status.code() == ErrorCode::kUnavailable || status.code() == ErrorCode::kTimeout;
    if (!absent || Clock::now() >= end) return status;
    std::this_thread::sleep_for(milliseconds(5));
  }
  MakeNonBlocking(link->broker_->fd());
  PL_ASSIGN_OR_RETURN(link->socket_, DealerSocket::Connect(
                                         context, link->config_.work_path,
                                         WorkerRoutingId(link->config_.role, link->config_.ordinal, link->instance())));
  return link;
}

int WorkerLink::WaitMs() const {
  int wait = MsUntil(next_heartbeat_);
  if (!welcomed_) wait = std::min(wait, MsUntil(next_hello_));
  if (!broker_) wait = std::min(wait, MsUntil(next_attach_));
  return wait;
}

void WorkerLink::SendDue(const WorkerReport& report) {
  auto now = Clock::now();
  if (!welcomed_ && now >= next_hello_) {
    hello_ms_ = hello_ms_ == 0 ? kFirstHelloMs : std::min(2 * hello_ms_, kMaxHelloMs);
    next_hello_ = now + milliseconds(hello_ms_);
    (void)socket_->SendMessage(MakeHello(), term());
  }
  if (now >= next_heartbeat_) {
    next_heartbeat_ = now + milliseconds(heartbeat_ms_);
    Heartbeat beat;
    beat.set_instance(instance());
    beat.set_progress(report.progress);
    for (const HeldSlot& held : report.held) *beat.add_held() = held;
    (void)socket_->SendMessage(beat, term());
  }
  if (!broker_ && now >= next_attach_) Reattach();
}

void WorkerLink::Reattach() {
  next_attach_ = Clock::now() + milliseconds(kAttachRetryMs);
  auto connection = BrokerConnection::Connect(config_.broker_path, kAttachRetryMs);
  if (!connection.ok()) return;
  MakeNonBlocking(connection->fd());
  Attach attach;
  *attach.mutable_hello() = MakeHello();
  int fd = pidfd_.get();
  if (!connection->SendMessage(attach, term(), std::span(&fd, 1)).ok()) return;
  broker_ = *std::move(connection);
  attached_ = false;
}

Status WorkerLink::OnReattached(const AttachReply& reply) {
  if (Status refused = ToStatus(reply.error()); !refused.ok()) return refused;
  if (reply.generation() != attachment_.generation || reply.instance() != attachment_.instance)
    return Status(ErrorCode::kUnavailable, "the stack has a new slot table", "",
                  "This worker ends; its successor gets the new one.");
  attached_ = true;
  if (reply.term() > term()) {
    attachment_.term = reply.term();
    welcomed_ = false;
    hello_ms_ = 0;
    next_hello_ = {};
  }
  return OkStatus();
}

// The connection is silent between attachments; its end tells that the coordinator has gone.
Status WorkerLink::ReadBroker() {
  for (int i = 0; i < kMaxOrdersPerTurn && broker_; ++i) {
    auto packet = broker_->Receive();
    if (!packet.ok()) {
      broker_.reset();
      next_attach_ = Clock::now() + milliseconds(kAttachRetryMs);
      return OkStatus();
    }
    if (!*packet) return OkStatus();
    // Later packets of one answer only carry more of the descriptors that this worker has already.
    if (attached_) continue;
    auto reply = Unpack<AttachReply>((*packet)->frame);
    if (reply.ok()) PL_RETURN_IF_ERROR(OnReattached(*reply));
  }
  return OkStatus();
}

// True for an order of the newest term.
Result<bool> WorkerLink::Accept(const Frame& frame) {
  if (frame.term < term()) return false;
  if (frame.term > term()) {
    attachment_.term = frame.term;
    welcomed_ = false;
    hello_ms_ = 0;
    next_hello_ = {};
  }
  if (frame.type != MessageType::kWelcome) {
    return frame.type == MessageType::kSynthGrant || frame.type == MessageType::kGpuLease ||
           frame.type == MessageType::kWipeOrder || frame.type == MessageType::kCancelSlot ||
           frame.type == MessageType::kDrain;
  }
  auto welcome = Unpack<Welcome>(frame);
  if (!welcome.ok()) return false;
  if (welcome->generation() != attachment_.generation)
    return Status(ErrorCode::kUnavailable, "the stack has a new slot table", "",
                  "This worker ends; its successor gets the new one.");
  welcomed_ = true;
  if (welcome->heartbeat_ms() > 0) heartbeat_ms_ = static_cast<int>(std::min<uint32_t>(welcome->heartbeat_ms(), 10000));
  HeartbeatNow();
  return false;
}

Result<std::vector<Frame>> WorkerLink::Turn(std::span<const int> wake_fds, const WorkerReport& report) {
  SendDue(report);
  std::vector<PollItem> items;
  items.push_back({.socket = &*socket_});
  if (broker_) items.push_back({.fd = broker_->fd()});
  for (int fd : wake_fds) items.push_back({.fd = fd});
  Poll(items, WaitMs());
  PL_RETURN_IF_ERROR(ReadBroker());
  std::vector<Frame> orders;
  for (int i = 0; i < kMaxOrdersPerTurn; ++i) {
    std::optional<Frame> frame = socket_->Receive();
    if (!frame) break;
    PL_ASSIGN_OR_RETURN(bool is_order, Accept(*frame));
    if (is_order) orders.push_back(*std::move(frame));
  }
  return orders;
}

void WorkerLink::Notify(Frame frame) {
  frame.term = term();
  (void)socket_->Send(frame);
}

Result<UniqueFd> FetchInput(const std::string& broker_path, const GetInput& request, int wait_ms) {
  auto end = std::chrono::steady_clock::now() + milliseconds(wait_ms);
  for (;;) {
    auto once = [&]() -> Result<UniqueFd> {
      PL_ASSIGN_OR_RETURN(BrokerConnection connection,
                          BrokerConnection::Connect(broker_path, std::max(MsUntil(end), 1)));
      PL_RETURN_IF_ERROR(connection.SendMessage(request, 0));
      PL_ASSIGN_OR_RETURN(std::optional<Packet> packet, connection.Receive());
      if (!packet) return Status(ErrorCode::kTimeout, "no answer to GetInput");
      PL_ASSIGN_OR_RETURN(BrokerReply reply, Unpack<BrokerReply>(packet->frame));
      PL_RETURN_IF_ERROR(ToStatus(reply.error()));
      if (packet->fds.size() != 1)
        return Status(ErrorCode::kInternal,
                      "answer to GetInput with " + std::to_string(packet->fds.size()) + " descriptors, expected 1");
      return std::move(packet->fds[0]);
    }();
    bool absent = once.status().code() == ErrorCode::kUnavailable || once.status().code() == ErrorCode::kTimeout;
    if (!absent || std::chrono::steady_clock::now() >= end) return once;
    std::this_thread::sleep_for(milliseconds(20));
  }
}

}  // namespace proofline::wire
