// The clients' side: one request, one reply. Waits are held until the job has ended, in bounded number.
#pragma once

#include <string>
#include <vector>

#include "coordinator/core.h"
#include "core/wire/socket.h"

namespace proofline::coordinator {

class FrontDoor {
 public:
  FrontDoor(Core& core, wire::RouterSocket socket) : core_(core), socket_(std::move(socket)) {}

  const wire::PollableSocket& socket() const { return socket_; }
  // At most `limit` messages; true if there may be more.
  bool Receive(int limit);
  // Effects: inputs can go, those who wait for the job are answered.
  void JobHasEnded(uint64_t job);
  // Waits and submissions whose time is over.
  void Expire();
  // When Expire has something to do for a wait; UINT64_MAX: never.
  uint64_t NextExpiryNs() const;

  static constexpr size_t kMaxWaits = 1024;
  static constexpr uint64_t kLongestWaitMs = 30'000;

 private:
  struct Wait {
    std::string peer;
    uint64_t request_id = 0;
    uint64_t job = 0;
    uint64_t until_ns = 0;
  };
  struct From {
    const std::string& peer;
    uint64_t request_id;
  };
  // nullopt: no reply now (a held wait).
  std::optional<Result<wire::Reply>> Answer(const From& from, const wire::Request& request);
  Result<wire::Reply> Add(const wire::CircuitAdd& request);
  Result<wire::Reply> List(const wire::CircuitList& request);
  Result<wire::Reply> Show(const wire::CircuitShow& request);
  Result<wire::Reply> Remove(const wire::CircuitRemove& request);
  Result<wire::Reply> Begin(const From& from, const wire::SubmitBegin& request);
  Result<wire::Reply> Commit(const wire::SubmitCommit& request);
  Result<wire::Reply> Abort(const wire::SubmitAbort& request);
  Result<wire::Reply> CancelJob(const wire::CancelJob& request);
  Result<wire::Reply> GetStatus(const wire::StatusQuery& request);
  std::optional<Result<wire::Reply>> WaitFor(const From& from, const wire::WaitJob& request);
  // Live, or in the journal. kNotFound.
  Result<wire::JobView> FindView(const std::string& name);
  Result<wire::Reply> Accept(Submission& submission, const std::string& mac);
  void DropInputs(uint64_t job);
  void Send(const std::string& peer, uint64_t request_id, Result<wire::Reply> reply);

  Core& core_;
  wire::RouterSocket socket_;
  std::vector<Wait> waits_;
};

}  // namespace proofline::coordinator
