// Workers that die, hang, stay silent or repeat themselves, in each state of a slot; coordinators that are killed.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "stack_under_test.h"

namespace proofline::coordinator {
namespace {

TEST_F(StackTest, LostDoorbellsCostOnlyTime) {
  StartCoordinator();
  StartWorkers("mute", "mute");
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ack = client().Submit("mult", {'a', 'b'});
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok()) << CoordinatorLog();
  EXPECT_EQ(view->state(), wire::JOB_DONE);
  for (const auto& part : view->partitions()) EXPECT_EQ(part.attempt(), 1u);
  ExpectAllFree();
}

TEST_F(StackTest, DoubledMessagesChangeNothing) {
  StartCoordinator();
  StartWorkers("twice", "twice");
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ack = client().Submit("mult", {'a', 'b', 'c'});
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->state(), wire::JOB_DONE);
  ExpectAllFree();
  EXPECT_EQ(client().GetStatus().partitions().finished(), 3u);
}

struct DeathCase {
  const char* role;
  const char* behaviour;
  uint32_t attempts;  // of the partition in the end
};

class DeathTest : public StackTest, public testing::WithParamInterface<DeathCase> {};

TEST_P(DeathTest, AWorkersDeathIsFollowedByAnother) {
  if (std::string(GetParam().behaviour) == "stop") suspect_ms_ = 3000;
  StartCoordinator();
  const bool synth = std::string(GetParam().role) == "synth";
  Process doomed = StartWorker(GetParam().role, GetParam().behaviour);
  workers_.push_back(StartWorker(synth ? "gpu" : "synth"));
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ack = client().Submit("mult", {'x'});
  ASSERT_TRUE(ack.ok());
  EXPECT_EQ(doomed.WaitForEnd(15'000), 128 + SIGKILL);
  workers_.push_back(StartWorker(GetParam().role));
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok()) << view.status().ToString() << CoordinatorLog();
  ASSERT_EQ(view->state(), wire::JOB_DONE) << CoordinatorLog();
  EXPECT_EQ(view->partitions(0).attempt(), GetParam().attempts);
  ExpectResult(client(), ack->job(), 0, 'x');
  ExpectAllFree();
  ExpectBalance();
  EXPECT_EQ(client().GetStatus().workers_lost(), 1u);
}

std::string DeathName(const testing::TestParamInfo<DeathCase>& death) {
  std::string name = std::string(death.param.role) + "_" + death.param.behaviour;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryState, DeathTest,
                         testing::Values(DeathCase{"synth", "die:before", 2}, DeathCase{"synth", "die:half", 2}, DeathCase{"synth", "die:after", 1},
                                         DeathCase{"synth", "stop", 2}, DeathCase{"gpu", "die:before", 2}, DeathCase{"gpu", "die:half", 2},
                                         DeathCase{"gpu", "die:after", 1}, DeathCase{"gpu", "stop", 2}),
                         &DeathName);

TEST_F(StackTest, ThreeDeathsFailThePartitionWithTheirCauses) {
  StartCoordinator();
  workers_.push_back(StartWorker("gpu"));
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ack = client().Submit("mult", {'x'});
  for (int i = 0; i < 3; ++i) {
    // The first is followed by one that only gets to wipe after the last one's death: the killer takes the partition once more.
    Process doomed = StartWorker("synth", "die:half");
    ASSERT_EQ(doomed.WaitForEnd(10'000), 128 + SIGKILL) << CoordinatorLog();
  }
  workers_.push_back(StartWorker("synth"));
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->state(), wire::JOB_FAILED);
  EXPECT_EQ(view->partitions(0).error().code(), static_cast<uint32_t>(ErrorCode::kCrashed));
  EXPECT_NE(view->partitions(0).error().detail().find("attempt 3"), std::string::npos);
  ExpectAllFree();
  ExpectBalance();
}

TEST_F(StackTest, ACoordinatorThatIsKilledLosesNothingAndItsWorkersStay) {
  with_manager_ = true;
  StartCoordinator({"--slot-count", "6"});
  StartWorkers("slow:30", "slow:30");
  workers_.push_back(StartWorker("synth", "slow:30"));
  ASSERT_TRUE(client().AddCircuit().ok());
  std::vector<char> fills;
  for (int i = 0; i < 24; ++i) fills.push_back(static_cast<char>('a' + i));
  const auto ack = client().Submit("mult", fills);
  ASSERT_TRUE(ack.ok());
  for (int i = 0; i < 6; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    coordinator_.Kill();
    manager_->Receive();
    RestartCoordinator();
  }
  const auto view = client().Wait(ack->job_name(), 40'000);
  ASSERT_TRUE(view.ok()) << view.status().ToString() << CoordinatorLog();
  EXPECT_EQ(view->state(), wire::JOB_DONE);
  // A kill between the journal and the grant spends an attempt that nobody works on, one at most for each of the three workers.
  uint32_t spent = 0;
  for (const auto& part : view->partitions()) {
    spent += part.attempt() - 1;
    const std::string done_twice = "\"partition\":" + std::to_string(part.partition()) + ",\"attempt\":1,\"stage\":\"gpu\",\"outcome\":\"ok\"";
    if (part.attempt() == 1) continue;
    EXPECT_EQ(CoordinatorLog().find(done_twice), std::string::npos) << CoordinatorLog();
  }
  EXPECT_LE(spent, 6u) << CoordinatorLog();
  for (uint32_t i = 0; i < fills.size(); ++i) ExpectResult(client(), ack->job(), i, fills[i]);
  for (Process& worker : workers_) EXPECT_TRUE(worker.Runs());
  ExpectAllFree();
  EXPECT_EQ(client().GetStatus().term(), 7u);
  EXPECT_EQ(client().GetStatus().workers_size(), 3);
  ExpectBalance();
}

TEST_F(StackTest, WithoutItsSlotsTheJournalDecides) {
  StartCoordinator();
  StartWorkers("", "slow:100000");
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ack = client().Submit("mult", {'a', 'b'});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  coordinator_.Kill();
  RestartCoordinator();  // a new table: the old workers end by themselves
  for (Process& worker : workers_) EXPECT_EQ(worker.WaitForEnd(10'000), 0) << CoordinatorLog();
  workers_.clear();
  StartWorkers();
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok()) << CoordinatorLog();
  EXPECT_EQ(view->state(), wire::JOB_DONE);
  ExpectResult(client(), ack->job(), 1, 'b');
  ExpectBalance();
}

}  // namespace
}  // namespace proofline::coordinator
