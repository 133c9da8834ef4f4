// The real proofline-coordinator with fake workers, and a client that speaks the protocol from the test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/unique_fd.h"
#include "core/wire/broker.h"
#include "core/wire/socket.h"

namespace proofline::coordinator {

class TempDir {
 public:
  TempDir();
  ~TempDir();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A child process of the test; killed and reaped at the end of its life.
class Process {
 public:
  Process() = default;
  // `fds` become descriptors 3, 4, ... with LISTEN_FDS and their names.
  static Process Start(const std::vector<std::string>& argv, const std::vector<std::string>& env = {}, const std::vector<std::pair<std::string, int>>& fds = {},
                       const std::string& stderr_file = {});
  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Process& operator=(Process&& other) noexcept;
  ~Process() { Kill(); }
  int pid() const { return pid_; }
  void Signal(int signal) const;
  void Kill();  // SIGKILL, reaped
  // The exit code, or 128 + signal; nullopt if it still runs after the time.
  std::optional<int> WaitForEnd(int timeout_ms);
  bool Runs() { return !WaitForEnd(0).has_value() && pid_ > 0; }

 private:
  int pid_ = -1;
};

// Just enough of a service manager: takes stored descriptors, sees READY.
class FakeManager {
 public:
  explicit FakeManager(const std::string& dir);
  const std::string& path() const { return path_; }
  void Receive();
  bool WaitReady(int timeout_ms);
  void ForgetReady() { ready_ = false; }
  std::vector<std::pair<std::string, int>> stored() const;

 private:
  std::string path_;
  UniqueFd socket_;
  bool ready_ = false;
  std::map<std::string, UniqueFd> stored_;
};

class Client {
 public:
  explicit Client(const std::string& run_dir);
  Result<wire::Reply> Call(wire::Request request, int timeout_ms = 10'000);
  Result<UniqueFd> Ask(const std::function<Status(wire::BrokerConnection&)>& send);
  wire::DealerSocket& front() { return *front_; }
  void Send(wire::Request request);

  Status AddCircuit(const std::string& name = "mult", uint32_t log2_domain = 4);
  // Opens, gives inputs that consist of `fill`, commits.
  Result<wire::SubmitAck> Submit(const std::string& circuit, const std::vector<char>& fill, const std::string& id = {}, wire::Priority priority = wire::PRIORITY_NORMAL,
                                 uint64_t deadline_ms = 0);
  Result<wire::SubmitTicket> Begin(const std::string& circuit, uint32_t partitions, const std::string& id = {}, bool direct = false, wire::Priority priority = wire::PRIORITY_NORMAL,
                                   uint64_t deadline_ms = 0);
  Status WriteSpool(uint64_t job, uint32_t partition, char fill);
  Result<wire::SubmitAck> Commit(uint64_t job, const std::string& mac);
  // Until it has ended.
  Result<wire::JobView> Wait(const std::string& name, int timeout_ms = 20'000);
  wire::StackStatus GetStatus();
  Result<std::string> GetResult(uint64_t job, uint32_t partition);

 private:
  std::string run_dir_;
  wire::Context context_;
  std::optional<wire::DealerSocket> front_;
  uint64_t next_request_ = 1;
};

class StackTest : public testing::Test {
 protected:
  void StartCoordinator(std::vector<std::string> options = {});
  // The same directory again, with what the manager kept.
  void RestartCoordinator();
  Process StartWorker(const char* role, const std::string& behaviour = {});
  void StartWorkers(const std::string& synth = {}, const std::string& gpu = {});
  Client& client();
  std::string run_dir() const { return dir_.path() + "/run"; }
  // Waits until every slot is free.
  void ExpectAllFree();
  void ExpectBalance();
  // A fake worker's result of that partition, whose input was made of `fill`.
  void ExpectResult(Client& client, uint64_t job, uint32_t partition, char fill);
  std::string CoordinatorLog() const;

  TempDir dir_;
  std::vector<std::string> options_;
  bool with_manager_ = false;  // keeps the slots over the coordinator's death
  // Long, since a loaded machine may hold up an innocent worker.
  int suspect_ms_ = 20'000;
  std::unique_ptr<FakeManager> manager_;
  Process coordinator_;
  std::vector<Process> workers_;
  std::unique_ptr<Client> client_;
  int next_ordinal_ = 0;
};

}  // namespace proofline::coordinator
