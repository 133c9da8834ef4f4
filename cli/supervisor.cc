#include "cli/supervisor.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace proofline::cli {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kFirstBackoff{20}, kLongestBackoff{5000}, kHealthyRun{10000};
constexpr size_t kKeptOutputBytes = 16384;

void Ring(int event_fd) {
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t ignored = write(event_fd, &one, sizeof one);
}

std::string DescribeExit(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return "exit code " + std::to_string(info.si_status);
  return std::string("signal ") + std::to_string(info.si_status) + " (" + strsignal(info.si_status) + ")";
}

int64_t ParseInt(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

bool IsFinalExitCode(int exit_code) { return exit_code == 64 || exit_code == 71 || exit_code == 72; }

struct Supervisor::Program {
  ProgramSpec spec;
  Child child;
  bool ready = false;
  int restarts = 0;
  int early_deaths = 0;
  milliseconds backoff = kFirstBackoff;
  Clock::time_point started{}, restart_at{}, watchdog_due{}, ready_due{};
  UniqueFd output;   // read end, with Output::kKeep
  std::string kept;  // its last bytes
  bool up() const { return child.pid > 0; }
};

Supervisor::Supervisor(SupervisorOptions options) : options_(std::move(options)) {
  for (ProgramSpec& spec : options_.programs) {
    programs_.push_back(std::make_unique<Program>());
    programs_.back()->spec = std::move(spec);
  }
}

Supervisor::~Supervisor() { Stop(milliseconds(0)); }

Result<std::unique_ptr<Supervisor>> Supervisor::Start(SupervisorOptions options) {
  std::unique_ptr<Supervisor> supervisor(new Supervisor(std::move(options)));
  PL_ASSIGN_OR_RETURN(supervisor->notify_, NotifySocket::Open(supervisor->options_.notify_path));
  supervisor->wake_event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  supervisor->failure_event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  supervisor->ready_event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!supervisor->wake_event_ || !supervisor->ready_event_ || !supervisor->failure_event_)
    return Status(ErrorCode::kResource, "cannot make an eventfd", strerror(errno), "raise the limit of open files");
  // The thread must not take signals that the program's main thread waits for.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  supervisor->thread_ = std::thread(&Supervisor::Run, supervisor.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::unique_lock lock(supervisor->mutex_);
  supervisor->changed_.wait(lock, [&] { return supervisor->started_; });
  if (!supervisor->failure_.ok()) return supervisor->failure_;
  lock.unlock();
  return supervisor;
}

void Supervisor::Run() {
  prctl(PR_SET_NAME, "supervisor");
  Status status = StartAll();
  {
    std::lock_guard lock(mutex_);
    started_ = true;
    if (!status.ok()) failure_ = status;
  }
  changed_.notify_all();
  if (status.ok())
    while (!stop_.load(std::memory_order_acquire)) PollOnce();
  ShutDown();
}

Status Supervisor::StartAll() {
  for (auto& program : programs_) PL_RETURN_IF_ERROR(Spawn(*program));
  return OkStatus();
}

Status Supervisor::Spawn(Program& program) {
  ChildSpec spec = program.spec.child;
  spec.env.push_back("NOTIFY_SOCKET=" + options_.notify_path);
  if (program.spec.watchdog.count() > 0)
    spec.env.push_back("WATCHDOG_USEC=" + std::to_string(std::chrono::microseconds(program.spec.watchdog).count()));
  if (program.spec.stores_fds) {
    for (const auto& [name, fd] : options_.sockets) spec.listen_fds.emplace_back(name, fd.get());
    for (const auto& [name, fd] : store_.entries()) spec.listen_fds.emplace_back(name, fd.get());
  }
  UniqueFd write_end;
  if (options_.output == SupervisorOptions::Output::kKeep) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return Status(ErrorCode::kResource, "cannot make a pipe", strerror(errno), "raise the limit of open files");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    program.output.reset(ends[0]);
    write_end.reset(ends[1]);
    spec.stderr_fd = write_end.get();
  } else if (options_.output == SupervisorOptions::Output::kFile) {
    spec.stderr_fd = options_.output_file.get();
  }
  PL_ASSIGN_OR_RETURN(Child child, SpawnChild(spec));
  const auto now = Clock::now();
  std::lock_guard lock(mutex_);
  program.child = std::move(child);
  program.ready = false;
  program.started = now;
  program.restart_at = {};
  program.ready_due = now + program.spec.start_limit;
  program.watchdog_due = {};
  return OkStatus();
}

void Supervisor::PollOnce() {
  std::vector<pollfd> fds{{wake_event_.get(), POLLIN, 0}, {notify_.fd(), POLLIN, 0}};
  for (const auto& program : programs_) {
    fds.push_back({program->up() ? program->child.pidfd.get() : -1, POLLIN, 0});
    fds.push_back({program->output.get(), POLLIN, 0});
  }
  if (poll(fds.data(), fds.size(), NextTimeoutMs()) < 0 && errno != EINTR) return Fail(Status(ErrorCode::kInternal, "poll failed", strerror(errno)));
  // What a child said before it died counts, so messages come first.
  HandleNotifications();
  for (size_t i = 0; i < programs_.size(); ++i) {
    if (fds[3 + 2 * i].revents) HandleOutput(*programs_[i]);
    if (fds[2 + 2 * i].revents) HandleExit(*programs_[i]);
  }
  HandleTimers();
}

void Supervisor::HandleNotifications() {
  while (auto notification = notify_.Receive()) HandleNotification(*notification);
}

void Supervisor::HandleNotification(Notification& notification) {
  // A barrier is answered by closing its descriptor, which happens when `notification` goes.
  Program* sender = nullptr;
  for (auto& program : programs_)
    if (program->up() && program->child.pid == notification.pid) sender = program.get();
  if (!sender) return;
  if (sender->spec.stores_fds) {
    const Status stored = store_.Apply(notification);
    if (!stored.ok() && options_.notice) options_.notice(stored.ToString());
  }
  const auto now = Clock::now();
  if (notification.Is("WATCHDOG", "trigger")) {
    kill(sender->child.pid, SIGKILL);
  } else if (sender->spec.watchdog.count() > 0 && (notification.Is("WATCHDOG", "1") || notification.Is("READY", "1"))) {
    sender->watchdog_due = now + sender->spec.watchdog;
  }
  if (const auto extend = notification.Get("EXTEND_TIMEOUT_USEC"))
    sender->ready_due = std::max(sender->ready_due, now + std::chrono::microseconds(std::clamp<int64_t>(ParseInt(*extend), 0, 3'600'000'000)));
  if (notification.Is("READY", "1")) {
    std::lock_guard lock(mutex_);
    sender->ready = true;
    sender->early_deaths = 0;
    if (AllReady()) Ring(ready_event_.get());
    changed_.notify_all();
  }
}

void Supervisor::HandleOutput(Program& program) {
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(program.output.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    if (n == 0) return program.output.reset();
    program.kept.append(buffer, static_cast<size_t>(n));
    if (program.kept.size() > kKeptOutputBytes) program.kept.erase(0, program.kept.size() - kKeptOutputBytes);
  }
}

void Supervisor::HandleExit(Program& program) {
  siginfo_t info{};
  if (waitid(P_PIDFD, static_cast<id_t>(program.child.pidfd.get()), &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0) return;
  if (program.output) HandleOutput(program);
  const bool was_ready = program.ready;
  {
    std::lock_guard lock(mutex_);
    KillAndReap(program.child);
    program.ready = false;
  }
  const std::string fact = program.spec.name + " ended with " + DescribeExit(info);
  if (info.si_code == CLD_EXITED && IsFinalExitCode(info.si_status))
    return Fail(Status(ErrorCode::kUnavailable, fact, OutputTail(program), "the program says that starting it again cannot help: see its message"));
  if (!was_ready && options_.early_deaths_allowed > 0 && ++program.early_deaths >= options_.early_deaths_allowed)
    return Fail(Status(ErrorCode::kUnavailable, fact + ", " + std::to_string(program.early_deaths) + " times before it was ready", OutputTail(program)));
  const auto now = Clock::now();
  if (now - program.started >= kHealthyRun) program.backoff = kFirstBackoff;
  program.restart_at = now + program.backoff;
  if (options_.notice) options_.notice(fact + "; starting it again in " + std::to_string(program.backoff.count()) + " ms");
  program.backoff = std::min(program.backoff * 2, kLongestBackoff);
}

void Supervisor::HandleTimers() {
  const auto now = Clock::now();
  for (auto& program : programs_) {
    if (!program->up()) {
      if (program->restart_at == Clock::time_point{} || now < program->restart_at || failed() || stop_) continue;
      const Status status = Spawn(*program);
      std::lock_guard lock(mutex_);
      ++program->restarts;
      if (!status.ok()) program->restart_at = now + kLongestBackoff;
      if (!status.ok() && options_.notice) options_.notice(status.ToString());
      continue;
    }
    const bool late_start = !program->ready && now >= program->ready_due;
    const bool late_ping = program->watchdog_due != Clock::time_point{} && now >= program->watchdog_due;
    if (!late_start && !late_ping) continue;
    if (options_.notice) options_.notice(program->spec.name + (late_ping ? " missed its watchdog; killing it" : " was not ready in time; killing it"));
    program->ready_due = now + kLongestBackoff;
    program->watchdog_due = {};
    kill(program->child.pid, SIGKILL);
  }
}

int Supervisor::NextTimeoutMs() const {
  auto next = Clock::time_point::max();
  const auto consider = [&](Clock::time_point t) {
    if (t != Clock::time_point{}) next = std::min(next, t);
  };
  for (const auto& program : programs_) {
    if (!program->up()) {
      if (!failed()) consider(program->restart_at);
      continue;
    }
    if (!program->ready) consider(program->ready_due);
    consider(program->watchdog_due);
  }
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60000));
}

bool Supervisor::AllReady() const {
  return std::all_of(programs_.begin(), programs_.end(), [](const auto& p) { return p->ready; });
}

void Supervisor::Fail(Status status) {
  {
    std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = std::move(status);
  }
  failed_.store(true, std::memory_order_release);
  Ring(failure_event_.get());
  changed_.notify_all();
}

Status Supervisor::WaitReady(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const bool done = changed_.wait_for(lock, timeout, [&] { return !failure_.ok() || AllReady(); });
  if (!failure_.ok()) return failure_;
  if (done) return OkStatus();
  std::string waiting;
  for (const auto& program : programs_)
    if (!program->ready) waiting += (waiting.empty() ? "" : ", ") + program->spec.name;
  return Status(ErrorCode::kTimeout, "the stack was not ready after " + std::to_string(timeout.count()) + " ms", "not ready: " + waiting);
}

Status Supervisor::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

std::vector<ProgramState> Supervisor::programs() const {
  std::lock_guard lock(mutex_);
  std::vector<ProgramState> out;
  for (const auto& p : programs_) out.push_back({p->spec.name, p->child.pid, p->ready, p->restarts});
  return out;
}

void Supervisor::Stop(std::chrono::milliseconds grace) {
  if (!thread_.joinable()) return;
  grace_ms_ = grace.count();
  stop_.store(true, std::memory_order_release);
  Ring(wake_event_.get());
  thread_.join();
}

// In reverse order of the start: workers go before the coordinator that watches them.
void Supervisor::ShutDown() {
  const auto deadline = Clock::now() + milliseconds(grace_ms_.load());
  for (auto program = programs_.rbegin(); program != programs_.rend(); ++program) {
    if ((*program)->up()) kill((*program)->child.pid, grace_ms_ > 0 ? SIGTERM : SIGKILL);
  }
  for (auto program = programs_.rbegin(); program != programs_.rend(); ++program) {
    if (!(*program)->up()) continue;
    // Its notifications are still taken, so that a barrier of a program that is ending does not wait for nothing.
    for (;;) {
      pollfd fds[] = {{(*program)->child.pidfd.get(), POLLIN, 0}, {notify_.fd(), POLLIN, 0}, {(*program)->output.get(), POLLIN, 0}};
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
      if (left <= 0 || (poll(fds, 3, static_cast<int>(left)) < 0 && errno != EINTR)) break;
      HandleNotifications();
      if (fds[2].revents) HandleOutput(**program);
      if (fds[0].revents) break;
    }
    std::lock_guard lock(mutex_);
    KillAndReap((*program)->child);
    (*program)->ready = false;
  }
}

std::string Supervisor::OutputTail(const Program& program) const {
  std::string_view text(program.kept);
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text.size() > 2000) {
    text.remove_prefix(text.size() - 2000);
    text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  }
  return std::string(text);
}

}  // namespace proofline::cli
