#include "core/wire/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <zmq.hpp>

namespace proofline::wire {

struct Context::Impl {
  zmq::context_t context{1};
};

struct PollableSocket::Impl {
  zmq::socket_t socket;
  UniqueFd listening;
  uint64_t malformed = 0;
};

Context::Context() : impl_(std::make_unique<Impl>()) {}
Context::~Context() = default;

PollableSocket::PollableSocket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PollableSocket::~PollableSocket() = default;
PollableSocket::PollableSocket(PollableSocket&&) noexcept = default;
PollableSocket& PollableSocket::operator=(PollableSocket&&) noexcept = default;

namespace {

// A frame longer than the body's limit is dropped with its connection at its header; see README.md.
constexpr int64_t kMaxFrameBytes = 64 * 1024;
constexpr int kReconnectMs =
    10;  // a private stack starts all its processes at once: the first try often comes too early
constexpr int kReconnectMaxMs = 2000;

Status ZmqError(const std::string& what, const zmq::error_t& e) {
  return Status(ErrorCode::kIo, what + " failed: " + e.what());
}

void SetCommon(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::sndhwm, kHighWaterMark);
  socket.set(zmq::sockopt::rcvhwm, kHighWaterMark);
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::maxmsgsize, kMaxFrameBytes);
}

Result<std::unique_ptr<PollableSocket::Impl>> MakeRouter(Context& context, const std::string& path,
                                                         UniqueFd listening) {
  PL_RETURN_IF_ERROR(CheckSocketPath(path));
  auto impl = std::make_unique<PollableSocket::Impl>();
  try {
    impl->socket = zmq::socket_t(context.impl().context, zmq::socket_type::router);
    SetCommon(impl->socket);
    impl->socket.set(zmq::sockopt::router_mandatory, true);
    impl->socket.set(zmq::sockopt::router_handover, true);
    if (listening.valid()) impl->socket.set(zmq::sockopt::use_fd, listening.get());
    impl->socket.bind("ipc://" + path);
    // The library closes an adopted descriptor with the socket.
    listening.release();
  } catch (const zmq::error_t& e) {
    return ZmqError("bind of " + path, e);
  }
  return impl;
}

ByteSpan Bytes(const zmq::message_t& m) { return {static_cast<const uint8_t*>(m.data()), m.size()}; }

enum class Got { kNothing, kMessage, kMalformed };

// Reads one whole multipart message of exactly `want` frames. Anything else is read to its end and reported as
// malformed; frames past the limit are not kept.
Got ReceiveParts(zmq::socket_t& socket, std::span<zmq::message_t> parts) {
  size_t count = 0;
  bool more = true;
  while (more) {
    zmq::message_t scratch;
    zmq::message_t& part = count < parts.size() ? parts[count] : scratch;
    try {
      auto got = socket.recv(part, zmq::recv_flags::dontwait);
      if (!got) return count == 0 ? Got::kNothing : Got::kMalformed;
    } catch (const zmq::error_t& e) {
      if (e.num() == EINTR) continue;
      return Got::kNothing;
    }
    more = part.more();
    ++count;
  }
  return count == parts.size() ? Got::kMessage : Got::kMalformed;
}

// Drops at most this many malformed messages per call, so that one hostile peer cannot hold the loop.
constexpr int kMaxDropped = 64;

template <size_t N>
std::optional<std::pair<std::string, Frame>> ReceiveFrame(PollableSocket::Impl& impl) {
  for (int dropped = 0; dropped < kMaxDropped; ++dropped) {
    std::array<zmq::message_t, N> parts;
    Got got = ReceiveParts(impl.socket, parts);
    if (got == Got::kNothing) return std::nullopt;
    if (got == Got::kMessage) {
      auto frame = DecodeFrame(Bytes(parts[N - 2]), Bytes(parts[N - 1]));
      if (frame.ok()) return std::pair(N == 3 ? parts[0].to_string() : std::string(), *std::move(frame));
    }
    ++impl.malformed;
  }
  return std::nullopt;
}

Status SendFrame(zmq::socket_t& socket, std::string_view peer, const Frame& frame) {
  auto envelope = EncodeEnvelope(frame.type, frame.term);
  try {
    constexpr auto kMore = zmq::send_flags::dontwait | zmq::send_flags::sndmore;
    if (!peer.empty() && !socket.send(zmq::buffer(peer), kMore))
      return Status(ErrorCode::kUnavailable, "the queue to peer " + std::string(peer) + " is full");
    if (!socket.send(zmq::buffer(envelope), kMore))
      return Status(ErrorCode::kUnavailable, "no connection, or its queue is full");
    socket.send(zmq::buffer(frame.body), zmq::send_flags::dontwait);
  } catch (const zmq::error_t& e) {
    if (e.num() == EHOSTUNREACH) return Status(ErrorCode::kUnavailable, "no such peer is connected");
    return ZmqError("send", e);
  }
  return OkStatus();
}

}  // namespace

Result<RouterSocket> RouterSocket::Bind(Context& context, const std::string& path) {
  PL_ASSIGN_OR_RETURN(auto impl, MakeRouter(context, path, UniqueFd()));
  return RouterSocket(std::move(impl));
}

Result<RouterSocket> RouterSocket::Adopt(Context& context, UniqueFd listening, const std::string& path) {
  int type = 0, accepting = 0;
  socklen_t length = sizeof(int);
  if (getsockopt(listening.get(), SOL_SOCKET, SO_TYPE, &type, &length) != 0 ||
      getsockopt(listening.get(), SOL_SOCKET, SO_ACCEPTCONN, &accepting, &length) != 0 || type != SOCK_STREAM ||
      !accepting)
    return Status(ErrorCode::kInvalidArgument, "the descriptor for " + path + " is not a listening stream socket");
  // The library's I/O thread accepts without asking first.
  int flags = fcntl(listening.get(), F_GETFL);
  if (flags < 0 || fcntl(listening.get(), F_SETFL, flags | O_NONBLOCK) != 0)
    return Status(ErrorCode::kIo, "the listening socket for " + path + " cannot be made non-blocking");
  PL_ASSIGN_OR_RETURN(auto impl, MakeRouter(context, path, std::move(listening)));
  return RouterSocket(std::move(impl));
}

std::optional<RouterSocket::Incoming> RouterSocket::Receive() {
  auto got = ReceiveFrame<3>(*impl_);
  if (!got) return std::nullopt;
  return Incoming{std::move(got->first), std::move(got->second)};
}

Status RouterSocket::Send(std::string_view peer, const Frame& frame) {
  if (peer.empty()) return Status(ErrorCode::kInternal, "message to a peer without a name");
  return SendFrame(impl_->socket, peer, frame);
}

uint64_t RouterSocket::malformed_count() const { return impl_->malformed; }

Result<DealerSocket> DealerSocket::Connect(Context& context, const std::string& path, const std::string& routing_id) {
  PL_RETURN_IF_ERROR(CheckSocketPath(path));
  auto impl = std::make_unique<Impl>();
  try {
    impl->socket = zmq::socket_t(context.impl().context, zmq::socket_type::dealer);
    SetCommon(impl->socket);
    impl->socket.set(zmq::sockopt::immediate, true);
    impl->socket.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
    impl->socket.set(zmq::sockopt::reconnect_ivl_max, kReconnectMaxMs);
    if (!routing_id.empty()) impl->socket.set(zmq::sockopt::routing_id, routing_id);
    impl->socket.connect("ipc://" + path);
  } catch (const zmq::error_t& e) {
    return ZmqError("connection to " + path, e);
  }
  return DealerSocket(std::move(impl));
}

std::optional<Frame> DealerSocket::Receive() {
  auto got = ReceiveFrame<2>(*impl_);
  if (!got) return std::nullopt;
  return std::move(got->second);
}

Status DealerSocket::Send(const Frame& frame) { return SendFrame(impl_->socket, {}, frame); }

uint64_t DealerSocket::malformed_count() const { return impl_->malformed; }

Status CheckSocketPath(const std::string& path) {
  if (path.empty()) return Status(ErrorCode::kInvalidArgument, "the path of a socket is empty");
  if (path.size() > kMaxSocketPathBytes)
    return Status(ErrorCode::kInvalidArgument,
                  "socket path " + path + " has " + std::to_string(path.size()) + " bytes, at most " +
                      std::to_string(kMaxSocketPathBytes) + " are possible",
                  "", "Choose a shorter directory.");
  // The library would read "@" as an abstract name (no permissions) and "*" as "choose one".
  if (path[0] == '@' || path[0] == '*')
    return Status(ErrorCode::kInvalidArgument, "socket path " + path + " must be a file name");
  return OkStatus();
}

std::string WorkerRoutingId(Role role, uint32_t ordinal, uint32_t instance) {
  const char* name = role == ROLE_GPU ? "gpu" : role == ROLE_SYNTH ? "synth" : "client";
  return std::string(name) + "-" + std::to_string(ordinal) + "-" + std::to_string(instance);
}

bool Poll(std::span<PollItem> items, int timeout_ms) {
  std::vector<zmq::pollitem_t> raw;
  raw.reserve(items.size());
  for (const PollItem& item : items) {
    short events = static_cast<short>((item.want_read ? ZMQ_POLLIN : 0) | (item.want_write ? ZMQ_POLLOUT : 0));
    raw.push_back({item.socket ? item.socket->impl().socket.handle() : nullptr, item.fd, events, 0});
  }
  int ready = 0;
  try {
    ready = zmq::poll(raw.data(), raw.size(), std::chrono::milliseconds(timeout_ms));
  } catch (const zmq::error_t&) {
    ready = 0;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].readable = raw[i].revents & ZMQ_POLLIN;
    items[i].writable = raw[i].revents & ZMQ_POLLOUT;
    items[i].error = raw[i].revents & ZMQ_POLLERR;
  }
  return ready > 0;
}

}  // namespace proofline::wire
