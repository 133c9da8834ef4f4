#include "cli/private_dir.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace proofline::cli {
namespace {

namespace fs = std::filesystem;

constexpr time_t kMakingSeconds = 10;   // a younger directory may be between mkdtemp and flock
constexpr size_t kLongestParent = 60;  // leaves 47 of a socket path's 107 bytes for our own names

std::string Prefix() { return "proofline-" + std::to_string(getuid()) + "-"; }

std::vector<std::string> Parents() {
  std::vector<std::string> parents;
  for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* value = std::getenv(name);
    if (value && value[0] == '/' && std::strlen(value) <= kLongestParent) parents.emplace_back(value);
  }
  parents.emplace_back("/tmp");
  return parents;
}

// Processes that are being killed may still make files in it for a moment.
void RemoveTree(const std::string& path) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    std::error_code error;
    fs::remove_all(path, error);
    if (!error) return;
    usleep(20'000);
  }
}

[[noreturn]] void RunJanitor(int life_line, const std::string& path) {
  setsid();
  prctl(PR_SET_NAME, "proofline-clean");
  // Survives what ends its parent, the terminal's signals included; only SIGKILL takes it.
  for (int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(s, SIG_IGN);
  const int keep = fcntl(life_line, F_DUPFD_CLOEXEC, 3);
  // Holds nothing of its parent's: neither its output (a reader of a pipe waits for all writers) nor the lock.
  const int null_fd = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(null_fd, fd);
  if (keep > 3) close_range(3, static_cast<unsigned>(keep) - 1, 0);
  close_range(static_cast<unsigned>(keep) + 1, ~0U, 0);
  if (chdir("/") != 0) _exit(1);
  char byte;
  while (read(keep, &byte, 1) < 0 && errno == EINTR) {
  }
  RemoveTree(path);
  _exit(0);
}

}  // namespace

int SweepStaleDirs(const std::string& parent) {
  int removed = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename();
    if (name.rfind(Prefix(), 0) != 0) continue;
    UniqueFd fd(open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info;
    if (!fd || fstat(fd.get(), &info) < 0 || info.st_uid != getuid() || info.st_mtime > time(nullptr) - kMakingSeconds) continue;
    if (flock(fd.get(), LOCK_EX | LOCK_NB) < 0) continue;
    fs::remove_all(entry.path(), error);
    removed += !error;
  }
  return removed;
}

Result<PrivateDir> PrivateDir::Make() {
  PrivateDir dir;
  std::string tried;
  for (const std::string& parent : Parents()) {
    SweepStaleDirs(parent);
    std::string path = parent + "/" + Prefix() + "XXXXXX";
    if (!mkdtemp(path.data())) {
      tried += (tried.empty() ? "" : "; ") + parent + ": " + strerror(errno);
      continue;
    }
    dir.path_ = path;
    break;
  }
  if (dir.path_.empty())
    return Status(ErrorCode::kIo, "cannot make a private directory for the stack's sockets", tried, "set XDG_RUNTIME_DIR or TMPDIR to a directory you can write");
  dir.lock_.reset(open(dir.path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int line[2];
  if (!dir.lock_ || flock(dir.lock_.get(), LOCK_SH | LOCK_NB) < 0 || pipe2(line, O_CLOEXEC) < 0)
    return Status(ErrorCode::kIo, "cannot prepare " + dir.path_, strerror(errno));
  UniqueFd read_end(line[0]);
  dir.life_line_.reset(line[1]);
  dir.janitor_ = fork();
  if (dir.janitor_ == 0) {
    RunJanitor(read_end.get(), dir.path_);
  }
  if (dir.janitor_ < 0) return Status(ErrorCode::kResource, "cannot start a process", strerror(errno), "raise the limit of processes");
  return dir;
}

PrivateDir::PrivateDir(PrivateDir&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      life_line_(std::move(other.life_line_)),
      janitor_(std::exchange(other.janitor_, -1)) {}

PrivateDir::~PrivateDir() {
  if (path_.empty()) return;
  RemoveTree(path_);
  if (janitor_ <= 0) return;
  kill(janitor_, SIGKILL);
  while (waitpid(janitor_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace proofline::cli
