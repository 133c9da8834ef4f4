// The slot table and the slots: where a partition's vectors live while they move between processes.
//
// One small memfd holds the table (a header page, then one page per slot); one memfd per slot holds its result area and its
// payload. The coordinator makes them, keeps them (through its supervisor's descriptor store) and hands descriptors out over the
// broker socket. There is no lock: each slot has one atomic word, and in each state exactly one process may write (README.md has
// the tables: who writes what in which state, what every death does). Everything read from the table is checked as if it came
// from a file: another process may have been killed over it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace proofline::shm {

// Append only: the numbers are in shared memory and outlive a coordinator.
enum class SlotState : uint8_t {
  kFree = 0,        // nobody writes. coordinator: -> kGrant
  kGrant = 1,       // the synthesis worker `instance` writes payload. worker: -> kReady, kFailed
  kReady = 2,       // sealed, nobody writes. coordinator: -> kLease, kFree
  kLease = 3,       // the GPU owner `instance` writes the result area. owner: -> kResult, kFailed
  kResult = 4,      // nobody writes. coordinator, after the journal has it: -> kFree (through a wipe)
  kFailed = 5,      // a live owner gave up: class and text in the header. coordinator: -> kFree or kReady
  kQuarantine = 6,  // the owner is suspected and being killed. coordinator, after its pidfd fired: -> kFree or kReady
  kWipe = 7,        // a synthesis worker zeroes payload its dead predecessor left. worker: -> kFree
};

// One 64-bit word: state in bits 0-7, owner instance in bits 8-31 (0 = nobody), epoch in bits 32-63. Every transition is a
// compare-and-swap of the whole word; every transition by the coordinator takes the next epoch, so a late owner's swap fails.
struct SlotWord {
  SlotState state = SlotState::kFree;
  uint32_t instance = 0;  // 24 bits
  uint32_t epoch = 0;
  uint64_t Pack() const { return uint64_t(state) | uint64_t(instance & 0xffffff) << 8 | uint64_t(epoch) << 32; }
  static SlotWord Unpack(uint64_t w) {
    return {static_cast<SlotState>(w & 0xff), static_cast<uint32_t>(w >> 8) & 0xffffff, static_cast<uint32_t>(w >> 32)};
  }
  bool operator==(const SlotWord&) const = default;
};

// What a section of a slot's payload is. Fixed numbers, listed once here and in README.md.
enum class SectionKind : uint32_t {
  kNone = 0,
  kWitness = 1,  // n_vars values
  kRowsA = 2,    // A.z over the domain
  kRowsB = 3,    // B.z over the domain
  kResult = 4,   // proof and public values, in the result area: see core/groth16/result.h for the bytes
  kError = 5,    // not bytes: the error text of the header
};
enum class SectionEncoding : uint32_t {
  kNone = 0,
  kFrCanonical = 1,   // 32 bytes a value, canonical little-endian
  kFrMontgomery = 2,  // 32 bytes a value, Montgomery
  kBytes = 3,
};

inline constexpr uint32_t kMaxSections = 8;
inline constexpr uint32_t kErrorTextBytes = 1024;
inline constexpr uint64_t kChecksumBlockBytes = uint64_t{1} << 20;

struct SectionEntry {
  uint32_t kind = 0, encoding = 0;
  uint64_t offset = 0;  // from the slot's start, a multiple of 64
  uint64_t length_bytes = 0;
  uint64_t checksum_offset = 0;  // from the slot's start: XXH3-64 of each MiB, 8 bytes each
};

// One page of the table. `word` may be changed as above; all else is written only by the owner of the state, before its swap
// (release) and read after loading the word (acquire).
struct alignas(4096) SlotHeader {
  std::atomic<uint64_t> word;
  uint64_t job;         // the journal's number of the job
  uint32_t partition;
  uint32_t attempt;
  uint64_t circuit;     // the journal's number of the circuit
  uint32_t section_count;
  uint32_t error_code;  // ErrorCode, in kFailed
  SectionEntry sections[kMaxSections];
  SectionEntry result;
  uint32_t error_text_bytes;
  char error_text[kErrorTextBytes];  // "fact\ndetail\nremedy"
};
static_assert(sizeof(SlotHeader) == 4096);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr uint64_t kTableMagic = 0x31304c42544c5250;  // "PRLTBL01"
struct alignas(4096) TableHeader {
  uint64_t magic;  // written last
  uint32_t layout_version;
  uint32_t slot_count;
  uint64_t slot_bytes;         // of each slot memfd, result area included
  uint64_t result_area_bytes;  // at the start of each slot
  std::atomic<uint32_t> next_instance;  // coordinator only; instance numbers are never used twice in a table's life
  uint64_t generation;         // random, made with the table
};
static_assert(sizeof(TableHeader) == 4096);

struct SlotLayout {
  uint32_t slot_count = 0;
  uint64_t slot_bytes = 0;  // rounded up to whole pages by Create
  uint64_t result_area_bytes = 0;
};

}  // namespace proofline::shm
