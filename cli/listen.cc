#include "cli/listen.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace proofline::cli {
namespace {

constexpr int kBacklog = 128;
constexpr int kProbes = 40;
constexpr useconds_t kProbePauseUs = 50'000;

// EAGAIN: a listener with a full backlog, so somebody is there.
bool Connects(const sockaddr_un& address, int type) {
  UniqueFd probe(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return probe && (connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN);
}

// Processes of a stack that was just killed hold their sockets until the kernel has taken them apart.
bool SomebodyAnswers(const sockaddr_un& address, int type) {
  for (int i = 0; Connects(address, type); ++i) {
    if (i == kProbes) return true;
    usleep(kProbePauseUs);
  }
  return false;
}

Result<UniqueFd> BindOne(const std::string& path, int type) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Status(ErrorCode::kUsage, "the socket path " + path + " has " + std::to_string(path.size()) + " bytes, the system takes 107", "",
                  "choose a shorter directory with --state");
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);

  if (SomebodyAnswers(address, type))
    return Status(ErrorCode::kConflict, path + " belongs to a running stack", "somebody answers on it", "end that stack, or use another --state");
  struct stat info;
  if (lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) return Status(ErrorCode::kConflict, path + " is in the way: it is no socket", "", "remove it, or use another --state");
    unlink(path.c_str());
  }
  UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const mode_t before = umask(0177);
  const bool bound = fd && bind(fd.get(), generic, sizeof address) == 0;
  const int error = errno;
  umask(before);
  if (!bound || listen(fd.get(), kBacklog) < 0) return Status(ErrorCode::kIo, "cannot listen on " + path, strerror(bound ? errno : error));
  return fd;
}

}  // namespace

Result<std::vector<std::pair<std::string, UniqueFd>>> BindStackSockets(const StackPaths& paths) {
  std::vector<std::pair<std::string, UniqueFd>> sockets;
  PL_ASSIGN_OR_RETURN(UniqueFd work, BindOne(paths.WorkSocket(), SOCK_STREAM));
  sockets.emplace_back("work", std::move(work));
  PL_ASSIGN_OR_RETURN(UniqueFd front, BindOne(paths.FrontSocket(), SOCK_STREAM));
  sockets.emplace_back("front", std::move(front));
  PL_ASSIGN_OR_RETURN(UniqueFd broker, BindOne(paths.BrokerSocket(), SOCK_SEQPACKET));
  sockets.emplace_back("broker", std::move(broker));
  return sockets;
}

}  // namespace proofline::cli
