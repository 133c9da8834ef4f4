// The receiving end of systemd's notification protocol (sd_notify(3), sd_pid_notify_with_fds(3)) and its descriptor store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline::cli {

// One datagram: assignments ("READY=1"), descriptors, and who sent it, as the kernel says.
struct Notification {
  pid_t pid = 0;
  std::vector<std::pair<std::string, std::string>> assignments;
  std::vector<UniqueFd> fds;

  std::optional<std::string_view> Get(std::string_view name) const;
  bool Is(std::string_view name, std::string_view value) const { return Get(name) == value; }
};

// "A=1\nB=2" to pairs; lines without '=' are dropped.
std::vector<std::pair<std::string, std::string>> ParseAssignments(std::string_view text);

class NotifySocket {
 public:
  // A datagram socket bound to `path`, which must not exist. At most 100 bytes of path.
  static Result<NotifySocket> Open(const std::string& path);
  int fd() const { return fd_.get(); }
  // nullopt when nothing (more) is there. Datagrams without credentials and truncated ones are dropped.
  std::optional<Notification> Receive();

 private:
  UniqueFd fd_;
};

// Descriptors kept for a program over its deaths, oldest first. A name may be there more than once.
class FdStore {
 public:
  static constexpr size_t kMaxFds = 512;

  // What FDSTORE=1 and FDSTOREREMOVE=1 with FDNAME=... ask for; a barrier and everything else are no business of the store.
  // A descriptor of a file that is already there under the same name is not stored twice.
  Status Apply(Notification& notification);
  const std::vector<std::pair<std::string, UniqueFd>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, UniqueFd>> entries_;
};

}  // namespace proofline::cli
