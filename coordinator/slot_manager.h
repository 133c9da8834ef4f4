// The slots as the coordinator handles them: their memory, their words, their results. Knows the protocol of words (shm/slot.h),
// not jobs or workers.
//
// Every change goes through a compare-and-swap from the word that the coordinator itself saw or wrote last; all of them take the
// next epoch. A false answer means that somebody else moved the word: the caller looks again (Observe) and decides anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "shm/mapping.h"
#include "shm/slot.h"
#include "shm/slot_table.h"

namespace proofline::coordinator {

class SlotManager {
 public:
  // Makes table and slots: kResource with the numbers when memory is short.
  static Result<SlotManager> Create(const shm::SlotLayout& layout, bool huge_pages);
  // Takes over what the supervisor kept. kMismatch if the pieces do not belong together.
  static Result<SlotManager> Adopt(UniqueFd table, std::vector<UniqueFd> slots);

  uint32_t count() const { return table_.layout().slot_count; }
  const shm::SlotLayout& layout() const { return table_.layout(); }
  uint64_t generation() const { return table_.generation(); }
  int table_fd() const { return table_.fd(); }
  std::vector<int> slot_fds() const;
  Result<uint32_t> NextInstance() { return table_.NextInstance(); }

  shm::SlotWord Load(uint32_t slot) const { return table_.Load(slot); }
  // The word that the coordinator wrote or accepted last.
  const shm::SlotWord& expected(uint32_t slot) const { return expected_[slot]; }
  // Takes the present word as known.
  void Accept(uint32_t slot, const shm::SlotWord& word) { expected_[slot] = word; }

  // Puts the expected state back in the place of `found`, which nobody may have written.
  void Restore(uint32_t slot, const shm::SlotWord& found);

  bool Grant(uint32_t slot, uint32_t instance, const shm::SlotAssignment& assignment);  // FREE -> GRANT
  bool Lease(uint32_t slot, uint32_t instance, uint32_t attempt);                       // READY -> LEASE
  bool SealAgain(uint32_t slot);   // LEASE, RESULT, FAILED, QUARANTINE -> READY; the owner is dead or gave up
  bool Free(uint32_t slot);        // FAILED -> FREE; the owner wiped
  bool Wipe(uint32_t slot, uint32_t instance);  // any word whose owner is dead or nobody -> WIPE
  bool Quarantine(uint32_t slot);  // GRANT, LEASE, WIPE -> QUARANTINE, same instance

  // The header that belongs to the expected word.
  Result<shm::SlotSnapshot> Snapshot(uint32_t slot) const { return table_.Snapshot(slot, expected_[slot]); }
  // In RESULT: a checked copy.
  Result<std::string> ReadResult(uint32_t slot) const;

 private:
  SlotManager(shm::SlotTable table, std::vector<UniqueFd> slots, std::vector<shm::Mapping> windows);
  static Result<SlotManager> MapWindows(shm::SlotTable table, std::vector<UniqueFd> slots);
  bool Move(uint32_t slot, shm::SlotState to, uint32_t instance);

  shm::SlotTable table_;
  std::vector<UniqueFd> slots_;
  std::vector<shm::Mapping> windows_;  // result areas, read-only
  std::vector<shm::SlotWord> expected_;
};

}  // namespace proofline::coordinator
