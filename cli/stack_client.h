// A client's side of a stack: requests and replies over the front socket, descriptors over the broker socket.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/paths.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/wire/broker.h"
#include "core/wire/codec.h"
#include "core/wire/socket.h"

namespace proofline::cli {

// What else ends a wait: descriptors that become readable, and what that means.
struct WaitAbort {
  int fd = -1;
  std::function<Status()> reason;
};

// Used by one thread. Messages may be lost when a coordinator dies, so an unanswered request is sent again under the same number;
// all requests may safely arrive twice.
class StackClient {
 public:
  // kUnavailable at once if nobody owns the sockets; a stack whose coordinator is being restarted is waited for in Call.
  static Result<std::unique_ptr<StackClient>> Connect(const StackPaths& paths, std::vector<WaitAbort> aborts = {});

  // The reply, or the error it carries. kTimeout after `limit` without one; kUnavailable as soon as nobody owns the sockets any more.
  Result<wire::Reply> Call(wire::Request request, std::chrono::milliseconds limit);

  // After SubmitBegin: the worker reads the descriptor itself (private stacks).
  Status PutInput(uint64_t job, uint32_t partition, int fd);
  // After SubmitBegin: a new spool file to write the input to.
  Result<UniqueFd> OpenSpool(uint64_t job, uint32_t partition);
  // A memfd with the bytes of core/groth16/result.h.
  Result<UniqueFd> GetResult(uint64_t job, uint32_t partition);

 private:
  StackClient(const StackPaths& paths, std::vector<WaitAbort> aborts) : paths_(paths), aborts_(std::move(aborts)) {}
  // Sends, again if need be, and returns the one packet that answers.
  template <class M>
  Result<wire::Packet> CallBroker(const M& message, int fd);
  Status ReconnectBroker();
  Status AbortReason(const std::vector<wire::PollItem>& items) const;

  StackPaths paths_;
  std::vector<WaitAbort> aborts_;
  wire::Context context_;
  std::optional<wire::DealerSocket> front_;
  std::optional<wire::BrokerConnection> broker_;
  uint64_t next_request_ = 1;
};

// For jobs and stacks of people: `--state` to paths, with the directory's existence checked. kUnavailable names the remedy.
Result<std::unique_ptr<StackClient>> ConnectToStack(const std::string& state_flag, std::vector<WaitAbort> aborts = {});

}  // namespace proofline::cli
