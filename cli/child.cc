#include "cli/child.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <limits.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace proofline::cli {
namespace {

constexpr int kFirstListenFd = 3;

std::string_view NameOf(std::string_view assignment) { return assignment.substr(0, assignment.find('=')); }

bool IsListenVariable(std::string_view name) {
  return name == "LISTEN_PID" || name == "LISTEN_FDS" || name == "LISTEN_FDNAMES" || name == "WATCHDOG_PID" || name == "WATCHDOG_USEC" ||
         name == "NOTIFY_SOCKET";
}

// Everything that needs memory is made before fork: between fork and exec only calls that are safe in a signal handler are allowed.
struct Image {
  std::vector<std::string> strings;  // owns what the pointers point at
  std::vector<char*> argv, envp;
  std::vector<int> listen_fds;
  char listen_pid[32] = "LISTEN_PID=";

  explicit Image(const ChildSpec& spec) {
    strings.push_back(spec.path);
    strings.insert(strings.end(), spec.args.begin(), spec.args.end());
    const size_t argc = strings.size();
    for (char** e = environ; *e; ++e) {
      const std::string_view name = NameOf(*e);
      bool replaced = IsListenVariable(name);
      for (const std::string& own : spec.env) replaced |= NameOf(own) == name;
      if (!replaced) strings.emplace_back(*e);
    }
    strings.insert(strings.end(), spec.env.begin(), spec.env.end());
    if (!spec.listen_fds.empty()) {
      std::string names = "LISTEN_FDNAMES=";
      for (const auto& [name, fd] : spec.listen_fds) {
        names += (listen_fds.empty() ? "" : ":") + name;
        listen_fds.push_back(fd);
      }
      strings.push_back(names);
      strings.push_back("LISTEN_FDS=" + std::to_string(listen_fds.size()));
    }
    for (size_t i = 0; i < strings.size(); ++i) (i < argc ? argv : envp).push_back(strings[i].data());
    argv.push_back(nullptr);
    if (!listen_fds.empty()) envp.push_back(listen_pid);
    envp.push_back(nullptr);
  }
};

void WriteDecimal(char* out, unsigned value) {
  char digits[16];
  int n = 0;
  do digits[n++] = static_cast<char>('0' + value % 10);
  while (value /= 10);
  while (n) *out++ = digits[--n];
  *out = 0;
}

void ResetSignals() {
  for (int s = 1; s < NSIG; ++s) signal(s, SIG_DFL);  // refused for SIGKILL and SIGSTOP, which is fine
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Puts the listening descriptors at 3, 4, ...: first out of the way of each other, then in place. Returns 0 or errno.
int PlaceListenFds(std::vector<int>& fds) {
  const int beyond = kFirstListenFd + static_cast<int>(fds.size());
  for (int& fd : fds)
    if ((fd = fcntl(fd, F_DUPFD_CLOEXEC, beyond)) < 0) return errno;
  for (size_t i = 0; i < fds.size(); ++i)
    if (dup2(fds[i], kFirstListenFd + static_cast<int>(i)) < 0) return errno;
  return 0;
}

[[noreturn]] void RunChild(Image& image, pid_t parent, int stderr_fd, int report_fd) {
  ResetSignals();
  int error = 0;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before prctl: no signal would come
  WriteDecimal(image.listen_pid + sizeof("LISTEN_PID=") - 1, static_cast<unsigned>(getpid()));
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int high_report = fcntl(report_fd, F_DUPFD_CLOEXEC, kFirstListenFd + static_cast<int>(image.listen_fds.size()));
  if (null_fd < 0 || high_report < 0 || dup2(null_fd, STDIN_FILENO) < 0) error = errno;
  if (!error && (dup2(stderr_fd, STDOUT_FILENO) < 0 || dup2(stderr_fd, STDERR_FILENO) < 0)) error = errno;
  if (!error) error = PlaceListenFds(image.listen_fds);
  if (!error) {
    execve(image.argv[0], image.argv.data(), image.envp.data());
    error = errno;
  }
  [[maybe_unused]] ssize_t ignored = write(high_report < 0 ? report_fd : high_report, &error, sizeof error);
  _exit(127);
}

Status SpawnFailure(const std::string& path, int error) {
  return Status(ErrorCode::kResource, "cannot start " + path, strerror(error),
                error == ENOENT ? "the programs of proofline belong into one folder; install or build all of them" : "");
}

}  // namespace

Result<Child> SpawnChild(const ChildSpec& spec) {
  Image image(spec);
  int report[2];
  if (pipe2(report, O_CLOEXEC) < 0) return SpawnFailure(spec.path, errno);
  UniqueFd report_read(report[0]), report_write(report[1]);
  const int stderr_fd = spec.stderr_fd >= 0 ? spec.stderr_fd : STDERR_FILENO;

  // No handler of ours may run in the child before it has reset them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) RunChild(image, parent, stderr_fd, report[1]);
  const int fork_error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return SpawnFailure(spec.path, fork_error);

  Child child{pid, UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)))};
  const int pidfd_error = errno;
  report_write.reset();
  int error = 0;
  ssize_t got;
  do got = read(report_read.get(), &error, sizeof error);
  while (got < 0 && errno == EINTR);
  if (got == sizeof error || !child.pidfd) {
    KillAndReap(child);
    return SpawnFailure(spec.path, got == sizeof error ? error : pidfd_error);
  }
  return child;
}

void KillAndReap(Child& child) {
  if (child.pid <= 0) return;
  kill(child.pid, SIGKILL);
  kill(-child.pid, SIGKILL);
  while (waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  child.pid = -1;
  child.pidfd.reset();
}

Result<std::string> OwnProgramFolder() {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0 || n == sizeof path) return Status(ErrorCode::kIo, "cannot read /proc/self/exe", strerror(errno), "mount /proc");
  const std::string full(path, static_cast<size_t>(n));
  return full.substr(0, full.rfind('/'));
}

}  // namespace proofline::cli
