#include "cli/notify.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace proofline::cli {
namespace {

constexpr size_t kMaxDatagramBytes = 4096;
constexpr size_t kMaxFdsPerDatagram = 253;  // SCM_MAX_FD of Linux

bool SameFile(int a, int b) {
  struct stat sa, sb;
  return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

bool IsFdName(std::string_view name) {
  return !name.empty() && name.size() <= 255 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return c > 32 && c < 127 && c != ':'; });
}

void TakeControl(msghdr& message, Notification& out, bool& credentials) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET) continue;
    if (c->cmsg_type == SCM_RIGHTS) {
      const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd;
        std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
        out.fds.emplace_back(fd);
      }
    } else if (c->cmsg_type == SCM_CREDENTIALS) {
      ucred creds;
      std::memcpy(&creds, CMSG_DATA(c), sizeof creds);
      out.pid = creds.pid;
      credentials = creds.pid > 0;
    }
  }
}

}  // namespace

std::optional<std::string_view> Notification::Get(std::string_view name) const {
  for (const auto& [key, value] : assignments)
    if (key == name) return value;
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> ParseAssignments(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = line.find('=');
    if (equals != std::string_view::npos && equals > 0) out.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return out;
}

Result<NotifySocket> NotifySocket::Open(const std::string& path) {
  NotifySocket socket;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Status(ErrorCode::kInvalidArgument, path + ": " + std::to_string(path.size()) + " characters are too long for a socket (107 at most)",
                  "", "use a shorter directory");
  std::memcpy(address.sun_path, path.data(), path.size());
  socket.fd_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  // The mode of a socket's file is that of the socket when it is bound.
  if (!socket.fd_ || fchmod(socket.fd(), 0600) < 0 || setsockopt(socket.fd(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
      bind(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
    return Status(ErrorCode::kIo, "cannot make the notification socket " + path, strerror(errno));
  return socket;
}

std::optional<Notification> NotifySocket::Receive() {
  for (;;) {
    char text[kMaxDatagramBytes];
    alignas(cmsghdr) char control[CMSG_SPACE(kMaxFdsPerDatagram * sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
    iovec part{text, sizeof text};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = recvmsg(fd(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    Notification notification;
    bool credentials = false;
    TakeControl(message, notification, credentials);
    if (!credentials || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) continue;
    notification.assignments = ParseAssignments({text, static_cast<size_t>(n)});
    return notification;
  }
}

Status FdStore::Apply(Notification& notification) {
  const std::string name(notification.Get("FDNAME").value_or("stored"));
  if (!IsFdName(name)) return Status(ErrorCode::kInvalidArgument, "descriptor store: a name is not printable");
  if (notification.Is("FDSTOREREMOVE", "1")) std::erase_if(entries_, [&](const auto& entry) { return entry.first == name; });
  if (!notification.Is("FDSTORE", "1")) return OkStatus();
  for (UniqueFd& fd : notification.fds) {
    const bool known = std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
      return entry.first == name && SameFile(entry.second.get(), fd.get());
    });
    if (known) continue;
    if (entries_.size() == kMaxFds)
      return Status(ErrorCode::kResource, "descriptor store: full with " + std::to_string(kMaxFds) + " descriptors");
    entries_.emplace_back(name, std::move(fd));
  }
  notification.fds.clear();
  return OkStatus();
}

}  // namespace proofline::cli
