// A small supervisor that speaks systemd's protocol, so that a stack's programs have one code path whether systemd or
// `proofline up` or `proofline prove` started them: LISTEN_FDS with names, NOTIFY_SOCKET with READY, WATCHDOG, FDSTORE,
// FDSTOREREMOVE and BARRIER, restarts with back-off, exit codes that forbid a restart. README.md has the table.
//
// It runs on one thread of its own, which is also the thread the kernel watches for the children's parent-death signal.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cli/child.h"
#include "cli/notify.h"
#include "core/base/status.h"

namespace proofline::cli {

struct ProgramSpec {
  std::string name;  // "coordinator", "synth-worker 0": for messages
  ChildSpec child;
  bool stores_fds = false;                  // gets the listening sockets and what it stored; only this program may store
  std::chrono::milliseconds watchdog{0};    // 0 = none; else killed when WATCHDOG=1 is late
  std::chrono::milliseconds start_limit{30000};  // READY=1 (or EXTEND_TIMEOUT_USEC) must come within this
};

struct SupervisorOptions {
  std::string notify_path;
  std::vector<ProgramSpec> programs;
  std::vector<std::pair<std::string, UniqueFd>> sockets;  // listening, with their LISTEN_FDNAMES
  // Where the children's output goes. kKeep: nowhere, but the last of it is part of an error.
  enum class Output { kKeep, kInherit, kFile } output = Output::kInherit;
  UniqueFd output_file;
  // A program that ends this many times before it was ready even once, in a row, fails the stack. 0 = try for ever.
  int early_deaths_allowed = 5;
  // Anything said about a child that an operator should see; called on the supervisor's thread.
  std::function<void(const std::string&)> notice;
};

// Exit codes of a child that mean "a restart cannot help": 64 configuration, 71 driver mismatch, 72 device missing.
bool IsFinalExitCode(int exit_code);

struct ProgramState {
  std::string name;
  pid_t pid = -1;  // -1 while it is down
  bool ready = false;
  int restarts = 0;
};

class Supervisor {
 public:
  // Starts the programs, all at once. On failure nothing is left running.
  static Result<std::unique_ptr<Supervisor>> Start(SupervisorOptions options);
  ~Supervisor();  // Stop(0)
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Until every program has said READY=1, the stack failed or the time is over.
  Status WaitReady(std::chrono::milliseconds timeout);
  // Readable from the moment every program has been ready at the same time.
  int ready_fd() const { return ready_event_.get(); }
  // Readable from the moment the stack has failed (a program that will not be restarted has ended).
  int failure_fd() const { return failure_event_.get(); }
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  Status failure() const;
  std::vector<ProgramState> programs() const;

  // SIGTERM to all, SIGKILL to what is left after `grace`; returns when no child is left. Safe to call twice.
  void Stop(std::chrono::milliseconds grace);

 private:
  struct Program;
  explicit Supervisor(SupervisorOptions options);
  using Clock = std::chrono::steady_clock;

  void Run();
  Status StartAll();
  Status Spawn(Program& program);
  void PollOnce();
  void HandleNotifications();
  void HandleNotification(Notification& notification);
  void HandleOutput(Program& program);
  void HandleExit(Program& program);
  void HandleTimers();
  int NextTimeoutMs() const;
  bool AllReady() const;
  void Fail(Status status);
  void ShutDown();
  std::string OutputTail(const Program& program) const;

  SupervisorOptions options_;
  NotifySocket notify_;
  FdStore store_;
  UniqueFd wake_event_, ready_event_, failure_event_;
  std::vector<std::unique_ptr<Program>> programs_;

  mutable std::mutex mutex_;  // guards programs_' ready, pid and restarts, failure_, started_
  std::condition_variable changed_;
  bool started_ = false;
  Status failure_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> grace_ms_{0};
  std::thread thread_;
};

}  // namespace proofline::cli
