#include "bench/process_tree.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace proofline::bench {
namespace {

ProcessRun RunShell(const std::string& script, bool sample_memory) {
  auto run = RunProgram({"/bin/sh", "-c", script}, sample_memory);
  EXPECT_TRUE(run.ok());
  return run.ok() ? *run : ProcessRun{};
}

TEST(RunProgram, TellsExitCodeAndStderr) {
  ProcessRun run = RunShell("echo wrong >&2; echo not this; exit 3", false);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.errors, "wrong\n");
  EXPECT_EQ(run.peak_pss_bytes, 0u);
}

TEST(RunProgram, TellsTheSignal) { EXPECT_EQ(RunShell("kill -9 $$", false).exit_code, 128 + 9); }

TEST(RunProgram, AProgramThatIsNotThereExits127) {
  auto run = RunProgram({"/no/such/program"}, false);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->exit_code, 127);
  EXPECT_NE(run->errors.find("/no/such/program"), std::string::npos);
}

TEST(RunProgram, TakesWallTime) {
  double seconds = RunShell("sleep 0.2", true).wall_seconds;
  EXPECT_GE(seconds, 0.2);
  EXPECT_LT(seconds, 5);
}

// dd holds its block in memory while it waits for the reader: 64 MiB in a grandchild, of which the shell itself has nothing.
TEST(RunProgram, CountsTheMemoryOfDescendants) {
  ProcessRun run = RunShell("dd if=/dev/zero bs=64M count=1 2>/dev/null | sleep 0.3", true);
  EXPECT_GE(run.peak_pss_bytes, 60u << 20);
  EXPECT_LT(run.peak_pss_bytes, 96u << 20);
  EXPECT_GE(run.peak_processes, 2);
}

// What is left over when the program ends is ended too, and does not delay it by its own life.
TEST(RunProgram, EndsOrphans) {
  auto started = std::chrono::steady_clock::now();
  ProcessRun run = RunShell("sleep 60 & exit 0", false);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_LT(run.wall_seconds, 5);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
}

}  // namespace
}  // namespace proofline::bench
