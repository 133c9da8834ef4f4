// The slot table: one word and one header per slot, in one small sealed memfd that every worker maps.
//
// The coordinator creates it or attaches to the one its supervisor kept; workers attach to the descriptor from the
// broker. The layout is checked and copied once at attaching and never read from shared memory again. Every index and
// length in a header is checked on each read, since a process may have been killed while writing it.
//
// Any thread of a process may use a table; who may change what in which state is README.md's table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/unique_fd.h"
#include "core/base/status.h"
#include "shm/mapping.h"
#include "shm/slot.h"

namespace proofline::shm {

inline constexpr uint32_t kLayoutVersion = 1;
inline constexpr uint32_t kMaxSlots = 4096;
inline constexpr uint32_t kMaxInstance = 0xffffff;
inline constexpr uint64_t kMaxSlotBytes = uint64_t{1} << 40;

// Whose the slot's content is.
struct SlotAssignment {
  uint64_t job = 0;
  uint32_t partition = 0;
  uint32_t attempt = 0;
  uint64_t circuit = 0;
  bool operator==(const SlotAssignment&) const = default;
};

// A checked copy of a header: every range lies inside the slot and its area.
struct SlotSnapshot {
  SlotAssignment assignment;
  std::vector<SectionEntry> sections;
  SectionEntry result;  // length_bytes 0: none
  Status error;         // in kFailed: why
  const SectionEntry* Find(SectionKind kind) const;
};

class SlotTable {
 public:
  // A new table with all slots free, sealed. slot_bytes and result_area_bytes are rounded up to whole pages.
  // kInvalidArgument for a layout out of bounds; kResource.
  static Result<SlotTable> Create(const SlotLayout& layout);
  // kMismatch with what was found and expected when `fd` is no table of this layout version.
  static Result<SlotTable> Attach(UniqueFd fd);

  int fd() const { return fd_.get(); }
  const SlotLayout& layout() const { return layout_; }
  uint64_t generation() const { return generation_; }

  // Acquire. `slot` must be < layout().slot_count.
  SlotWord Load(uint32_t slot) const;
  // Compare-and-swap of the whole word, release on success. False: the word was something else, and nothing has
  // changed.
  bool TryTransition(uint32_t slot, const SlotWord& expected, const SlotWord& desired);

  // Coordinator only. Never gives a number twice; kResource after 2^24 - 1 of them (then the stack needs a new table).
  Result<uint32_t> NextInstance();

  // Writers of the header. The caller owns the slot's state and publishes by its next TryTransition.
  // Coordinator, in kFree before kGrant: clears sections, result and error.
  void WriteAssignment(uint32_t slot, const SlotAssignment& assignment);
  // Coordinator, in kReady before kLease, kQuarantine after the owner's death.
  void WriteAttempt(uint32_t slot, uint32_t attempt);
  // Synthesis worker, in kGrant, before its first byte of payload: what it is about to write, so that a wipe after its
  // death knows the extent. The count is stored last. kInternal for an entry out of bounds.
  Status WriteSections(uint32_t slot, const std::vector<SectionEntry>& sections);
  // GPU owner, in kLease.
  Status WriteResult(uint32_t slot, const SectionEntry& result);
  // Owner, before kFailed. Texts are cut to fit.
  void WriteError(uint32_t slot, const Status& error);

  // The header that belongs to `word`. kUnavailable when the word is no longer that one (before or after the copy);
  // kMismatch, naming slot and field, when something in it is out of bounds.
  Result<SlotSnapshot> Snapshot(uint32_t slot, const SlotWord& word) const;

 private:
  SlotTable(UniqueFd fd, Mapping mapping, const SlotLayout& layout, uint64_t generation);
  TableHeader& header() const;
  SlotHeader& slot_header(uint32_t slot) const;

  UniqueFd fd_;
  Mapping mapping_;
  SlotLayout layout_;
  uint64_t generation_ = 0;
};

std::string_view SlotStateName(SlotState state);  // "free", "grant", ...; "unknown" for other numbers
// "lease instance 7 epoch 42"
std::string ToString(const SlotWord& word);

// In bounds of a payload section / of the result area, overflow-safe.
Status CheckSection(const SectionEntry& entry, const SlotLayout& layout);
Status CheckResultEntry(const SectionEntry& entry, const SlotLayout& layout);

}  // namespace proofline::shm
