#include "cli/listen.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace proofline::cli {
namespace {

class ListenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/listen-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    paths_.state_dir = paths_.run_dir = name;
  }
  void TearDown() override { std::filesystem::remove_all(paths_.run_dir); }
  StackPaths paths_;
};

TEST_F(ListenTest, MakesThreeListenersOfTheRightKind) {
  auto sockets = BindStackSockets(paths_);
  ASSERT_TRUE(sockets.ok()) << sockets.status().ToString();
  ASSERT_EQ(sockets->size(), 3u);
  const int types[] = {SOCK_STREAM, SOCK_STREAM, SOCK_SEQPACKET};
  const char* names[] = {"work", "front", "broker"};
  const std::string files[] = {paths_.WorkSocket(), paths_.FrontSocket(), paths_.BrokerSocket()};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ((*sockets)[i].first, names[i]);
    int type = 0, listening = 0;
    socklen_t n = sizeof type;
    getsockopt((*sockets)[i].second.get(), SOL_SOCKET, SO_TYPE, &type, &n);
    getsockopt((*sockets)[i].second.get(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &n);
    EXPECT_EQ(type, types[i]);
    EXPECT_EQ(listening, 1);
    struct stat info;
    ASSERT_EQ(stat(files[i].c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
  }
}

TEST_F(ListenTest, ReplacesTheDeadAndRefusesTheLiving) {
  {
    auto sockets = BindStackSockets(paths_);
    ASSERT_TRUE(sockets.ok());
    auto second = BindStackSockets(paths_);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.status().code(), ErrorCode::kConflict);
  }
  auto after = BindStackSockets(paths_);
  EXPECT_TRUE(after.ok()) << after.status().ToString();
}

TEST_F(ListenTest, DoesNotRemoveWhatIsNoSocket) {
  std::ofstream(paths_.FrontSocket()) << "precious";
  auto sockets = BindStackSockets(paths_);
  ASSERT_FALSE(sockets.ok());
  EXPECT_EQ(sockets.status().code(), ErrorCode::kConflict);
  EXPECT_EQ(std::filesystem::file_size(paths_.FrontSocket()), 8u);
}

}  // namespace
}  // namespace proofline::cli
