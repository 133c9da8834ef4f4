// What goes to people and programs: proofs as files, jobs and stacks as JSON.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <unistd.h>

#include "cli/output_paths.h"
#include "cli/proof_output.h"
#include "cli/view.h"

namespace proofline::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::set<std::string> Keys(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

class ProofOutputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/proof-output-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override { fs::remove_all(dir_); }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  size_t Files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(dir_), fs::directory_iterator())); }
  std::string dir_;
};

TEST_F(ProofOutputTest, WritesAllOrNothing) {
  EXPECT_TRUE(WriteProofFiles({Path("p"), Path("q"), Path("c")}, {}).ok());
  EXPECT_EQ(Files(), 3u);
  for (const ProofPaths& paths : {ProofPaths{Path("a"), Path("no/b"), ""}, ProofPaths{Path("a"), "/dev/full", ""}, ProofPaths{"/dev/full", Path("a"), ""},
                                  ProofPaths{Path("a"), Path("b"), "/dev/full"}}) {
    EXPECT_FALSE(WriteProofFiles(paths, {}).ok());
    EXPECT_EQ(Files(), 3u);
  }
}

TEST_F(ProofOutputTest, ChecksWithoutLeavingAnything) {
  EXPECT_TRUE(CheckOutputs({Path("p"), Path("q"), ""}, {"/etc/passwd"}).ok());
  EXPECT_TRUE(CheckOutputs({"/dev/null", "/dev/null", ""}, {}).ok());
  EXPECT_EQ(CheckOutputs({Path("p"), Path("x/../p"), ""}, {}).code(), ErrorCode::kUsage);
  EXPECT_EQ(CheckOutputs({Path("p"), Path("q"), Path("q")}, {}).code(), ErrorCode::kUsage);
  EXPECT_EQ(CheckOutputs({Path("p"), Path("no/q"), ""}, {}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Files(), 0u);
  std::ofstream(Path("key")) << "x";
  fs::create_symlink(Path("key"), Path("link"));
  EXPECT_EQ(CheckOutputs({Path("link"), Path("q"), ""}, {Path("key")}).code(), ErrorCode::kUsage);
}

TEST_F(ProofOutputTest, OneFileUnderTwoNames) {
  const std::string from = fs::current_path();
  ASSERT_EQ(chdir(dir_.c_str()), 0);
  fs::create_directory("d");
  fs::create_directory_symlink("d", "e");
  std::ofstream("key") << "x";
  std::ofstream("other") << "x";
  fs::create_symlink("key", "link");
  fs::create_hard_link("key", "hard");
  fs::create_symlink("p", "nowhere");
  const std::pair<std::string, std::string> same[] = {{"p", "p"}, {"p", "./p"}, {"./p", "p"}, {"p", "d/../p"}, {"p", Path("p")}, {"p", ".//p"}, {"d/p", "e/p"}, {"d/p", "./e/../d/p"},
                                                      {"key", "./key"}, {"key", "link"}, {"hard", "link"}, {"key", Path("d/../key")}};
  const std::pair<std::string, std::string> different[] = {{"p", "q"}, {"p", "d/p"}, {"key", "other"}, {"key", "d/key"}, {"p", "nowhere"}, {"", ""}, {"/dev/null", "/dev/null"}, {"p", "P"}};
  for (const auto& [a, b] : same) {
    EXPECT_EQ(CheckOutputPaths({a, b}, {}).code(), ErrorCode::kUsage) << a << " " << b;
    EXPECT_EQ(CheckOutputPaths({"x", a}, {"y", b}).code(), ErrorCode::kUsage) << a << " " << b;
  }
  for (const auto& [a, b] : different) {
    EXPECT_TRUE(CheckOutputPaths({a, b}, {}).ok()) << a << " " << b;
    EXPECT_TRUE(CheckOutputPaths({a}, {b}).ok()) << a << " " << b;
  }
  EXPECT_TRUE(CheckOutputPaths({"p"}, {"key", "./key"}).ok());  // one input given twice
  ASSERT_EQ(chdir(from.c_str()), 0);
}

TEST(View, JobsKeepTheirShape) {
  wire::JobView job;
  job.set_job_name("j1");
  job.set_state(wire::JOB_FAILED);
  job.set_partition_count(1);
  auto& part = *job.add_partitions();
  part.set_state(wire::JOB_FAILED);
  part.mutable_error()->set_code(static_cast<uint32_t>(ErrorCode::kUnsatisfied));
  part.mutable_error()->set_fact("bad \xff byte");  // no UTF-8
  part.add_stages()->set_stage("rows");
  const json parsed = json::parse(JobJson(job));
  EXPECT_EQ(Keys(parsed), (std::set<std::string>{"job", "state", "circuit", "priority", "created", "ended", "partition_count", "partitions"}));
  EXPECT_TRUE(parsed["ended"].is_null());
  const json& p = parsed["partitions"][0];
  EXPECT_EQ(Keys(p), (std::set<std::string>{"partition", "state", "attempt", "stages", "error"}));
  EXPECT_EQ(Keys(p["stages"][0]), (std::set<std::string>{"stage", "queue_ns", "work_ns"}));
  EXPECT_EQ(p["error"]["code"], "unsatisfied");
}

TEST(View, StacksAndCircuitsKeepTheirShape) {
  wire::StackStatus stack;
  stack.add_workers()->set_role(wire::ROLE_GPU);
  stack.add_slots();
  const json parsed = json::parse(StackJson(stack));
  EXPECT_EQ(Keys(parsed), (std::set<std::string>{"version", "term", "started", "jobs", "partitions", "queued_synth", "queued_gpu", "retries", "proofs_refused", "workers_lost",
                                                 "circuits", "slot_bytes", "workers", "slots"}));
  EXPECT_EQ(Keys(parsed["jobs"]), (std::set<std::string>{"accepted", "finished", "failed", "cancelled", "live"}));
  EXPECT_EQ(parsed["workers"][0]["role"], "gpu");
  wire::Circuit circuit;
  circuit.set_curve(2);
  circuit.set_log2_domain(5);
  const json shown = json::parse(CircuitJson(circuit));
  EXPECT_EQ(shown["curve"], "bls12381");
  EXPECT_EQ(shown["domain"], 32);
  EXPECT_EQ(Keys(shown), (std::set<std::string>{"name", "curve", "variables", "public", "domain", "coefficients", "key", "key_bytes", "key_sha256", "r1cs", "unsafe", "known_secret", "added"}));
}

TEST(View, PrioritiesRoundTrip) {
  for (const char* name : {"critical", "high", "normal", "low"}) {
    const auto priority = ParsePriority(name);
    ASSERT_TRUE(priority.ok());
    EXPECT_EQ(PriorityName(*priority), name);
  }
  EXPECT_EQ(ParsePriority("HIGH").status().code(), ErrorCode::kUsage);
}

}  // namespace
}  // namespace proofline::cli
