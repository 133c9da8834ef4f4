// The broker socket's server: descriptors to workers (table, slots, inputs) and from and to clients (inputs, results).
#pragma once

#include <memory>
#include <vector>

#include "coordinator/core.h"
#include "core/wire/broker.h"

namespace proofline::coordinator {

class Broker {
 public:
  Broker(Core& core, wire::BrokerListener listener) : core_(core), listener_(std::move(listener)) {}

  int listener_fd() const { return listener_.fd(); }
  std::vector<int> connection_fds() const;
  void Accept();
  // At most a few packets of the connection with that descriptor; drops it when it ended or sent what is no packet of ours.
  void Receive(int fd);

  static constexpr size_t kMaxConnections = 512;

 private:
  struct Connection {
    explicit Connection(wire::BrokerConnection s) : socket(std::move(s)) {}
    wire::BrokerConnection socket;
  };
  using ConnectionPtr = std::shared_ptr<Connection>;

  // False: drop the connection.
  bool Handle(const ConnectionPtr& connection, wire::Packet packet);
  void OnAttach(const ConnectionPtr& connection, const wire::Attach& attach, std::vector<UniqueFd> fds);
  Result<uint32_t> InstanceFor(const wire::Hello& hello);
  Result<UniqueFd> PutInput(const wire::PutInput& message, std::vector<UniqueFd> fds);
  Result<UniqueFd> GetInput(const Connection& connection, const wire::GetInput& message);
  Result<UniqueFd> GetResult(const wire::GetResult& message);
  void Reply(const ConnectionPtr& connection, Result<UniqueFd> answer);

  Core& core_;
  wire::BrokerListener listener_;
  std::vector<ConnectionPtr> connections_;
};

}  // namespace proofline::coordinator
