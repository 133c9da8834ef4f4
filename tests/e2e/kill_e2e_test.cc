// kill -9 and kill -STOP of every process at every role: jobs finish once, nothing is left.
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <set>

#include "tests/core/formats/forge.h"
#include "tests/e2e/harness.h"

namespace proofline::e2e {
namespace {

using nlohmann::json;

class KillTest : public StackTest {
 protected:
  void UpWithCircuit(std::vector<std::string> extra = {}) {
    ASSERT_NO_FATAL_FAILURE(Up(std::move(extra)));
    const Finished f = Cli({"circuit", "add", "many", "--key", Sample("bn128", "manypublic.zkey")});
    ASSERT_EQ(f.exit_code, 0) << f;
  }
  std::string SubmitMany(int partitions) const {
    std::vector<std::string> args{"--circuit", "many", "--witness"};
    args.insert(args.end(), partitions, Sample("bn128", "manypublic.wtns"));
    return Submit(args);
  }
  void ExpectAllProved(const std::string& job, int partitions) const {
    const Finished f = Cli({"wait", job, "--out", Path("out"), "--timeout", "90s"});
    ASSERT_EQ(f.exit_code, 0) << f;
    std::set<std::string> proofs;
    for (int i = 0; i < partitions; ++i) {
      const std::string folder = Path("out/" + std::to_string(i));
      EXPECT_EQ(Run({"verify", Sample("bn128", "manypublic.vk.json"), folder + "/public.json", folder + "/proof.json"}).exit_code, 0) << i;
      proofs.insert(Read(folder + "/proof.json"));
    }
    EXPECT_EQ(proofs.size(), static_cast<size_t>(partitions));
    json status = Status();
    EXPECT_EQ(status["partitions"]["accepted"], partitions);
    EXPECT_EQ(status["partitions"]["finished"], partitions) << status;
    // Given out once and for ever.
    ASSERT_EQ(Cli({"wait", job, "--out", Path("again")}).exit_code, 0);
    EXPECT_EQ(Read("out/0/proof.json"), Read("again/0/proof.json"));
  }
  // Stopped first, so that it surely has work when it is killed.
  void KillOverWork(const std::string& role, const std::string& state) {
    const pid_t pid = WorkerPid(role);
    ASSERT_GT(pid, 0);
    SendSignal(pid, SIGSTOP);
    const std::string job = SubmitMany(6);
    ASSERT_TRUE(Eventually([&] {
      json status = Status();
      for (const auto& slot : status["slots"])
        if (slot["state"] == state) return true;
      return false;
    })) << Status();
    SendSignal(pid, SIGKILL);
    ExpectAllProved(job, 6);
    EXPECT_NE(WorkerPid(role), pid);
    EXPECT_GE(Status()["workers_lost"].get<int>(), 1);
  }
};

TEST_F(KillTest, SynthesisWorkerKilledOverItsWork) {
  ASSERT_NO_FATAL_FAILURE(UpWithCircuit());
  KillOverWork("synth", "grant");
}

TEST_F(KillTest, GpuWorkerKilledOverItsWork) {
  ASSERT_NO_FATAL_FAILURE(UpWithCircuit());
  KillOverWork("gpu", "lease");
}

// Two owners of two devices: both work, and the death of one does not disturb the other.
TEST_F(KillTest, OneOfTwoOwnersKilledUnderLoad) {
  ASSERT_NO_FATAL_FAILURE(UpWithCircuit({"--device", "cpu", "--device", "cpu"}));
  // Pid and number of proofs of each live owner, by its ordinal.
  const auto owners = [&] {
    std::map<int, std::pair<pid_t, int>> out;
    json status = Status();
    for (const auto& worker : status["workers"])
      if (worker["role"] == "gpu" && worker["state"] != "lost") out[worker["ordinal"]] = {worker["pid"], worker["done"]};
    return out;
  };
  const std::string job = SubmitMany(80);
  ASSERT_TRUE(Eventually([&] {
    auto now = owners();
    return now.size() == 2 && now[0].second > 0 && now[1].second > 0;
  })) << Status();
  const auto before = owners();
  SendSignal(before.at(0).first, SIGKILL);
  ExpectAllProved(job, 80);
  const auto after = owners();
  ASSERT_EQ(after.size(), 2u);
  EXPECT_NE(after.at(0).first, before.at(0).first);
  EXPECT_EQ(after.at(1).first, before.at(1).first);
  EXPECT_GT(after.at(1).second, before.at(1).second);
  EXPECT_EQ(Status()["workers_lost"], 1);
}

TEST_F(KillTest, CoordinatorKilledWithWorkInFlight) {
  ASSERT_NO_FATAL_FAILURE(UpWithCircuit());
  const pid_t gpu = WorkerPid("gpu"), synth = WorkerPid("synth"), coordinator = CoordinatorPid();
  SendSignal(gpu, SIGSTOP);
  const std::string job = SubmitMany(6);
  SendSignal(coordinator, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return CoordinatorPid() > 0 && CoordinatorPid() != coordinator; }));
  SendSignal(gpu, SIGCONT);
  ExpectAllProved(job, 6);
  // Workers outlive their coordinator.
  EXPECT_EQ(WorkerPid("gpu"), gpu);
  EXPECT_EQ(WorkerPid("synth"), synth);
  EXPECT_GE(Status()["term"].get<int>(), 2);
}

TEST_F(KillTest, AClientThatWaitsDoesNotNoticeTheCoordinatorsDeath) {
  ASSERT_NO_FATAL_FAILURE(UpWithCircuit());
  const pid_t gpu = WorkerPid("gpu"), coordinator = CoordinatorPid();
  SendSignal(gpu, SIGSTOP);
  const std::string job = SubmitMany(2);
  Process wait(Spec({"wait", job, "--state", State(), "--timeout", "60s"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  SendSignal(coordinator, SIGKILL);
  SendSignal(gpu, SIGCONT);
  const Finished f = wait.Wait();
  EXPECT_EQ(f.exit_code, 0) << f;
}

TEST_F(KillTest, AClientThatWaitsIsToldAtOnceThatTheStackHasEnded) {
  ASSERT_NO_FATAL_FAILURE(UpWithCircuit());
  SendSignal(WorkerPid("gpu"), SIGSTOP);
  Process wait(Spec({"wait", SubmitMany(2), "--state", State(), "--timeout", "60s"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto start = std::chrono::steady_clock::now();
  up_->Signal(SIGKILL);
  const Finished f = wait.Wait();
  EXPECT_EQ(f.exit_code, 3) << f;
  EXPECT_NE(f.err.find("has ended"), std::string::npos) << f;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  up_->Wait();
  up_.reset();
  EXPECT_TRUE(Eventually([&] { return OurProcesses().empty(); })) << OurProcesses().size();
}

TEST_F(KillTest, EverythingKilledInTurnUnderLoad) {
  ASSERT_NO_FATAL_FAILURE(UpWithCircuit({"--synth", "2"}));
  const std::string job = SubmitMany(60);
  for (const std::string role : {"synth", "gpu", "coordinator", "synth", "gpu", "coordinator"}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    const pid_t pid = role == "coordinator" ? CoordinatorPid() : WorkerPid(role);
    if (pid > 0) SendSignal(pid, SIGKILL);
  }
  ExpectAllProved(job, 60);
}

TEST_F(KillTest, SigkillOfUpLeavesNoProcessAndTheNextOneGoesOn) {
  ASSERT_NO_FATAL_FAILURE(UpWithCircuit());
  const pid_t gpu = WorkerPid("gpu");
  SendSignal(gpu, SIGSTOP);
  const std::string job = SubmitMany(3);
  up_->Signal(SIGKILL);
  up_->Wait();
  up_.reset();
  EXPECT_TRUE(Eventually([&] { return OurProcesses().empty(); })) << OurProcesses().size();
  ASSERT_NO_FATAL_FAILURE(Up());
  ExpectAllProved(job, 3);
}

class KillProveTest : public E2eTest {
 protected:
  // Waits until the private stack's directory is there.
  std::unique_ptr<Process> StartProve(const std::string& env_name = "", const std::string& env_value = "") {
    Process::Spec spec = Spec({"prove", Sample("bn128", "manypublic.zkey"), Sample("bn128", "manypublic.wtns"), Path("proof.json"), Path("public.json")});
    if (!env_name.empty()) spec.env[env_name] = env_value;
    return std::make_unique<Process>(spec);
  }
  bool Stopped(const std::string& program) {
    // Stops a process of the private stack as soon as it is there.
    return Eventually([&] {
      for (pid_t pid : OurProcesses()) {
        std::error_code error;
        if (std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).filename() != program) continue;
        stopped_ = pid;
        return SendSignal(pid, SIGSTOP);
      }
      return false;
    });
  }
  void ExpectNoOutputFiles() const {
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) EXPECT_EQ(entry.path().filename(), "rt");
  }
  pid_t stopped_ = -1;
};

TEST_F(KillProveTest, SignalsToProveLeaveNothing) {
  for (int number : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) {
    auto prove = StartProve();
    ASSERT_TRUE(Stopped("proofline-gpu-worker"));
    prove->Signal(number);
    const Finished f = prove->Wait();
    EXPECT_EQ(f.signal, number) << f;
    EXPECT_TRUE(Eventually([&] { return OurProcesses().empty() && RuntimeEntries().empty(); })) << number << " left " << OurProcesses().size() << " processes and " << ::testing::PrintToString(RuntimeEntries());
    ExpectNoOutputFiles();
  }
}

TEST_F(KillProveTest, APrivateStackSurvivesTheDeathOfItsProcesses) {
  for (const std::string program : {"proofline-synth-worker", "proofline-gpu-worker", "proofline-coordinator"}) {
    auto prove = StartProve();
    ASSERT_TRUE(Stopped(program)) << program;
    SendSignal(stopped_, SIGKILL);
    const Finished f = prove->Wait();
    EXPECT_EQ(f.exit_code, 0) << program << f;
    EXPECT_EQ(Run({"verify", Sample("bn128", "manypublic.vk.json"), Path("public.json"), Path("proof.json")}).exit_code, 0) << program;
  }
}

TEST_F(KillProveTest, AStoppedCoordinatorOfAPrivateStackIsReplaced) {
  auto prove = StartProve();
  ASSERT_TRUE(Stopped("proofline-coordinator"));
  const Finished f = prove->Wait();
  EXPECT_EQ(f.exit_code, 0) << f;
  EXPECT_EQ(Run({"verify", Sample("bn128", "manypublic.vk.json"), Path("public.json"), Path("proof.json")}).exit_code, 0);
}

}  // namespace
}  // namespace proofline::e2e
