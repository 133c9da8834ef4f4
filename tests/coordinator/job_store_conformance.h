// What every JobStore must do. Instantiate with a factory: Open() gives a store over the same journal each time (closing the last one first).
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "coordinator/job_store.h"

namespace proofline::coordinator {

class JournalUnderTest {
 public:
  virtual ~JournalUnderTest() = default;
  virtual Result<std::unique_ptr<JobStore>> Open() = 0;
};
using JournalFactory = std::unique_ptr<JournalUnderTest> (*)();

inline JobRecord MakeJob(uint64_t id, uint32_t parts, std::string name = {}) {
  JobRecord job;
  job.id = id;
  job.name = name.empty() ? "j" + std::to_string(id) : name;
  job.circuit = 3;
  job.circuit_name = "mult";
  job.priority = wire::PRIORITY_HIGH;
  job.partition_count = parts;
  job.created_unix_ms = 1000;
  job.deadline_unix_ms = 2000;
  job.content_mac = std::string("\0mac\xff", 5);
  return job;
}

class JobStoreConformance : public testing::TestWithParam<JournalFactory> {
 protected:
  void SetUp() override {
    journal_ = GetParam()();
    Reopen();
  }
  void Reopen() {
    store_.reset();
    auto opened = journal_->Open();
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
  }
  void Must(std::vector<JournalOp> ops) {
    const Status status = store_->Apply(ops);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  ErrorCode Try(std::vector<JournalOp> ops) { return store_->Apply(ops).code(); }

  std::unique_ptr<JournalUnderTest> journal_;
  std::unique_ptr<JobStore> store_;
};

TEST_P(JobStoreConformance, ATermForEachOpeningAndOneSecret) {
  const uint64_t term = store_->term();
  const auto secret = store_->content_secret();
  EXPECT_NE(secret, (std::array<uint8_t, 32>{}));
  Reopen();
  EXPECT_EQ(store_->term(), term + 1);
  EXPECT_EQ(store_->content_secret(), secret);
}

TEST_P(JobStoreConformance, JobNumbersAreReserved) {
  EXPECT_EQ(store_->first_free_job_number(), 1u);
  Must({ReserveJobNumbers{257}});
  Reopen();
  EXPECT_EQ(store_->first_free_job_number(), 257u);
}

TEST_P(JobStoreConformance, AnAcceptedJobComesBackWhole) {
  Must({AcceptJob{MakeJob(5, 3)}});
  Reopen();
  const auto live = store_->LoadLiveJobs();
  ASSERT_TRUE(live.ok());
  ASSERT_EQ(live->size(), 1u);
  const JobRecord& job = live->front().job;
  EXPECT_EQ(job.id, 5u);
  EXPECT_EQ(job.name, "j5");
  EXPECT_EQ(job.circuit, 3u);
  EXPECT_EQ(job.circuit_name, "mult");
  EXPECT_EQ(job.priority, wire::PRIORITY_HIGH);
  EXPECT_EQ(job.created_unix_ms, 1000);
  EXPECT_EQ(job.deadline_unix_ms, 2000);
  EXPECT_EQ(job.content_mac, std::string("\0mac\xff", 5));
  EXPECT_EQ(job.state, JobState::kQueued);
  ASSERT_EQ(live->front().parts.size(), 3u);
  EXPECT_EQ(live->front().parts[2].index, 2u);
  EXPECT_EQ(live->front().parts[2].attempt, 0u);
}

TEST_P(JobStoreConformance, ANameIsTakenOnce) {
  Must({AcceptJob{MakeJob(1, 1, "mine")}});
  EXPECT_EQ(Try({AcceptJob{MakeJob(2, 1, "mine")}}), ErrorCode::kConflict);
  EXPECT_EQ(Try({AcceptJob{MakeJob(1, 1, "other")}}), ErrorCode::kConflict);
  EXPECT_TRUE(store_->FindJobByName("mine")->has_value());
  EXPECT_FALSE(store_->FindJobByName("other")->has_value());
}

TEST_P(JobStoreConformance, AttemptsAreFencingTokens) {
  Must({AcceptJob{MakeJob(1, 1)}});
  EXPECT_EQ(Try({BeginAttempt{1, 0, 2}}), ErrorCode::kConflict) << "attempts go up by one";
  Must({BeginAttempt{1, 0, 1}});
  EXPECT_EQ(Try({BeginAttempt{1, 0, 1}}), ErrorCode::kConflict);
  EXPECT_EQ(Try({CommitResult{1, 0, 0, "early", ""}}), ErrorCode::kConflict);
  Must({BeginAttempt{1, 0, 2}});
  EXPECT_EQ(Try({CommitResult{1, 0, 1, "late", ""}}), ErrorCode::kConflict) << "only the current attempt commits";
  EXPECT_FALSE(store_->LoadResult(1, 0)->has_value());
  Must({CommitResult{1, 0, 2, std::string("a\0b", 3), "stages"}});
  EXPECT_EQ(Try({CommitResult{1, 0, 2, "again", ""}}), ErrorCode::kConflict) << "one result, the first";
  EXPECT_EQ(Try({BeginAttempt{1, 0, 3}}), ErrorCode::kConflict) << "it has ended";
  Reopen();
  EXPECT_EQ(store_->LoadResult(1, 0)->value(), std::string("a\0b", 3));
  const auto job = store_->FindJob(1);
  EXPECT_EQ((*job)->parts[0].state, JobState::kDone);
  EXPECT_EQ((*job)->parts[0].stages, "stages");
  EXPECT_EQ((*job)->job.state, JobState::kRunning);
}

TEST_P(JobStoreConformance, ABatchIsAllOrNothing) {
  Must({AcceptJob{MakeJob(1, 2)}});
  EXPECT_EQ(Try({AcceptJob{MakeJob(2, 1)}, BeginAttempt{1, 0, 1}, BeginAttempt{1, 1, 7}}), ErrorCode::kConflict);
  EXPECT_FALSE(store_->FindJob(2)->has_value());
  Must({BeginAttempt{1, 0, 1}});
}

TEST_P(JobStoreConformance, FailuresAndEndsAreKept) {
  Must({AcceptJob{MakeJob(1, 2)}, BeginAttempt{1, 0, 1}, RecordFailure{1, 0, 1, "attempt 1: died\n"}});
  Must({EndPart{1, 0, JobState::kFailed, 2, {ErrorCode::kMismatch, "fact", "detail", "remedy"}, "st"}, EndPart{1, 1, JobState::kCancelled, 0, {ErrorCode::kCancelled, "c", "", ""}, ""}});
  EXPECT_EQ(Try({EndPart{1, 0, JobState::kFailed, 2, {}, ""}}), ErrorCode::kConflict);
  Must({RequestCancel{1}, EndJob{1, JobState::kFailed, 1234}});
  EXPECT_EQ(Try({EndJob{1, JobState::kDone, 1}}), ErrorCode::kConflict);
  Reopen();
  EXPECT_TRUE(store_->LoadLiveJobs()->empty());
  const auto found = store_->FindJobByName("j1");
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->job.ended_unix_ms, 1234);
  EXPECT_EQ((*found)->job.state, JobState::kFailed);
  EXPECT_TRUE((*found)->job.cancel_requested);
  const PartRecord& part = (*found)->parts[0];
  EXPECT_EQ(part.failures, 2u);
  EXPECT_EQ(part.causes, "attempt 1: died\n");
  ASSERT_TRUE(part.error.has_value());
  EXPECT_EQ(part.error->code, ErrorCode::kMismatch);
  EXPECT_EQ(part.error->remedy, "remedy");
}

TEST_P(JobStoreConformance, CircuitsComeBack) {
  wire::Circuit circuit;
  circuit.set_id(4);
  circuit.set_name("mult");
  circuit.set_key_path("/keys/\xff.zkey");
  Must({PutCircuit{circuit}});
  circuit.set_id(5);
  EXPECT_EQ(Try({PutCircuit{circuit}}), ErrorCode::kConflict);
  circuit.set_id(4);
  circuit.set_name("other");
  EXPECT_EQ(Try({PutCircuit{circuit}}), ErrorCode::kConflict);
  Reopen();
  auto circuits = store_->LoadCircuits();
  ASSERT_EQ(circuits->size(), 1u);
  EXPECT_EQ(circuits->front().name(), "mult");
  EXPECT_EQ(circuits->front().key_path(), "/keys/\xff.zkey");
  circuit.set_name("mult");
  circuit.set_key_path("/elsewhere.zkey");
  Must({PutCircuit{circuit}});
  Reopen();
  circuits = store_->LoadCircuits();
  ASSERT_EQ(circuits->size(), 1u);
  EXPECT_EQ(circuits->front().key_path(), "/elsewhere.zkey");
  Must({RemoveCircuit{4}});
  EXPECT_EQ(Try({RemoveCircuit{4}}), ErrorCode::kConflict);
  EXPECT_TRUE(store_->LoadCircuits()->empty());
}

TEST_P(JobStoreConformance, WorkersComeBack) {
  Must({PutWorker{{~uint64_t{0} - 1, 7, 1234, 99}}, PutWorker{{5, 8, 1235, 100}}, RemoveWorker{8}});
  Reopen();
  const auto workers = store_->LoadWorkers();
  ASSERT_EQ(workers->size(), 1u);
  EXPECT_EQ(workers->front().generation, ~uint64_t{0} - 1);
  EXPECT_EQ(workers->front().instance, 7u);
  EXPECT_EQ(workers->front().pid, 1234);
  EXPECT_EQ(workers->front().start_ticks, 99u);
}

TEST_P(JobStoreConformance, PruningKeepsTheTotals) {
  for (uint64_t id = 1; id <= 3; ++id) {
    Must({AcceptJob{MakeJob(id, 2)}, BeginAttempt{id, 0, 1}, CommitResult{id, 0, 1, "r", ""},
          EndPart{id, 1, JobState::kFailed, 0, {}, ""}, EndJob{id, JobState::kFailed, static_cast<int64_t>(id) * 100}});
  }
  Must({AcceptJob{MakeJob(9, 1)}});
  EXPECT_EQ(*store_->Prune(250, 1), 1u);
  EXPECT_EQ(*store_->Prune(250, 10), 1u);
  EXPECT_EQ(*store_->Prune(250, 10), 0u);
  EXPECT_FALSE(store_->FindJob(1)->has_value());
  EXPECT_FALSE(store_->LoadResult(2, 0)->has_value());
  EXPECT_TRUE(store_->FindJob(3)->has_value());
  EXPECT_TRUE(store_->FindJob(9)->has_value());
  Reopen();
  EXPECT_EQ(store_->CountEndedJobs()->failed, 3u);
  EXPECT_EQ(store_->CountEndedPartitions()->done, 3u);
  EXPECT_EQ(store_->CountEndedPartitions()->failed, 3u);
  EXPECT_EQ(store_->LoadLiveJobs()->size(), 1u);
}

}  // namespace proofline::coordinator
