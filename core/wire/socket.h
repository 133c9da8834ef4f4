// ZeroMQ, the way this project uses it: one ROUTER in the coordinator for workers and one for clients, one DEALER in
// each of those, over ipc sockets in a private directory, two frames a message, small queues, nothing that blocks.
//
// Which library settings and why is in README.md. A socket belongs to the thread that uses it. Sockets must go before
// their Context. No ZeroMQ type or exception leaves this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/wire/codec.h"

namespace proofline::wire {

// The library's I/O thread and its sockets. One per process, made by main.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// What Poll can wait on.
class PollableSocket {
 public:
  struct Impl;
  virtual ~PollableSocket();
  Impl& impl() const { return *impl_; }
  PollableSocket(PollableSocket&&) noexcept;
  PollableSocket& operator=(PollableSocket&&) noexcept;

 protected:
  explicit PollableSocket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class RouterSocket : public PollableSocket {
 public:
  // Makes a listening socket at `path` (at most kMaxSocketPathBytes), replacing a stale file. kIo, kInvalidArgument.
  static Result<RouterSocket> Bind(Context& context, const std::string& path);
  // Takes over a listening AF_UNIX stream socket that somebody bound to `path` before (socket activation); the file
  // stays at close, so peers that connect while nobody listens wait instead of failing.
  static Result<RouterSocket> Adopt(Context& context, UniqueFd listening, const std::string& path);

  struct Incoming {
    std::string peer;  // routing id: workers choose theirs (WorkerRoutingId), clients' are the library's
    Frame frame;
  };
  // The next well-formed message, nullopt when none waits. Malformed ones are dropped and counted. Callers bound their
  // loops.
  std::optional<Incoming> Receive();
  // kUnavailable: the peer is not connected, or its queue (kHighWaterMark) is full. Never blocks.
  Status Send(std::string_view peer, const Frame& frame);
  template <class M>
  Status SendMessage(std::string_view peer, const M& message, uint64_t term) {
    PL_ASSIGN_OR_RETURN(Frame frame, Pack(message, term));
    return Send(peer, frame);
  }
  uint64_t malformed_count() const;

 private:
  using PollableSocket::PollableSocket;
};

class DealerSocket : public PollableSocket {
 public:
  // Connects to a RouterSocket's path, now or as soon as it is there, again after it went away. An empty routing id
  // lets the library choose. Messages are only queued to a completed connection.
  static Result<DealerSocket> Connect(Context& context, const std::string& path, const std::string& routing_id);

  std::optional<Frame> Receive();
  // kUnavailable: not connected, or the queue is full. Never blocks.
  Status Send(const Frame& frame);
  template <class M>
  Status SendMessage(const M& message, uint64_t term) {
    PL_ASSIGN_OR_RETURN(Frame frame, Pack(message, term));
    return Send(frame);
  }
  uint64_t malformed_count() const;

 private:
  using PollableSocket::PollableSocket;
};

inline constexpr int kHighWaterMark = 64;
inline constexpr size_t kMaxSocketPathBytes = 107;  // sun_path without its terminating zero

// kInvalidArgument, with the number found and allowed, for a path that no socket can have.
Status CheckSocketPath(const std::string& path);

// "synth-0-17": unique per process life, so that a newcomer never takes the messages of the one it replaces.
std::string WorkerRoutingId(Role role, uint32_t ordinal, uint32_t instance);

// One thing to wait on: a socket of ours or a plain descriptor. readable/writable/error are set by Poll.
struct PollItem {
  const PollableSocket* socket = nullptr;
  int fd = -1;
  bool want_read = true;
  bool want_write = false;
  bool readable = false, writable = false, error = false;
};
// Waits until an item is ready or timeout_ms is over (-1: for ever). True if any is ready. A signal counts as nothing
// ready. Level-triggered for sockets too: a socket's own descriptor is edge-triggered and must not be put into another
// poll set.
bool Poll(std::span<PollItem> items, int timeout_ms);

}  // namespace proofline::wire
