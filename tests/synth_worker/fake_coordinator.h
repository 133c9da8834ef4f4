// The coordinator's side of the sockets and the table, driven step by step by a test; the workers are the real
// programs.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/formats/zkey.h"
#include "core/wire/broker.h"
#include "core/wire/socket.h"
#include "shm/pidfd.h"
#include "shm/sections.h"
#include "shm/slot_memory.h"
#include "shm/slot_table.h"

namespace proofline::testing {

using shm::SlotState;
using shm::SlotWord;
using std::chrono::milliseconds;

// A worker process; killed at the end if it still runs.
class WorkerProcess {
 public:
  WorkerProcess(const std::string& program, const std::vector<std::string>& args) {
    pid_ = fork();
    if (pid_ == 0) {
      std::vector<char*> argv{const_cast<char*>(program.c_str())};
      for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
      argv.push_back(nullptr);
      execv(program.c_str(), argv.data());
      _exit(127);
    }
  }
  ~WorkerProcess() {
    if (pid_ > 0) kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
  }
  WorkerProcess(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Exit code, or -signal; nullopt if it still runs after `limit`.
  std::optional<int> WaitExit(milliseconds limit) {
    auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      }
      if (std::chrono::steady_clock::now() > end) return std::nullopt;
      usleep(2000);
    }
  }

 private:
  pid_t pid_;
};

class FakeCoordinator {
 public:
  FakeCoordinator(uint64_t n_vars, uint64_t domain, uint64_t result_bytes, uint32_t slot_count = 2) {
    char dir[] = "/tmp/plworkXXXXXX";
    dir_ = mkdtemp(dir);
    NewTable(n_vars, domain, result_bytes, slot_count);
    Listen();
  }
  ~FakeCoordinator() {
    Hangup();
    std::filesystem::remove_all(dir_);
  }

  void NewTable(uint64_t n_vars, uint64_t domain, uint64_t result_bytes, uint32_t slot_count) {
    shm::SlotNeed need = shm::NeedOf(n_vars, domain, result_bytes);
    table_.emplace(std::move(shm::SlotTable::Create({slot_count, need.slot_bytes, need.result_area_bytes})).value());
    memory_.clear();
    slots_.clear();
    for (uint32_t i = 0; i < slot_count; ++i) {
      memory_.push_back(
          std::move(shm::CreateSlotMemory({.bytes = table_->layout().slot_bytes, .node = std::nullopt})).value());
      slots_.push_back(std::move(shm::MapSlot(memory_.back().fd.get(), table_->layout())).value());
    }
  }
  // A coordinator that died and one that starts.
  void Hangup() {
    connections_.clear();
    router_.reset();
    listener_.reset();
  }
  void Listen() {
    ++term;
    router_.emplace(std::move(wire::RouterSocket::Bind(context_, dir_ + "/work.sock")).value());
    listener_.emplace(std::move(wire::BrokerListener::Bind(dir_ + "/broker.sock")).value());
  }

  shm::SlotTable& table() { return *table_; }
  uint8_t* slot(uint32_t i) { return slots_[i].data(); }
  const std::string& dir() const { return dir_; }

  // One turn: accepts, answers, records.
  void Pump(int wait_ms = 20) {
    std::vector<wire::PollItem> items;
    if (router_) items.push_back({.socket = &*router_});
    if (listener_) items.push_back({.fd = listener_->fd()});
    for (auto& c : connections_) items.push_back({.fd = c.fd()});
    wire::Poll(items, wait_ms);
    if (listener_)
      while (auto connection = listener_->Accept()) connections_.push_back(*std::move(connection));
    std::erase_if(connections_, [&](wire::BrokerConnection& c) { return !ServeConnection(c); });
    for (int i = 0; router_ && i < 100; ++i) {
      auto in = router_->Receive();
      if (!in) break;
      OnFrame(*in);
    }
  }
  bool PumpUntil(const std::function<bool()>& done, milliseconds limit = milliseconds(20000)) {
    auto end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      Pump();
    }
    return true;
  }

  // Moves a free slot to `state` for the worker that attached last, without telling it.
  SlotWord Assign(uint32_t slot, SlotState state, const shm::SlotAssignment& assignment) {
    SlotWord now = table().Load(slot);
    SlotWord next{state, instance, now.epoch + 1};
    if (state == SlotState::kGrant) table().WriteAssignment(slot, assignment);
    EXPECT_TRUE(table().TryTransition(slot, now, next));
    return next;
  }
  template <class Order>
  Order Describe(uint32_t slot, const shm::SlotAssignment& assignment, const wire::Circuit& circuit) {
    Order order;
    order.set_slot(slot);
    order.set_epoch(table().Load(slot).epoch);
    order.set_job(assignment.job);
    order.set_partition(assignment.partition);
    order.set_attempt(assignment.attempt);
    *order.mutable_circuit() = circuit;
    return order;
  }
  template <class M>
  void Send(const M& message) {
    SendWithTerm(message, term);
  }
  template <class M>
  void SendWithTerm(const M& message, uint64_t with_term) {
    Status s;
    EXPECT_TRUE(PumpUntil([&] { return (s = router_->SendMessage(peer, message, with_term)).ok(); })) << s.ToString();
  }

  // The last message of a type since the last Forget.
  template <class M>
  std::optional<M> Last() const {
    auto it = last_.find(wire::MessageTypeOf<M>::value);
    if (it == last_.end()) return std::nullopt;
    auto message = wire::Unpack<M>(it->second);
    return message.ok() ? std::optional<M>(*message) : std::nullopt;
  }
  template <class M>
  std::optional<M> Expect(milliseconds limit = milliseconds(20000)) {
    PumpUntil([&] { return Last<M>().has_value(); }, limit);
    return Last<M>();
  }
  void Forget() { last_.clear(); }

  uint64_t term = 0;
  uint32_t instance = 0;  // of the worker that attached last
  std::string peer;       // its routing id
  UniqueFd pidfd;
  std::optional<wire::Hello> attach_hello;
  // What GetInput gets; nullopt: no answer.
  std::function<std::optional<UniqueFd>(const wire::GetInput&)> input = [](const wire::GetInput&) {
    return std::nullopt;
  };
  bool welcome = true;

 private:
  // False: drop the connection.
  bool ServeConnection(wire::BrokerConnection& c) {
    for (;;) {
      auto packet = c.Receive();
      if (!packet.ok()) return false;
      if (!*packet) return true;
      if (auto attach = wire::Unpack<wire::Attach>((*packet)->frame); attach.ok()) {
        EXPECT_EQ((*packet)->fds.size(), 1u);
        EXPECT_TRUE(shm::CheckPidfd((*packet)->fds[0].get()).ok());
        pidfd = std::move((*packet)->fds[0]);
        attach_hello = attach->hello();
        bool known = attach->hello().instance() != 0 && attach->hello().generation() == table().generation();
        instance = known ? attach->hello().instance() : *table().NextInstance();
        wire::AttachReply reply;
        reply.set_instance(instance);
        reply.set_generation(table().generation());
        reply.set_slot_count(table().layout().slot_count);
        reply.set_term(term);
        std::vector<int> fds;
        for (auto& m : memory_) fds.push_back(m.fd.get());
        if (!wire::SendAttachReply(c, reply, table().fd(), fds).ok()) return false;
      } else if (auto get = wire::Unpack<wire::GetInput>((*packet)->frame); get.ok()) {
        std::optional<UniqueFd> fd = input(*get);
        if (!fd) return true;
        int raw = fd->get();
        if (!c.SendMessage(wire::BrokerReply(), term, std::span(&raw, 1)).ok()) return false;
      } else {
        return false;
      }
    }
  }
  void OnFrame(const wire::RouterSocket::Incoming& in) {
    last_[in.frame.type] = in.frame;
    if (in.frame.type != wire::MessageType::kHello) return;
    peer = in.peer;
    if (!welcome) return;
    wire::Welcome message;
    message.set_heartbeat_ms(100);
    message.set_generation(table().generation());
    (void)router_->SendMessage(peer, message, term);
  }

  std::string dir_;
  wire::Context context_;
  std::optional<shm::SlotTable> table_;
  std::vector<shm::SlotMemory> memory_;
  std::vector<shm::Mapping> slots_;
  std::optional<wire::RouterSocket> router_;
  std::optional<wire::BrokerListener> listener_;
  std::vector<wire::BrokerConnection> connections_;
  std::map<wire::MessageType, wire::Frame> last_;
};

inline std::string SamplePath(const std::string& name) { return std::string(PROOFLINE_SAMPLES) + "/" + name; }

// The circuit message for a sample ("bn128/multiplier") or for any key file.
inline wire::Circuit CircuitOf(const std::string& key_path, uint64_t id = 1) {
  auto file = MappedFile::Open(key_path);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  wire::Circuit circuit;
  circuit.set_id(id);
  circuit.set_name("sample");
  circuit.set_key_path(key_path);
  circuit.set_key_bytes(file->size_bytes());
  circuit.set_key_mtime_ns(file->mtime_ns());
  return circuit;
}

inline void SetR1cs(wire::Circuit& circuit, const std::string& path) {
  auto file = MappedFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  circuit.set_r1cs_path(path);
  circuit.set_r1cs_bytes(file->size_bytes());
  circuit.set_r1cs_mtime_ns(file->mtime_ns());
}

inline UniqueFd OpenFile(const std::string& path) { return UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

inline std::vector<uint8_t> FileBytes(const std::string& path) {
  auto file = MappedFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  return {file->bytes().begin(), file->bytes().end()};
}

}  // namespace proofline::testing
