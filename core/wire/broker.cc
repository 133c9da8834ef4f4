#include "core/wire/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/wire/socket.h"

namespace proofline::wire {

namespace {

constexpr int kBacklog = 128;
constexpr uint32_t kMaxSlots = 4096;  // far above any layout; bounds what an answer can make us hold

Status Errno(const std::string& what, ErrorCode code = ErrorCode::kIo) {
  return Status(code, what + " failed: " + strerror(errno));
}

Result<sockaddr_un> Address(const std::string& path) {
  PL_RETURN_IF_ERROR(CheckSocketPath(path));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

Result<UniqueFd> NewSocket(int flags) {
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!fd.valid()) return Errno("making a socket");
  return fd;
}

Result<ucred> PeerCredentials(int fd) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return Errno("SO_PEERCRED");
  return credentials;
}

// Whether the file of `listening` is writable for its group, and the peer belongs to that.
bool GroupAdmits(int listening, int peer, gid_t peer_group) {
  sockaddr_un address{};
  socklen_t length = sizeof(address) - 1;
  struct stat file {};
  if (getsockname(listening, reinterpret_cast<sockaddr*>(&address), &length) != 0 || address.sun_path[0] == '\0' ||
      stat(address.sun_path, &file) != 0 || !(file.st_mode & S_IWGRP))
    return false;
  if (peer_group == file.st_gid) return true;
  std::vector<gid_t> groups(1024);
  length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (getsockopt(peer, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) != 0) return false;
  groups.resize(length / sizeof(gid_t));
  return std::find(groups.begin(), groups.end(), file.st_gid) != groups.end();
}

// Takes ownership of every descriptor in the control data, so that none leaks whatever the packet turns out to be.
std::vector<UniqueFd> TakeDescriptors(msghdr& header) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      fds.emplace_back(fd);
    }
  }
  return fds;
}

}  // namespace

Result<BrokerConnection> BrokerConnection::Connect(const std::string& path, int timeout_ms) {
  PL_ASSIGN_OR_RETURN(sockaddr_un address, Address(path));
  PL_ASSIGN_OR_RETURN(UniqueFd fd, NewSocket(0));
  timeval limit{timeout_ms / 1000, (timeout_ms % 1000) * 1000};
  if (setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
      setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0)
    return Errno("setting a time limit on a socket");
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno == EACCES || errno == EPERM)
      return Status(ErrorCode::kIo, path + " may not be used by user " + std::to_string(geteuid()), strerror(errno), "a stack serves its own user alone: become that user, or name another stack");
    return Errno("connection to " + path, ErrorCode::kUnavailable);
  }
  PL_ASSIGN_OR_RETURN(ucred peer, PeerCredentials(fd.get()));
  // root may serve everybody; nobody else may.
  if (peer.uid != geteuid() && peer.uid != 0)
    return Status(ErrorCode::kIo,
                  path + " is served by user " + std::to_string(peer.uid) + ", expected " + std::to_string(geteuid()));
  return BrokerConnection(std::move(fd));
}

Status BrokerConnection::Send(const Frame& frame, std::span<const int> fds) {
  if (fds.size() > kMaxDescriptors)
    return Status(ErrorCode::kInternal, std::to_string(fds.size()) + " descriptors beside one packet, at most " +
                                            std::to_string(kMaxDescriptors));
  std::string bytes = EncodePacket(frame);
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size_bytes());
    memcpy(CMSG_DATA(c), fds.data(), fds.size_bytes());
  }
  ssize_t sent;
  do sent = sendmsg(fd_.get(), &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent < 0) return Errno("sending over the broker socket", ErrorCode::kUnavailable);
  return OkStatus();
}

Result<std::optional<Packet>> BrokerConnection::Receive() {
  std::array<uint8_t, kEnvelopeBytes + kMaxBodyBytes> bytes;
  iovec part{bytes.data(), bytes.size()};
  // The kernel allows 253 descriptors in a packet; room for all of them, so that none is dropped half-way.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(253 * sizeof(int))> control;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t got;
  do got = recvmsg(fd_.get(), &header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK)
      return Errno("reading from the broker socket", ErrorCode::kUnavailable);
    int flags = fcntl(fd_.get(), F_GETFL);
    if (flags >= 0 && (flags & O_NONBLOCK)) return std::optional<Packet>();
    return Status(ErrorCode::kTimeout, "no answer over the broker socket");
  }
  Packet packet;
  packet.fds = TakeDescriptors(header);
  if (got == 0) return Status(ErrorCode::kUnavailable, "the other end of the broker socket has gone");
  if (header.msg_flags & MSG_TRUNC) return Status(ErrorCode::kInvalidArgument, "a packet on the broker socket was cut: it is too long");
  // The kernel drops what finds no free number here.
  if (header.msg_flags & MSG_CTRUNC)
    return Status(ErrorCode::kResource, "descriptors of a packet on the broker socket were lost", "this process has no more of them free, or too many were sent", "raise the limit of open files");
  if (packet.fds.size() > kMaxDescriptors)
    return Status(ErrorCode::kInvalidArgument, std::to_string(packet.fds.size()) +
                                                   " descriptors beside one packet, at most " +
                                                   std::to_string(kMaxDescriptors) + " are allowed");
  PL_ASSIGN_OR_RETURN(packet.frame, DecodePacket(ByteSpan(bytes.data(), static_cast<size_t>(got))));
  return std::optional<Packet>(std::move(packet));
}

pid_t BrokerConnection::peer_pid() const {
  auto credentials = PeerCredentials(fd_.get());
  return credentials.ok() ? credentials->pid : -1;
}

Result<BrokerListener> BrokerListener::Bind(const std::string& path) {
  PL_ASSIGN_OR_RETURN(sockaddr_un address, Address(path));
  PL_ASSIGN_OR_RETURN(UniqueFd fd, NewSocket(SOCK_NONBLOCK));
  unlink(path.c_str());
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return Errno("bind of " + path);
  if (listen(fd.get(), kBacklog) != 0) return Errno("listening on " + path);
  return BrokerListener(std::move(fd));
}

Result<BrokerListener> BrokerListener::Adopt(UniqueFd listening) {
  int type = 0, accepting = 0;
  socklen_t length = sizeof(int);
  if (getsockopt(listening.get(), SOL_SOCKET, SO_TYPE, &type, &length) != 0 ||
      getsockopt(listening.get(), SOL_SOCKET, SO_ACCEPTCONN, &accepting, &length) != 0)
    return Errno("adopting a listening socket");
  if (type != SOCK_SEQPACKET || !accepting)
    return Status(ErrorCode::kInvalidArgument, "the broker's descriptor is not a listening SOCK_SEQPACKET socket");
  int flags = fcntl(listening.get(), F_GETFL);
  if (flags < 0 || fcntl(listening.get(), F_SETFL, flags | O_NONBLOCK) != 0)
    return Errno("adopting a listening socket");
  return BrokerListener(std::move(listening));
}

std::optional<BrokerConnection> BrokerListener::Accept() {
  for (int tries = 0; tries < kBacklog; ++tries) {
    UniqueFd fd(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return std::nullopt;
    }
    auto peer = PeerCredentials(fd.get());
    if (peer.ok() && (peer->uid == geteuid() || peer->uid == 0 || GroupAdmits(fd_.get(), fd.get(), peer->gid)))
      return BrokerConnection(std::move(fd));
  }
  return std::nullopt;
}

Status SendAttachReply(BrokerConnection& connection, const AttachReply& reply, int table_fd,
                       std::span<const int> slot_fds) {
  std::vector<int> all;
  all.reserve(1 + slot_fds.size());
  all.push_back(table_fd);
  all.insert(all.end(), slot_fds.begin(), slot_fds.end());
  for (size_t at = 0; at < all.size(); at += kMaxDescriptors) {
    std::span<const int> part = std::span(all).subspan(at, std::min(kMaxDescriptors, all.size() - at));
    PL_RETURN_IF_ERROR(connection.SendMessage(reply, reply.term(), part));
  }
  return OkStatus();
}

namespace {
// Until the connection has something (or has waited its time, which its read will find out).
Status WaitOrStop(int fd, int stop_fd) {
  timeval limit{};
  socklen_t length = sizeof(limit);
  (void)getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &length);
  pollfd items[] = {{fd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
  poll(items, 2, static_cast<int>(limit.tv_sec * 1000 + limit.tv_usec / 1000));
  if (items[1].revents & POLLIN) return Status(ErrorCode::kCancelled, "asked to stop");
  return OkStatus();
}
}  // namespace

Result<Attachment> AttachToBroker(BrokerConnection& connection, const Hello& hello, int pidfd, int stop_fd) {
  Attach attach;
  *attach.mutable_hello() = hello;
  PL_RETURN_IF_ERROR(connection.SendMessage(attach, 0, std::span(&pidfd, 1)));
  Attachment out;
  std::vector<UniqueFd> fds;
  size_t want = 1;
  while (fds.size() < want) {
    if (stop_fd >= 0) PL_RETURN_IF_ERROR(WaitOrStop(connection.fd(), stop_fd));
    PL_ASSIGN_OR_RETURN(std::optional<Packet> packet, connection.Receive());
    if (!packet) return Status(ErrorCode::kTimeout, "no answer to Attach");
    PL_ASSIGN_OR_RETURN(AttachReply reply, Unpack<AttachReply>(packet->frame));
    PL_RETURN_IF_ERROR(ToStatus(reply.error()));
    if (reply.slot_count() > kMaxSlots || packet->fds.empty())
      return Status(ErrorCode::kInvalidArgument, "answer to Attach with " + std::to_string(reply.slot_count()) +
                                                     " slots and " + std::to_string(packet->fds.size()) +
                                                     " descriptors");
    want = 1 + size_t{reply.slot_count()};
    out.instance = reply.instance();
    out.generation = reply.generation();
    out.term = reply.term();
    std::move(packet->fds.begin(), packet->fds.end(), std::back_inserter(fds));
  }
  if (fds.size() != want)
    return Status(ErrorCode::kInvalidArgument, "answer to Attach with more descriptors than slots");
  out.table = std::move(fds[0]);
  out.slots.assign(std::make_move_iterator(fds.begin() + 1), std::make_move_iterator(fds.end()));
  return out;
}

}  // namespace proofline::wire
