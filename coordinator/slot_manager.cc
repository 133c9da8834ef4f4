#include "coordinator/slot_manager.h"

#include <algorithm>

#include "core/base/text.h"
#include "shm/sections.h"
#include "shm/slot_memory.h"

namespace proofline::coordinator {

using shm::SlotState;
using shm::SlotWord;

SlotManager::SlotManager(shm::SlotTable table, std::vector<UniqueFd> slots, std::vector<shm::Mapping> windows)
    : table_(std::move(table)), slots_(std::move(slots)), windows_(std::move(windows)) {
  for (uint32_t i = 0; i < count(); ++i) expected_.push_back(table_.Load(i));
}

Result<SlotManager> SlotManager::MapWindows(shm::SlotTable table, std::vector<UniqueFd> slots) {
  std::vector<shm::Mapping> windows;
  for (const UniqueFd& slot : slots) {
    PL_ASSIGN_OR_RETURN(shm::Mapping window, shm::MapResultWindow(slot.get(), table.layout()));
    windows.push_back(std::move(window));
  }
  return SlotManager(std::move(table), std::move(slots), std::move(windows));
}

Result<SlotManager> SlotManager::Create(const shm::SlotLayout& layout, bool huge_pages) {
  PL_ASSIGN_OR_RETURN(shm::SlotTable table, shm::SlotTable::Create(layout));
  std::vector<UniqueFd> slots;
  for (uint32_t i = 0; i < table.layout().slot_count; ++i) {
    PL_ASSIGN_OR_RETURN(shm::SlotMemory memory,
                        shm::CreateSlotMemory({.bytes = table.layout().slot_bytes, .node = std::nullopt, .huge_pages = huge_pages}));
    slots.push_back(std::move(memory.fd));
  }
  return MapWindows(std::move(table), std::move(slots));
}

Result<SlotManager> SlotManager::Adopt(UniqueFd table_fd, std::vector<UniqueFd> slots) {
  PL_ASSIGN_OR_RETURN(shm::SlotTable table, shm::SlotTable::Attach(std::move(table_fd)));
  if (slots.size() != table.layout().slot_count) {
    return Status(ErrorCode::kMismatch, StrCat("the supervisor kept ", slots.size(), " slots, the table has ", table.layout().slot_count));
  }
  return MapWindows(std::move(table), std::move(slots));
}

std::vector<int> SlotManager::slot_fds() const {
  std::vector<int> fds;
  for (const UniqueFd& slot : slots_) fds.push_back(slot.get());
  return fds;
}

bool SlotManager::Move(uint32_t slot, SlotState to, uint32_t instance) {
  const SlotWord next{to, instance, expected_[slot].epoch + 1};
  if (!table_.TryTransition(slot, expected_[slot], next)) return false;
  expected_[slot] = next;
  return true;
}

void SlotManager::Restore(uint32_t slot, const SlotWord& found) {
  const SlotWord next{expected_[slot].state, 0, std::max(found.epoch, expected_[slot].epoch) + 1};
  if (table_.TryTransition(slot, found, next)) expected_[slot] = next;
}

bool SlotManager::Grant(uint32_t slot, uint32_t instance, const shm::SlotAssignment& assignment) {
  if (expected_[slot].state != SlotState::kFree) return false;
  table_.WriteAssignment(slot, assignment);
  return Move(slot, SlotState::kGrant, instance);
}

bool SlotManager::Lease(uint32_t slot, uint32_t instance, uint32_t attempt) {
  if (expected_[slot].state != SlotState::kReady) return false;
  table_.WriteAttempt(slot, attempt);
  return Move(slot, SlotState::kLease, instance);
}

bool SlotManager::SealAgain(uint32_t slot) {
  const SlotState state = expected_[slot].state;
  if (state != SlotState::kLease && state != SlotState::kResult && state != SlotState::kFailed && state != SlotState::kQuarantine) return false;
  return Move(slot, SlotState::kReady, 0);
}

bool SlotManager::Free(uint32_t slot) { return expected_[slot].state == SlotState::kFailed && Move(slot, SlotState::kFree, 0); }

bool SlotManager::Wipe(uint32_t slot, uint32_t instance) { return Move(slot, SlotState::kWipe, instance); }

bool SlotManager::Quarantine(uint32_t slot) {
  const SlotState state = expected_[slot].state;
  if (state != SlotState::kGrant && state != SlotState::kLease && state != SlotState::kWipe) return false;
  return Move(slot, SlotState::kQuarantine, expected_[slot].instance);
}

Result<std::string> SlotManager::ReadResult(uint32_t slot) const {
  PL_ASSIGN_OR_RETURN(const shm::SlotSnapshot snapshot, Snapshot(slot));
  PL_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, shm::CopyResult(windows_[slot].data(), snapshot.result, layout()));
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace proofline::coordinator
