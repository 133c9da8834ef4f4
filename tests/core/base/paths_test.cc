#include "core/base/paths.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace proofline {
namespace {

class PathsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"STATE_DIRECTORY", "RUNTIME_DIRECTORY", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"}) unsetenv(name);
    setenv("HOME", "/home/prover", 1);
  }
};

TEST_F(PathsTest, TheServicesSocketsAreInRun) {
  const auto paths = ResolvePaths("/var/lib/proofline/");
  ASSERT_TRUE(paths.ok());
  EXPECT_EQ(paths->state_dir, "/var/lib/proofline");
  EXPECT_EQ(paths->FrontSocket(), "/run/proofline/front.sock");
}

TEST_F(PathsTest, StateFlagHoldsEverything) {
  const auto paths = ResolvePaths("/srv/pl/./x/");
  ASSERT_TRUE(paths.ok());
  EXPECT_EQ(paths->state_dir, "/srv/pl/x");
  EXPECT_EQ(paths->FrontSocket(), "/srv/pl/x/run/front.sock");
}

TEST_F(PathsTest, DefaultsAndFallBacks) {
  EXPECT_EQ(ResolvePaths("")->state_dir, "/home/prover/.local/state/proofline");
  EXPECT_EQ(ResolvePaths("")->run_dir, "/home/prover/.local/state/proofline/run");
  setenv("XDG_STATE_HOME", "/s", 1);
  setenv("XDG_RUNTIME_DIR", "/r", 1);
  EXPECT_EQ(ResolvePaths("")->state_dir, "/s/proofline");
  EXPECT_EQ(ResolvePaths("")->WorkSocket(), "/r/proofline/work.sock");
  setenv("STATE_DIRECTORY", "/var/lib/proofline:/var/lib/other", 1);
  setenv("RUNTIME_DIRECTORY", "/run/proofline", 1);
  EXPECT_EQ(ResolvePaths("")->state_dir, "/var/lib/proofline");
  EXPECT_EQ(ResolvePaths("")->run_dir, "/run/proofline");
}

TEST_F(PathsTest, AConfigurationFileComesAfterFlagAndServiceManager) {
  setenv("XDG_RUNTIME_DIR", "/r", 1);
  EXPECT_EQ(ResolvePaths("", "/c", "")->state_dir, "/c");
  EXPECT_EQ(ResolvePaths("", "/c", "")->run_dir, "/c/run");
  EXPECT_EQ(ResolvePaths("", "/c", "/cr")->run_dir, "/cr");
  EXPECT_EQ(ResolvePaths("/f", "/c", "/cr")->run_dir, "/f/run");
  setenv("STATE_DIRECTORY", "/var/lib/proofline", 1);
  EXPECT_EQ(ResolvePaths("", "/c", "")->state_dir, "/var/lib/proofline");
}

TEST_F(PathsTest, NoHomeIsRefused) {
  unsetenv("HOME");
  EXPECT_EQ(ResolvePaths("").status().code(), ErrorCode::kUsage);
}

// The kernel's sun_path has 108 bytes with the final 0.
TEST_F(PathsTest, LongSocketPathsAreRefusedWithTheNumber) {
  const std::string suffix = "/run/broker.sock";
  const std::string fits = "/" + std::string(107 - suffix.size() - 1, 'a');
  EXPECT_TRUE(ResolvePaths(fits).ok());
  const auto refused = ResolvePaths(fits + "a");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().error().fact.find("108 bytes"), std::string::npos);
}

}  // namespace
}  // namespace proofline
