// The workers' side: their messages in, orders out, and the words of the slots, which are the truth that messages only hint at.
#pragma once

#include "coordinator/core.h"
#include "core/wire/socket.h"

namespace proofline::coordinator {

class WorkDoor {
 public:
  WorkDoor(Core& core, wire::RouterSocket socket) : core_(core), socket_(std::move(socket)) {}

  const wire::PollableSocket& socket() const { return socket_; }
  // At most `limit` messages; true if there may be more.
  bool Receive(int limit);
  // The process is gone: its words are looked at once more, then the scheduler takes back what it held.
  void Died(uint32_t instance);
  // At the start: results that a former life left are taken, owners it wanted dead are killed.
  void BeginScan(const std::vector<uint32_t>& condemned);
  // Words that moved without their doorbell being heard, workers that are silent. Every kScanNs.
  void Scan();
  static constexpr uint64_t kScanNs = 100'000'000;

  // Effects of the scheduler's decisions.
  void Carry(const GrantSlot& grant);
  void Carry(const LeaseSlot& lease);
  void Carry(const WipeSlot& wipe);
  void Carry(const FreeSlot& slot);
  void Carry(const SealSlotAgain& slot);
  void Carry(const HintCancel& hint);

 private:
  void Handle(const std::string& peer, const wire::Frame& frame);
  void OnHello(const std::string& peer, const wire::Hello& hello);
  // The worker can be reached at `peer` and gets work.
  void ComeUp(Worker& worker, const std::string& peer);
  void RingAll(uint32_t instance);
  wire::Welcome MakeWelcome() const;
  void OnDone(const wire::Done& done);
  void OnHeartbeat(const std::string& peer, const wire::Heartbeat& beat);
  // Reports to the scheduler what the word says, if it says something new. True if it did.
  bool Observe(uint32_t slot, std::vector<StageTime> stages, uint64_t wide_fraction_ppm = 0);
  void ObserveResult(uint32_t slot, std::vector<StageTime> stages);
  // Sends the order that belongs to the slot's word again.
  void Ring(uint32_t slot);
  void Suspect(uint32_t instance, const std::string& why);
  void Contradiction(uint32_t slot, const char* what);
  template <class M>
  void SendTo(uint32_t instance, const M& message);
  template <class M>
  M OrderFor(uint32_t slot);

  Core& core_;
  wire::RouterSocket socket_;
  std::map<uint32_t, uint64_t> moved_;  // slots whose word moved without a doorbell so far, and the word
};

}  // namespace proofline::coordinator
