#include "core/wire/socket.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

namespace proofline::wire {
namespace {

class SocketTest : public testing::Test {
 protected:
  SocketTest() {
    char dir[] = "/tmp/plsockXXXXXX";
    dir_ = mkdtemp(dir);
    path_ = dir_ + "/work.sock";
  }
  ~SocketTest() override { std::filesystem::remove_all(dir_); }

  template <class S>
  auto ReceiveSoon(S& socket, int tries = 100) {
    auto got = socket.Receive();
    for (int i = 0; i < tries && !got; ++i) {
      PollItem item{.socket = &socket};
      Poll(std::span(&item, 1), 50);
      got = socket.Receive();
    }
    return got;
  }
  template <class M>
  Status SendSoon(DealerSocket& socket, const M& message, uint64_t term) {
    Status s = socket.SendMessage(message, term);
    for (int i = 0; i < 300 && s.code() == ErrorCode::kUnavailable; ++i)
      usleep(10000), s = socket.SendMessage(message, term);
    return s;
  }
  // A listening stream socket, as a supervisor makes it.
  UniqueFd Listen() {
    UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path_.begin(), path_.end(), address.sun_path);
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(fd.get(), 16), 0);
    return fd;
  }
  Hello Named(uint32_t ordinal) {
    Hello hello;
    hello.set_ordinal(ordinal);
    return hello;
  }

  std::string dir_, path_;
  Context context_;
};

TEST_F(SocketTest, BothDirections) {
  auto router = RouterSocket::Bind(context_, path_);
  ASSERT_TRUE(router.ok()) << router.status().ToString();
  auto dealer = DealerSocket::Connect(context_, path_, "synth-0-1");
  ASSERT_TRUE(dealer.ok());
  EXPECT_FALSE(router->Receive());
  ASSERT_TRUE(SendSoon(*dealer, Named(4), 7).ok());
  auto in = ReceiveSoon(*router);
  ASSERT_TRUE(in);
  EXPECT_EQ(in->peer, "synth-0-1");
  EXPECT_EQ(in->frame.term, 7u);
  EXPECT_EQ(Unpack<Hello>(in->frame)->ordinal(), 4u);
  ASSERT_TRUE(router->SendMessage(in->peer, Welcome(), 8).ok());
  auto back = ReceiveSoon(*dealer);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->type, MessageType::kWelcome);
  EXPECT_EQ(router->SendMessage("synth-9-9", Welcome(), 8).code(), ErrorCode::kUnavailable);
}

TEST_F(SocketTest, FullQueueIsRefusedNotBlocked) {
  auto router = RouterSocket::Bind(context_, path_);
  auto dealer = DealerSocket::Connect(context_, path_, "d");
  ASSERT_TRUE(SendSoon(*dealer, Named(1), 1).ok());
  ASSERT_TRUE(ReceiveSoon(*router));
  Error big;
  big.set_fact(std::string(30000, 'x'));
  Failed failed;
  *failed.mutable_error() = big;
  Status s;
  int sent = 0;
  for (; sent < 5000 && s.ok(); ++sent) s = router->SendMessage("d", failed, 1);
  EXPECT_EQ(s.code(), ErrorCode::kUnavailable) << sent;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ReceiveSoon(*dealer));
}

TEST_F(SocketTest, NothingIsQueuedWithoutAConnection) {
  auto dealer = DealerSocket::Connect(context_, path_, "d");
  ASSERT_TRUE(dealer.ok());
  EXPECT_EQ(dealer->SendMessage(Named(1), 1).code(), ErrorCode::kUnavailable);
}

TEST_F(SocketTest, DealerFindsARestartedRouter) {
  auto dealer = DealerSocket::Connect(context_, path_, "d");
  for (uint64_t term = 1; term <= 3; ++term) {
    auto router = RouterSocket::Bind(context_, path_);
    ASSERT_TRUE(router.ok()) << router.status().ToString();
    ASSERT_TRUE(SendSoon(*dealer, Named(1), term).ok());
    // Sends go into the void until the library has seen the old one's death; like the real worker, repeat.
    auto in = ReceiveSoon(*router, 2);
    for (int i = 0; i < 100 && !in; ++i) (void)SendSoon(*dealer, Named(1), term), in = ReceiveSoon(*router, 2);
    ASSERT_TRUE(in);
  }
}

TEST_F(SocketTest, AdoptedListenerKeepsItsFileAndItsBacklog) {
  UniqueFd held = Listen();
  auto dealer = DealerSocket::Connect(context_, path_, "d");  // nobody reads yet
  for (int life = 0; life < 2; ++life) {
    auto router = RouterSocket::Adopt(context_, UniqueFd(dup(held.get())), path_);
    ASSERT_TRUE(router.ok()) << router.status().ToString();
    std::optional<RouterSocket::Incoming> in;
    for (int i = 0; i < 100 && !in; ++i) (void)SendSoon(*dealer, Named(1), 1), in = ReceiveSoon(*router, 2);
    ASSERT_TRUE(in) << "life " << life;
  }
  usleep(50000);
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(SocketTest, AdoptRefusesOtherDescriptors) {
  EXPECT_EQ(RouterSocket::Adopt(context_, UniqueFd(), path_).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(RouterSocket::Adopt(context_, UniqueFd(dup(0)), path_).status().code(), ErrorCode::kInvalidArgument);
}

TEST_F(SocketTest, PathsAreChecked) {
  EXPECT_EQ(CheckSocketPath("/tmp/" + std::string(kMaxSocketPathBytes, 'x')).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CheckSocketPath("@abstract").code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CheckSocketPath("").code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(RouterSocket::Bind(context_, dir_ + "/missing/x.sock").status().code(), ErrorCode::kIo);
}

TEST_F(SocketTest, GarbageOnTheSocketFileHurtsNobody) {
  auto router = RouterSocket::Bind(context_, path_);
  for (int i = 0; i < 50; ++i) {
    UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path_.begin(), path_.end(), address.sun_path);
    ASSERT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    std::string junk(200, static_cast<char>(i * 37));
    EXPECT_GT(send(fd.get(), junk.data(), junk.size(), MSG_NOSIGNAL), 0);
  }
  auto dealer = DealerSocket::Connect(context_, path_, "d");
  ASSERT_TRUE(SendSoon(*dealer, Named(1), 1).ok());
  EXPECT_TRUE(ReceiveSoon(*router));
}

TEST_F(SocketTest, PollSeesSocketsAndDescriptorsTogether) {
  auto router = RouterSocket::Bind(context_, path_);
  auto dealer = DealerSocket::Connect(context_, path_, "d");
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  std::array<PollItem, 2> items{PollItem{.socket = &*router}, PollItem{.fd = pipe_fds[0]}};
  EXPECT_FALSE(Poll(items, 0));
  ASSERT_EQ(write(pipe_fds[1], "x", 1), 1);
  EXPECT_TRUE(Poll(items, 1000));
  EXPECT_TRUE(items[1].readable);
  EXPECT_FALSE(items[0].readable);
  ASSERT_TRUE(SendSoon(*dealer, Named(1), 1).ok());
  for (int i = 0; i < 100 && !items[0].readable; ++i) usleep(5000), Poll(items, 10);
  EXPECT_TRUE(items[0].readable);
  EXPECT_TRUE(Poll(items, 0)) << "level-triggered: unread input is reported again";
  EXPECT_TRUE(items[0].readable);
  close(pipe_fds[0]), close(pipe_fds[1]);
}

TEST(Wire, RoutingIds) {
  EXPECT_EQ(WorkerRoutingId(ROLE_SYNTH, 0, 17), "synth-0-17");
  EXPECT_EQ(WorkerRoutingId(ROLE_GPU, 2, 5), "gpu-2-5");
}

}  // namespace
}  // namespace proofline::wire
