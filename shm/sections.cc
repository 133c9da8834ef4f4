#include "shm/sections.h"

#include <tbb/parallel_for.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>

#include "core/base/secret.h"
#include "shm/slot_table.h"

namespace proofline::shm {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kValueBytes = 32;

uint64_t RoundUp(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
uint64_t BlockCount(uint64_t bytes) { return (bytes + kChecksumBlockBytes - 1) / kChecksumBlockBytes; }

uint64_t BlockChecksum(const uint8_t* data, uint64_t length, uint64_t block) {
  uint64_t at = block * kChecksumBlockBytes;
  return XXH3_64bits(data + at, std::min(kChecksumBlockBytes, length - at));
}

void WipeParallel(uint8_t* data, uint64_t bytes) {
  tbb::parallel_for(uint64_t{0}, BlockCount(bytes), [&](uint64_t block) {
    uint64_t at = block * kChecksumBlockBytes;
    Wipe(data + at, std::min(kChecksumBlockBytes, bytes - at));
  });
}

SectionEntry Entry(SectionKind kind, SectionEncoding encoding, uint64_t offset, uint64_t bytes,
                   uint64_t checksum_offset) {
  return {static_cast<uint32_t>(kind), static_cast<uint32_t>(encoding), offset, bytes, checksum_offset};
}

}  // namespace

SlotNeed NeedOf(uint64_t n_vars, uint64_t domain, uint64_t result_bytes) {
  uint64_t witness = n_vars * kValueBytes, rows = domain * kValueBytes;
  SlotNeed need;
  need.result_area_bytes = RoundUp(RoundUp(result_bytes) + BlockCount(result_bytes) * 8);
  need.slot_bytes = need.result_area_bytes + RoundUp(witness) + 2 * RoundUp(rows) +
                    RoundUp((BlockCount(witness) + 2 * BlockCount(rows)) * 8);
  return need;
}

SlotNeed Max(const SlotNeed& a, const SlotNeed& b) {
  uint64_t area = std::max(a.result_area_bytes, b.result_area_bytes);
  uint64_t payload = std::max(a.slot_bytes - a.result_area_bytes, b.slot_bytes - b.result_area_bytes);
  return {area + payload, area};
}

Result<std::vector<SectionEntry>> PlanPayload(uint64_t n_vars, uint64_t domain, const SlotLayout& layout) {
  uint64_t witness = n_vars * kValueBytes, rows = domain * kValueBytes;
  uint64_t at = layout.result_area_bytes;
  uint64_t a = at + RoundUp(witness), b = a + RoundUp(rows), sums = b + RoundUp(rows);
  uint64_t sums_a = sums + BlockCount(witness) * 8, sums_b = sums_a + BlockCount(rows) * 8,
           end = sums_b + BlockCount(rows) * 8;
  if (end > layout.slot_bytes)
    return Status(ErrorCode::kResource,
                  "a circuit of " + std::to_string(n_vars) + " variables over a domain of " + std::to_string(domain) +
                      " needs slots of " + std::to_string(end) + " bytes, this stack's have " +
                      std::to_string(layout.slot_bytes),
                  "", "Start the stack with larger slots.");
  return std::vector<SectionEntry>{Entry(SectionKind::kWitness, SectionEncoding::kFrCanonical, at, witness, sums),
                                   Entry(SectionKind::kRowsA, SectionEncoding::kFrMontgomery, a, rows, sums_a),
                                   Entry(SectionKind::kRowsB, SectionEncoding::kFrMontgomery, b, rows, sums_b)};
}

Result<SectionEntry> PlanResult(uint64_t result_bytes, const SlotLayout& layout) {
  uint64_t sums = RoundUp(result_bytes);
  if (sums + BlockCount(result_bytes) * 8 > layout.result_area_bytes)
    return Status(ErrorCode::kResource, "a result of " + std::to_string(result_bytes) +
                                            " bytes does not fit a result area of " +
                                            std::to_string(layout.result_area_bytes));
  return Entry(SectionKind::kResult, SectionEncoding::kBytes, 0, result_bytes, sums);
}

MutableByteSpan SectionBytes(uint8_t* slot, const SectionEntry& entry) {
  return {slot + entry.offset, entry.length_bytes};
}

void SealSection(uint8_t* slot, const SectionEntry& entry) {
  tbb::parallel_for(uint64_t{0}, BlockCount(entry.length_bytes), [&](uint64_t block) {
    StoreLe(slot + entry.checksum_offset + 8 * block, BlockChecksum(slot + entry.offset, entry.length_bytes, block));
  });
}

Status VerifySection(const uint8_t* slot, const SectionEntry& entry) {
  std::atomic<uint64_t> bad{UINT64_MAX};
  tbb::parallel_for(uint64_t{0}, BlockCount(entry.length_bytes), [&](uint64_t block) {
    if (LoadLe<uint64_t>(slot + entry.checksum_offset + 8 * block) !=
        BlockChecksum(slot + entry.offset, entry.length_bytes, block))
      bad = block;
  });
  if (bad == UINT64_MAX) return OkStatus();
  return Status(ErrorCode::kCrashed, "section of kind " + std::to_string(entry.kind) +
                                         " of a slot differs from its checksum in MiB " + std::to_string(bad.load()) +
                                         ": the slot was written by somebody else");
}

void WipeSection(uint8_t* slot, const SectionEntry& entry) {
  WipeParallel(slot + entry.offset, entry.length_bytes);
  Wipe(slot + entry.checksum_offset, BlockCount(entry.length_bytes) * 8);
}

void WipeSlot(uint8_t* slot, const SlotLayout& layout) { WipeParallel(slot, layout.slot_bytes); }

Result<std::vector<uint8_t>> CopyResult(const uint8_t* window, const SectionEntry& entry, const SlotLayout& layout) {
  if (entry.length_bytes == 0) return Status(ErrorCode::kMismatch, "a slot in state result has no result");
  PL_RETURN_IF_ERROR(CheckResultEntry(entry, layout));
  std::vector<uint8_t> copy(window + entry.offset, window + entry.offset + entry.length_bytes);
  for (uint64_t block = 0; block < BlockCount(copy.size()); ++block)
    if (LoadLe<uint64_t>(window + entry.checksum_offset + 8 * block) != BlockChecksum(copy.data(), copy.size(), block))
      return Status(ErrorCode::kCrashed,
                    "the result in a slot differs from its checksum in MiB " + std::to_string(block));
  return copy;
}

}  // namespace proofline::shm
