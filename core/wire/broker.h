// The broker socket: the way descriptors travel. AF_UNIX, SOCK_SEQPACKET; one packet is an envelope, a body and up to kMaxDescriptors
// descriptors beside it. May connect: the listener's user, root and, where the socket's file is writable for its group, that group
// (SO_PEERCRED, SO_PEERGROUPS): this and the file's permissions are the whole authentication. Who may attach is the coordinator's to say.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/wire/codec.h"

namespace proofline::wire {

inline constexpr size_t kMaxDescriptors = 128;

struct Packet {
  Frame frame;
  std::vector<UniqueFd> fds;
};

class BrokerConnection {
 public:
  // Connects; kUnavailable if nobody listens. The connection is blocking with a time limit on both directions.
  static Result<BrokerConnection> Connect(const std::string& path, int timeout_ms);
  // An accepted or inherited connection.
  explicit BrokerConnection(UniqueFd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }

  // The descriptors are borrowed: the peer gets duplicates. kUnavailable: the peer has gone, or its buffer is full
  // (non-blocking) or stayed full for the time limit.
  Status Send(const Frame& frame, std::span<const int> fds = {});
  template <class M>
  Status SendMessage(const M& message, uint64_t term, std::span<const int> fds = {}) {
    PL_ASSIGN_OR_RETURN(Frame frame, Pack(message, term));
    return Send(frame, fds);
  }
  // nullopt: nothing there (non-blocking only). kUnavailable: the peer has gone. kTimeout: blocking, and nothing came.
  // kInvalidArgument: a packet that is not one of ours; its descriptors are closed; drop the connection.
  Result<std::optional<Packet>> Receive();

  // The peer's process id when it connected: for logs, never to signal (use its pidfd).
  pid_t peer_pid() const;

 private:
  UniqueFd fd_;
};

class BrokerListener {
 public:
  static Result<BrokerListener> Bind(const std::string& path);
  // A bound, listening SOCK_SEQPACKET socket that somebody made before (socket activation).
  static Result<BrokerListener> Adopt(UniqueFd listening);
  int fd() const { return fd_.get(); }
  // The next waiting connection, non-blocking; nullopt when none waits. Peers that may not connect are closed at once.
  std::optional<BrokerConnection> Accept();

 private:
  explicit BrokerListener(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// The answer to Attach is one packet per kMaxDescriptors descriptors: the table's first, then each slot's in order.
// Every packet repeats the same message.
Status SendAttachReply(BrokerConnection& connection, const AttachReply& reply, int table_fd,
                       std::span<const int> slot_fds);

struct Attachment {
  uint32_t instance = 0;
  uint64_t generation = 0;
  uint64_t term = 0;
  UniqueFd table;
  std::vector<UniqueFd> slots;
};
// Sends Attach with `pidfd` beside it and reads the whole answer. `connection` must be blocking (Connect). kCancelled
// as soon as `stop_fd` (-1: none) is readable.
Result<Attachment> AttachToBroker(BrokerConnection& connection, const Hello& hello, int pidfd, int stop_fd = -1);

}  // namespace proofline::wire
