#include "cli/private_dir.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace proofline::cli {
namespace {

namespace fs = std::filesystem;

class PrivateDirTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/private-dir-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    parent_ = name;
    setenv("XDG_RUNTIME_DIR", name, 1);
  }
  void TearDown() override { fs::remove_all(parent_); }
  std::string parent_;
};

TEST_F(PrivateDirTest, IsPrivateAndGoesWithItsOwner) {
  std::string path;
  {
    auto dir = PrivateDir::Make();
    ASSERT_TRUE(dir.ok()) << dir.status().ToString();
    path = dir->path();
    EXPECT_EQ(fs::path(path).parent_path(), parent_);
    struct stat info;
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700u);
    std::ofstream(path + "/file") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // no janitor is left
}

TEST_F(PrivateDirTest, TwoAtOnceDiffer) {
  auto a = PrivateDir::Make(), b = PrivateDir::Make();
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(a->path(), b->path());
}

TEST_F(PrivateDirTest, SigkillLeavesNothing) {
  const pid_t owner = fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    auto dir = PrivateDir::Make();
    if (!dir.ok()) _exit(1);
    std::ofstream(dir->path() + "/file") << "x";
    std::ofstream(parent_ + "/made") << dir->path();
    for (;;) pause();
  }
  while (!fs::exists(parent_ + "/made") || fs::is_empty(parent_ + "/made")) usleep(1000);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  fs::remove(parent_ + "/made");
  for (int i = 0; i < 500 && !fs::is_empty(parent_); ++i) usleep(10'000);
  EXPECT_TRUE(fs::is_empty(parent_));
}

TEST_F(PrivateDirTest, SweepTakesOldUnheldOnesOnly) {
  const std::string prefix = parent_ + "/proofline-" + std::to_string(getuid()) + "-";
  const auto age = [](const std::string& path) {
    const timespec old[2] = {{1000, 0}, {1000, 0}};
    utimensat(AT_FDCWD, path.c_str(), old, 0);
  };
  fs::create_directory(prefix + "stale0");
  fs::create_directory(prefix + "young0");
  fs::create_directory(parent_ + "/other");
  age(prefix + "stale0");
  age(parent_ + "/other");
  auto held = PrivateDir::Make();
  ASSERT_TRUE(held.ok());
  age(held->path());
  fs::create_directory(prefix + "stale1");
  age(prefix + "stale1");
  EXPECT_EQ(SweepStaleDirs(parent_), 1);
  EXPECT_FALSE(fs::exists(prefix + "stale0") || fs::exists(prefix + "stale1"));
  EXPECT_TRUE(fs::exists(prefix + "young0") && fs::exists(parent_ + "/other") && fs::exists(held->path()));
}

TEST_F(PrivateDirTest, TooLongARuntimeDirectoryIsPassedOver) {
  setenv("XDG_RUNTIME_DIR", ("/tmp/" + std::string(100, 'x')).c_str(), 1);
  unsetenv("TMPDIR");
  auto dir = PrivateDir::Make();
  ASSERT_TRUE(dir.ok());
  EXPECT_EQ(fs::path(dir->path()).parent_path(), "/tmp");
}

}  // namespace
}  // namespace proofline::cli
