// The supervisor against small programs that speak the protocol through libsystemd.
#include "cli/supervisor.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace proofline::cli {
namespace {

using namespace std::chrono_literals;

class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/supervisor-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string File(const std::string& name) const { return dir_ + "/" + name; }
  std::string Read(const std::string& name) const {
    std::ifstream in(File(name));
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  int Lines(const std::string& name) const {
    const std::string text = Read(name);
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }
  template <class Predicate>
  bool Eventually(Predicate predicate, std::chrono::milliseconds limit = 10s) const {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!predicate()) {
      if (std::chrono::steady_clock::now() > end) return false;
      usleep(2000);
    }
    return true;
  }
  ProgramSpec Fake(std::vector<std::string> steps) const {
    ProgramSpec spec;
    spec.name = "fake";
    spec.child.path = FAKE_CHILD;
    spec.child.args = std::move(steps);
    return spec;
  }
  SupervisorOptions Options(std::vector<ProgramSpec> programs) const {
    SupervisorOptions options;
    options.notify_path = File("notify");
    options.programs = std::move(programs);
    options.output = SupervisorOptions::Output::kKeep;
    return options;
  }

  std::string dir_;
};

bool Alive(pid_t pid) { return pid > 1 && kill(pid, 0) == 0; }

// Never kill(-1): that would be every process of the machine.
void Kill(pid_t pid) {
  ASSERT_GT(pid, 1);
  kill(pid, SIGKILL);
}

TEST_F(SupervisorTest, ReadyWhenAllAreReady) {
  auto supervisor = Supervisor::Start(Options({Fake({"ready", "sleep"}), Fake({"ready", "sleep"})}));
  ASSERT_TRUE(supervisor.ok()) << supervisor.status().ToString();
  EXPECT_TRUE((*supervisor)->WaitReady(10s).ok());
  const auto programs = (*supervisor)->programs();
  ASSERT_EQ(programs.size(), 2u);
  for (const auto& p : programs) EXPECT_TRUE(p.ready && Alive(p.pid));
  (*supervisor)->Stop(5s);
  for (const auto& p : programs) EXPECT_FALSE(Alive(p.pid));
}

TEST_F(SupervisorTest, NotReadyNamesWhoIsMissing) {
  ProgramSpec slow = Fake({"sleep"});
  slow.name = "slow one";
  auto supervisor = Supervisor::Start(Options({Fake({"ready", "sleep"}), slow}));
  ASSERT_TRUE(supervisor.ok());
  const Status status = (*supervisor)->WaitReady(200ms);
  EXPECT_EQ(status.code(), ErrorCode::kTimeout);
  EXPECT_NE(status.ToString().find("not ready: slow one"), std::string::npos) << status.ToString();
}

TEST_F(SupervisorTest, AProgramThatCannotBeStartedFailsTheStart) {
  ProgramSpec absent = Fake({});
  absent.child.path = "/nonexistent/program";
  auto supervisor = Supervisor::Start(Options({Fake({"note", File("pid"), "sleep"}), absent}));
  ASSERT_FALSE(supervisor.ok());
  EXPECT_NE(supervisor.status().ToString().find("/nonexistent/program"), std::string::npos);
  if (Lines("pid") > 0) {
    EXPECT_FALSE(Alive(std::stoi(Read("pid"))));
  }
}

TEST_F(SupervisorTest, RestartsWhatDiesAndGivesBackTheStoredDescriptors) {
  ProgramSpec coordinator = Fake({"note", File("starts"), "dump", "slots", File("content"), "store", "slots", "hello", "ready", "sleep"});
  coordinator.stores_fds = true;
  SupervisorOptions options = Options({coordinator});
  options.sockets.emplace_back("front", UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)));
  auto supervisor = Supervisor::Start(std::move(options));
  ASSERT_TRUE(supervisor.ok());
  ASSERT_TRUE((*supervisor)->WaitReady(10s).ok());
  const pid_t first = (*supervisor)->programs()[0].pid;
  Kill(first);
  ASSERT_TRUE(Eventually([&] { return Lines("starts") == 2 && (*supervisor)->programs()[0].ready; }));
  EXPECT_EQ((*supervisor)->programs()[0].restarts, 1);
  EXPECT_EQ(Read("content"), "hello\n");
  const std::string starts = Read("starts");
  EXPECT_NE(starts.find(" front\n"), std::string::npos) << starts;        // the first start has the socket only
  EXPECT_NE(starts.find(" front:slots\n"), std::string::npos) << starts;  // the second one what was stored as well
}

TEST_F(SupervisorTest, RemovedDescriptorsDoNotComeBack) {
  ProgramSpec coordinator = Fake({"note", File("starts"), "store", "a", "x", "store", "b", "y", "unstore", "a", "ready", "sleep"});
  coordinator.stores_fds = true;
  auto supervisor = Supervisor::Start(Options({coordinator}));
  ASSERT_TRUE(supervisor.ok());
  ASSERT_TRUE((*supervisor)->WaitReady(10s).ok());
  Kill((*supervisor)->programs()[0].pid);
  ASSERT_TRUE(Eventually([&] { return Lines("starts") == 2; }));
  EXPECT_NE(Read("starts").find(" b\n"), std::string::npos) << Read("starts");
}

TEST_F(SupervisorTest, OthersMayNotStore) {
  ProgramSpec worker = Fake({"note", File("starts"), "store", "slots", "x", "ready", "sleep"});
  auto supervisor = Supervisor::Start(Options({worker}));
  ASSERT_TRUE(supervisor.ok());
  ASSERT_TRUE((*supervisor)->WaitReady(10s).ok());
  Kill((*supervisor)->programs()[0].pid);
  ASSERT_TRUE(Eventually([&] { return Lines("starts") == 2; }));
  EXPECT_EQ(Read("starts").find("slots"), std::string::npos);
}

TEST_F(SupervisorTest, FinalExitCodesAreNotRestarted) {
  for (const char* code : {"64", "71", "72"}) {
    std::filesystem::remove(File("notify"));
    std::filesystem::remove(File("starts"));
    auto supervisor = Supervisor::Start(Options({Fake({"note", File("starts"), "say", "no such device", "exit", code})}));
    ASSERT_TRUE(supervisor.ok());
    const Status status = (*supervisor)->WaitReady(10s);
    EXPECT_EQ(status.code(), ErrorCode::kUnavailable);
    EXPECT_NE(status.ToString().find(std::string("exit code ") + code), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find("no such device"), std::string::npos) << status.ToString();
    EXPECT_TRUE((*supervisor)->failed());
    pollfd fd{(*supervisor)->failure_fd(), POLLIN, 0};
    EXPECT_EQ(poll(&fd, 1, 0), 1);
    usleep(100'000);
    EXPECT_EQ(Lines("starts"), 1);
  }
}

TEST_F(SupervisorTest, AProgramThatNeverGetsReadyFailsTheStack) {
  SupervisorOptions options = Options({Fake({"note", File("starts"), "exit", "1"})});
  options.early_deaths_allowed = 3;
  auto supervisor = Supervisor::Start(std::move(options));
  ASSERT_TRUE(supervisor.ok());
  EXPECT_EQ((*supervisor)->WaitReady(10s).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(Lines("starts"), 3);
}

TEST_F(SupervisorTest, AnEarlyDeathIsTriedAgain) {
  auto supervisor = Supervisor::Start(Options({Fake({"once", File("first"), "kill", "9", "ready", "sleep"})}));
  ASSERT_TRUE(supervisor.ok());
  EXPECT_TRUE((*supervisor)->WaitReady(10s).ok());
}

TEST_F(SupervisorTest, AMissedWatchdogKillsAndAKeptOneDoesNot) {
  ProgramSpec silent = Fake({"note", File("silent"), "ready", "sleep"}), good = Fake({"note", File("good"), "ready", "ping"});
  silent.watchdog = good.watchdog = 400ms;
  auto supervisor = Supervisor::Start(Options({silent, good}));
  ASSERT_TRUE(supervisor.ok());
  ASSERT_TRUE(Eventually([&] { return Lines("silent") >= 2; }));
  EXPECT_EQ(Lines("good"), 1);
}

TEST_F(SupervisorTest, StopKillsTheStubbornAndTheirChildren) {
  auto supervisor = Supervisor::Start(Options({Fake({"spawn", File("grandchild"), "ready", "stubborn"})}));
  ASSERT_TRUE(supervisor.ok());
  ASSERT_TRUE((*supervisor)->WaitReady(10s).ok());
  const pid_t child = (*supervisor)->programs()[0].pid, grandchild = std::stoi(Read("grandchild"));
  const auto begin = std::chrono::steady_clock::now();
  (*supervisor)->Stop(200ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_FALSE(Alive(child));
  // Re-parented; whoever adopted it has to reap it, so a zombie counts as gone.
  EXPECT_TRUE(Eventually([&] {
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    return text.empty() || text.find(") Z ") != std::string::npos;
  }));
}

TEST_F(SupervisorTest, SigkillOfTheSupervisorTakesTheChildren) {
  const pid_t owner = fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    auto supervisor = Supervisor::Start(Options({Fake({"note", File("pid"), "ready", "stubborn"})}));
    if (!supervisor.ok() || !(*supervisor)->WaitReady(10s).ok()) _exit(1);
    std::ofstream(File("up")) << "x";
    for (;;) pause();
  }
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(File("up")); }));
  const pid_t child = std::stoi(Read("pid"));
  EXPECT_TRUE(Alive(child));
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that the child's end can be seen here
  Kill(owner);
  waitpid(owner, nullptr, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(SupervisorTest, ChildrenGetCleanSignalsAndNoStrayDescriptors) {
  ProgramSpec spec;
  spec.name = "sh";
  spec.child.path = "/bin/sh";
  spec.child.args = {"-c", "ls -l /proc/$$/fd > " + File("fds") + "; grep -E 'Sig(Blk|Ign)' /proc/self/status > " + File("signals") + "; exec sleep 100"};
  UniqueFd leak(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  auto supervisor = Supervisor::Start(Options({spec}));
  ASSERT_TRUE(supervisor.ok());
  ASSERT_TRUE(Eventually([&] { return Lines("signals") == 2; }));
  const std::string fds = Read("fds");
  EXPECT_EQ(fds.find("passwd"), std::string::npos) << fds;
  EXPECT_EQ(fds.find("socket"), std::string::npos) << fds;
  EXPECT_NE(Read("signals").find("SigBlk:\t0000000000000000"), std::string::npos) << Read("signals");
  EXPECT_NE(Read("signals").find("SigIgn:\t0000000000000000"), std::string::npos) << Read("signals");
}

}  // namespace
}  // namespace proofline::cli
