#include "core/wire/broker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace proofline::wire {
namespace {

size_t OpenDescriptors() {
  size_t n = 0;
  for ([[maybe_unused]] auto& e : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

ino_t Inode(int fd) {
  struct stat st {};
  fstat(fd, &st);
  return st.st_ino;
}

class BrokerTest : public testing::Test {
 protected:
  BrokerTest() {
    char dir[] = "/tmp/plbrokXXXXXX";
    dir_ = mkdtemp(dir);
    path_ = dir_ + "/broker.sock";
  }
  ~BrokerTest() override { std::filesystem::remove_all(dir_); }
  std::pair<BrokerConnection, BrokerConnection> Pair(BrokerListener& listener) {
    auto client = BrokerConnection::Connect(path_, 2000);
    EXPECT_TRUE(client.ok()) << client.status().ToString();
    auto server = listener.Accept();
    EXPECT_TRUE(server);
    return {*std::move(client), *std::move(server)};
  }
  // One packet of raw bytes, past the encoder.
  static void SendRaw(const BrokerConnection& c, const std::string& bytes) {
    ASSERT_EQ(send(c.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  std::string dir_, path_;
};

TEST_F(BrokerTest, MessagesAndDescriptorsTravelTogether) {
  auto listener = BrokerListener::Bind(path_);
  ASSERT_TRUE(listener.ok()) << listener.status().ToString();
  EXPECT_FALSE(listener->Accept());
  auto [client, server] = Pair(*listener);
  EXPECT_EQ(server.peer_pid(), getpid());
  EXPECT_FALSE(*server.Receive());  // non-blocking: nothing there
  GetInput ask;
  ask.set_job(5);
  UniqueFd file(memfd_create("x", 0));
  int fds[] = {file.get()};
  ASSERT_TRUE(client.SendMessage(ask, 3, fds).ok());
  auto packet = server.Receive();
  ASSERT_TRUE(packet.ok() && *packet);
  EXPECT_EQ((*packet)->frame.term, 3u);
  EXPECT_EQ(Unpack<GetInput>((*packet)->frame)->job(), 5u);
  ASSERT_EQ((*packet)->fds.size(), 1u);
  EXPECT_EQ(Inode((*packet)->fds[0].get()), Inode(file.get()));
  EXPECT_TRUE(fcntl((*packet)->fds[0].get(), F_GETFD) & FD_CLOEXEC);
}

TEST_F(BrokerTest, ClosedPeerIsNoticed) {
  auto listener = BrokerListener::Bind(path_);
  std::optional<BrokerConnection> server;
  {
    auto [client, accepted] = Pair(*listener);
    server = std::move(accepted);
  }
  EXPECT_EQ(server->Receive().status().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(server->SendMessage(BrokerReply(), 1).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(BrokerConnection::Connect(dir_ + "/nobody.sock", 100).status().code(), ErrorCode::kUnavailable);
}

TEST_F(BrokerTest, SilentPeerIsATimeout) {
  auto listener = BrokerListener::Bind(path_);
  auto client = BrokerConnection::Connect(path_, 50);
  EXPECT_EQ(client->Receive().status().code(), ErrorCode::kTimeout);
}

TEST_F(BrokerTest, BadPacketsLeakNothing) {
  auto listener = BrokerListener::Bind(path_);
  auto [client, server] = Pair(*listener);
  size_t before = OpenDescriptors();
  SendRaw(client, "x");
  EXPECT_EQ(server.Receive().status().code(), ErrorCode::kInvalidArgument);
  SendRaw(client, std::string(60000, 'P'));
  EXPECT_EQ(server.Receive().status().code(), ErrorCode::kInvalidArgument);
  // A bad body with 200 descriptors beside it.
  std::vector<int> many(200, 0);
  std::vector<char> control(CMSG_SPACE(many.size() * sizeof(int)));
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* c = CMSG_FIRSTHDR(&header);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(many.size() * sizeof(int));
  memcpy(CMSG_DATA(c), many.data(), many.size() * sizeof(int));
  ASSERT_EQ(sendmsg(client.fd(), &header, 0), 1);
  EXPECT_EQ(server.Receive().status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(client.SendMessage(BrokerReply(), 1, many).code(), ErrorCode::kInternal);
}

TEST_F(BrokerTest, AttachBringsTableAndSlotsInOrder) {
  auto listener = BrokerListener::Bind(path_);
  constexpr uint32_t kSlots = 300;  // three packets
  std::vector<UniqueFd> files;
  for (uint32_t i = 0; i <= kSlots; ++i) files.emplace_back(memfd_create("s", 0));
  std::thread coordinator([&] {
    pollfd p{listener->fd(), POLLIN, 0};
    ASSERT_EQ(poll(&p, 1, 2000), 1);
    auto connection = listener->Accept();
    ASSERT_TRUE(connection);
    p.fd = connection->fd();
    ASSERT_EQ(poll(&p, 1, 2000), 1);
    auto packet = connection->Receive();
    ASSERT_TRUE(packet.ok() && *packet && (*packet)->fds.size() == 1);
    EXPECT_EQ(Unpack<Attach>((*packet)->frame)->hello().ordinal(), 6u);
    AttachReply reply;
    reply.set_instance(9);
    reply.set_generation(77);
    reply.set_term(4);
    reply.set_slot_count(kSlots);
    std::vector<int> slots;
    for (uint32_t i = 1; i <= kSlots; ++i) slots.push_back(files[i].get());
    ASSERT_TRUE(SendAttachReply(*connection, reply, files[0].get(), slots).ok());
    usleep(100000);
  });
  auto connection = BrokerConnection::Connect(path_, 2000);
  Hello hello;
  hello.set_ordinal(6);
  UniqueFd self(memfd_create("stands for a pidfd", 0));
  auto attached = AttachToBroker(*connection, hello, self.get());
  coordinator.join();
  ASSERT_TRUE(attached.ok()) << attached.status().ToString();
  EXPECT_EQ(attached->instance, 9u);
  EXPECT_EQ(attached->generation, 77u);
  EXPECT_EQ(attached->term, 4u);
  EXPECT_EQ(Inode(attached->table.get()), Inode(files[0].get()));
  ASSERT_EQ(attached->slots.size(), kSlots);
  for (uint32_t i = 0; i < kSlots; ++i) ASSERT_EQ(Inode(attached->slots[i].get()), Inode(files[i + 1].get())) << i;
}

TEST_F(BrokerTest, AttachRefusals) {
  auto listener = BrokerListener::Bind(path_);
  auto answer = [&](auto respond) {
    auto [client, server] = Pair(*listener);
    respond(server);
    Hello hello;
    return AttachToBroker(client, hello, 0).status().code();
  };
  EXPECT_EQ(answer([](BrokerConnection& c) {
              AttachReply reply;
              FillError(Status(ErrorCode::kConflict, "ordinal taken"), reply.mutable_error());
              (void)c.SendMessage(reply, 1);
            }),
            ErrorCode::kConflict);
  EXPECT_EQ(answer([](BrokerConnection& c) {
              AttachReply reply;
              reply.set_slot_count(2);
              (void)c.SendMessage(reply, 1);
            }),
            ErrorCode::kInvalidArgument);  // no descriptor
  EXPECT_EQ(answer([](BrokerConnection& c) {
              AttachReply reply;
              reply.set_slot_count(0xffffffff);
              int fd = 0;
              (void)c.SendMessage(reply, 1, std::span(&fd, 1));
            }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(answer([](BrokerConnection& c) { (void)c.SendMessage(BrokerReply(), 1); }), ErrorCode::kInvalidArgument);
}

TEST_F(BrokerTest, AdoptsOnlyListeners) {
  auto listener = BrokerListener::Bind(path_);
  auto adopted = BrokerListener::Adopt(UniqueFd(dup(listener->fd())));
  ASSERT_TRUE(adopted.ok()) << adopted.status().ToString();
  auto client = BrokerConnection::Connect(path_, 1000);
  EXPECT_TRUE(adopted->Accept());
  EXPECT_EQ(BrokerListener::Adopt(UniqueFd(dup(0))).status().code(), ErrorCode::kIo);
  EXPECT_EQ(BrokerListener::Adopt(UniqueFd(socket(AF_UNIX, SOCK_STREAM, 0))).status().code(),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace proofline::wire
