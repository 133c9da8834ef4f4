// Runs the real programs of the build, each test in a directory and an environment of its own, and checks at the end that no
// process, no file and no shared memory of it is left.
#pragma once

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace proofline::e2e {

struct Finished {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string out, err;
  double seconds = 0;
};
// For failure messages.
std::ostream& operator<<(std::ostream& os, const Finished& f);

// kill(2) for one process of the test. Fails the test instead of signalling anybody for a pid that is none (-1, 0, 1).
bool SendSignal(pid_t pid, int number);

// A program that runs. Killed and reaped when it goes.
class Process {
 public:
  struct Spec {
    std::string program;  // absolute, or looked up in PATH
    std::vector<std::string> args;
    std::map<std::string, std::string> env;  // in addition
    std::string stdin_file = "/dev/null";
    std::string stdout_file;  // where to instead of Finished::out
  };
  explicit Process(const Spec& spec);
  ~Process();
  Process(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int number) const;
  // The whole output; kills it (and fails the test) after `limit`.
  Finished Wait(std::chrono::seconds limit = std::chrono::seconds(120));
  // Reads stdout until a line holds `text`; false if it ends first or `limit` is over.
  bool WaitForLine(const std::string& text, std::chrono::seconds limit = std::chrono::seconds(60));

 private:
  bool Pump(int timeout_ms);  // false at the end of both streams
  pid_t pid_ = -1;
  int out_fd_ = -1, err_fd_ = -1;
  Finished result_;
  std::chrono::steady_clock::time_point start_;
};

class E2eTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  std::string Sample(const std::string& curve, const std::string& file) const { return std::string(PROOFLINE_TEST_DATA) + "/samples/" + curve + "/" + file; }
  std::map<std::string, std::string> Env() const;
  Process::Spec Spec(std::vector<std::string> args) const;  // of the program proofline
  Finished Run(std::vector<std::string> args) const { return Process(Spec(std::move(args))).Wait(); }
  Finished Shell(const std::string& script) const;  // bash, with "$PROOFLINE" as the program
  void Write(const std::string& name, const std::vector<uint8_t>& bytes) const;
  std::string Read(const std::string& name) const;
  bool Exists(const std::string& name) const { return std::filesystem::exists(Path(name)); }
  // Every process whose environment is this test's.
  std::vector<pid_t> OurProcesses() const;
  // What is in the runtime directory.
  std::vector<std::string> RuntimeEntries() const;
  template <class Predicate>
  static bool Eventually(Predicate predicate, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!predicate()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  void ExpectNothingLeft() const;

  std::string dir_;
};

// A stack of `proofline up`, ended with the test.
class StackTest : public E2eTest {
 protected:
  // Fails the test unless it says ready.
  void Up(std::vector<std::string> extra = {});
  Finished Down();  // SIGTERM, and its end
  void TearDown() override;
  Finished Cli(std::vector<std::string> args) const;  // with --state
  nlohmann::json Status() const;
  nlohmann::json Job(const std::string& id) const;
  pid_t WorkerPid(const std::string& role) const;  // "synth", "gpu"
  pid_t CoordinatorPid() const;
  std::string Submit(std::vector<std::string> args) const;  // the job's id
  std::string State() const { return Path("s"); }

  std::unique_ptr<Process> up_;
};

}  // namespace proofline::e2e
