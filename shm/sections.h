// Where things lie inside a slot, and the checksums over them.
//
//   0                  result area: the result's bytes (core/groth16/result.h), then its checksums
//   result_area_bytes  payload: WITNESS, ROWS_A, ROWS_B, each from a page's start, then their checksums
//
// Parallel parts run in the TBB arena of the calling thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "shm/slot.h"

namespace proofline::shm {

// What a circuit needs of a slot, in whole pages. Sizes of any 32-bit counts fit without overflow.
struct SlotNeed {
  uint64_t slot_bytes = 0;
  uint64_t result_area_bytes = 0;
};
SlotNeed NeedOf(uint64_t n_vars, uint64_t domain, uint64_t result_bytes);
// A layout in which both fit.
SlotNeed Max(const SlotNeed& a, const SlotNeed& b);

// The three payload sections of a circuit in a slot of `layout`; kResource, with both numbers, when they do not fit.
Result<std::vector<SectionEntry>> PlanPayload(uint64_t n_vars, uint64_t domain, const SlotLayout& layout);
// The result's entry; kResource when it does not fit.
Result<SectionEntry> PlanResult(uint64_t result_bytes, const SlotLayout& layout);

// The bytes of an entry that has been checked against the layout of `slot`.
MutableByteSpan SectionBytes(uint8_t* slot, const SectionEntry& entry);

// Writes the XXH3-64 of each MiB of the section behind its checksum_offset.
void SealSection(uint8_t* slot, const SectionEntry& entry);
// kCrashed, naming section kind and block, when a checksum differs: whoever wrote it was not the one who sealed it.
Status VerifySection(const uint8_t* slot, const SectionEntry& entry);

// Zeroes a section and its checksums.
void WipeSection(uint8_t* slot, const SectionEntry& entry);
// Zeroes everything.
void WipeSlot(uint8_t* slot, const SlotLayout& layout);

// Coordinator, in kResult: copies the result out of the window and checks the copy.
Result<std::vector<uint8_t>> CopyResult(const uint8_t* window, const SectionEntry& entry, const SlotLayout& layout);

}  // namespace proofline::shm
