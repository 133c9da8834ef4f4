#include "cli/stack_client.h"

#include <algorithm>
#include <thread>

#include "core/base/process.h"
#include "core/base/text.h"

namespace proofline::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kResendAfter{2000}, kUnconnectedRetry{2};
constexpr milliseconds kReconnectPause{20};
// A request that the coordinator's death may have swallowed is sent again at once, and then, since it may have gone into the dying
// connection, after this; only then at leisure.
constexpr milliseconds kHurriedRetry{150};
constexpr int kHurriedSends = 2;
constexpr int kBrokerTimeoutMs = 10000;
constexpr int kBrokerTries = 3;

int LeftMs(Clock::time_point deadline, milliseconds at_most) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp(left, milliseconds(0), at_most).count());
}

Status NoStack(const StackPaths& paths, const Status& cause) {
  return Status(ErrorCode::kUnavailable, StrCat("no stack is running at ", paths.run_dir), cause.ok() ? "" : cause.error().fact,
                "start one with `proofline up`, or name its directory with --state");
}

// A wait request is held open by the coordinator; asking again before it can have answered would only pile up waiters.
milliseconds AnswerTime(const wire::Request& request) {
  return kResendAfter + milliseconds(request.has_wait_job() ? static_cast<int64_t>(request.wait_job().timeout_ms()) : 0);
}

}  // namespace

Result<std::unique_ptr<StackClient>> StackClient::Connect(const StackPaths& paths, std::vector<WaitAbort> aborts) {
  PL_RETURN_IF_ERROR(RaiseFileLimit());
  std::unique_ptr<StackClient> client(new StackClient(paths, std::move(aborts)));
  auto broker = wire::BrokerConnection::Connect(paths.BrokerSocket(), kBrokerTimeoutMs);
  if (!broker.ok()) return broker.status().code() == ErrorCode::kUnavailable ? NoStack(paths, broker.status()) : std::move(broker).status();
  client->broker_.emplace(*std::move(broker));
  PL_ASSIGN_OR_RETURN(auto front, wire::DealerSocket::Connect(client->context_, paths.FrontSocket(), ""));
  client->front_.emplace(std::move(front));
  return client;
}

Status StackClient::AbortReason(const std::vector<wire::PollItem>& items) const {
  for (size_t i = 0; i < aborts_.size(); ++i)
    if (items[i + 1].readable || items[i + 1].error) return aborts_[i].reason();
  return OkStatus();
}

// For a connection that became readable during a Call, when it has nothing to say: the coordinator has gone. The supervisor keeps the
// listening sockets while it starts another one, so who cannot even connect knows that the stack has ended.
Status StackClient::ReconnectBroker() {
  broker_.reset();
  std::this_thread::sleep_for(kReconnectPause);
  auto again = wire::BrokerConnection::Connect(paths_.BrokerSocket(), kBrokerTimeoutMs);
  if (!again.ok() && again.status().code() == ErrorCode::kUnavailable)
    return Status(ErrorCode::kUnavailable, StrCat("the stack at ", paths_.run_dir, " has ended"), again.status().error().fact,
                  "start it again with `proofline up`; it goes on with the jobs it had");
  if (!again.ok()) return std::move(again).status();
  broker_.emplace(*std::move(again));
  return OkStatus();
}

Result<wire::Reply> StackClient::Call(wire::Request request, milliseconds limit) {
  const uint64_t id = next_request_++;
  request.set_request_id(id);
  PL_ASSIGN_OR_RETURN(const wire::Frame frame, wire::Pack(request, 0));
  std::vector<wire::PollItem> items(1 + aborts_.size());
  items[0].socket = &*front_;
  for (size_t i = 0; i < aborts_.size(); ++i) items[i + 1].fd = aborts_[i].fd;

  if (broker_) items.emplace_back().fd = broker_->fd();
  const size_t broker_item = 1 + aborts_.size();

  const auto deadline = Clock::now() + limit;
  auto send_at = Clock::now();
  int hurried = 0;
  while (Clock::now() < deadline) {
    if (Clock::now() >= send_at) {
      // Not connected yet (the coordinator is starting): soon again.
      const Status sent = front_->Send(frame);
      if (!sent.ok() && sent.code() != ErrorCode::kUnavailable) return sent;
      const bool hurry = sent.ok() && hurried > 0;
      if (hurry) --hurried;
      send_at = Clock::now() + (!sent.ok() ? kUnconnectedRetry : hurry ? kHurriedRetry : AnswerTime(request));
    }
    wire::Poll(items, LeftMs(std::min(deadline, send_at), milliseconds(60000)));
    PL_RETURN_IF_ERROR(AbortReason(items));
    while (auto answer = front_->Receive()) {
      auto reply = wire::Unpack<wire::Reply>(*answer);
      if (!reply.ok() || reply->request_id() != id) continue;  // of an earlier request that was sent twice
      PL_RETURN_IF_ERROR(wire::ToStatus(reply->error()));
      return reply;
    }
    if (items.size() > broker_item && (items[broker_item].readable || items[broker_item].error)) {
      PL_RETURN_IF_ERROR(ReconnectBroker());
      items[broker_item].fd = broker_->fd();
      send_at = Clock::now();
      hurried = kHurriedSends;
    }
  }
  return Status(ErrorCode::kTimeout, StrCat("the coordinator did not answer within ", limit.count(), " ms"), StrCat("socket ", paths_.FrontSocket()),
                "`proofline status` shows whether the stack is alive");
}

template <class M>
Result<wire::Packet> StackClient::CallBroker(const M& message, int fd) {
  Status last;
  for (int attempt = 0; attempt < kBrokerTries; ++attempt) {
    if (!broker_) {
      std::this_thread::sleep_for(milliseconds(100 * attempt));
      auto again = wire::BrokerConnection::Connect(paths_.BrokerSocket(), kBrokerTimeoutMs);
      if (!again.ok()) {
        last = std::move(again).status();
        continue;
      }
      broker_.emplace(*std::move(again));
    }
    last = broker_->SendMessage(message, 0, fd >= 0 ? std::span<const int>(&fd, 1) : std::span<const int>());
    if (last.ok()) {
      auto packet = broker_->Receive();
      if (packet.ok() && *packet) {
        PL_ASSIGN_OR_RETURN(const auto reply, wire::Unpack<wire::BrokerReply>((*packet)->frame));
        PL_RETURN_IF_ERROR(wire::ToStatus(reply.error()));
        return std::move(**packet);
      }
      last = packet.ok() ? Status(ErrorCode::kUnavailable, "the broker gave no answer") : std::move(packet).status();
    }
    broker_.reset();
  }
  return last;
}

Status StackClient::PutInput(uint64_t job, uint32_t partition, int fd) {
  wire::PutInput message;
  message.set_job(job);
  message.set_partition(partition);
  message.set_direct(true);
  auto packet = CallBroker(message, fd);
  return packet.ok() ? OkStatus() : std::move(packet).status();
}

namespace {
Result<UniqueFd> OnlyDescriptor(Result<wire::Packet> packet, const char* what) {
  if (!packet.ok()) return std::move(packet).status();
  if (packet->fds.size() != 1) return Status(ErrorCode::kInternal, StrCat("the broker answered with ", packet->fds.size(), " descriptors for ", what, ", expected 1"));
  return std::move(packet->fds[0]);
}
}  // namespace

Result<UniqueFd> StackClient::OpenSpool(uint64_t job, uint32_t partition) {
  wire::PutInput message;
  message.set_job(job);
  message.set_partition(partition);
  return OnlyDescriptor(CallBroker(message, -1), "a spool file");
}

Result<UniqueFd> StackClient::GetResult(uint64_t job, uint32_t partition) {
  wire::GetResult message;
  message.set_job(job);
  message.set_partition(partition);
  return OnlyDescriptor(CallBroker(message, -1), "a result");
}

Result<std::unique_ptr<StackClient>> ConnectToStack(const std::string& state_flag, std::vector<WaitAbort> aborts) {
  PL_ASSIGN_OR_RETURN(const StackPaths paths, ResolvePaths(state_flag));
  return StackClient::Connect(paths, std::move(aborts));
}

}  // namespace proofline::cli
