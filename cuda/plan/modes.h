// Inside cuda/plan: the ways in which one circuit can be laid out, and what each one costs. plan.cc chooses among them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/plan/plan.h"

namespace proofline::cuda {

// A part of the key that can be resident or streamed.
struct KeySection {
  std::string_view name;
  uint64_t bytes = 0;
};

struct Mode {
  uint32_t streamed = 0;  // how many of SectionsOf(shape), from the front
  bool prestage = false;
  bool spill_c = false;
  bool twiddles_resident = false;
  bool witness_early = false;
  WitnessMode witness = WitnessMode::kWhole;  // the others only with all of the key resident
  uint32_t list_room_ppm = 0;                 // of the variables; kListed
  MsmMethod method = MsmMethod::kPlain;
  bool chunks_early = false;  // the first chunks come while the transforms run
  uint32_t piece_points = 0;  // of MSMs over resident sections, at most; streamed ones have at most kMaxChunkPoints
  uint32_t windows_at_once = 0;  // 0 = all
};

inline constexpr uint32_t kWholePoints = uint32_t{1} << 30;    // index and sign share 32 bits of a sort value
inline constexpr uint32_t kMaxChunkPoints = uint32_t{1} << 23;  // of G1: enough work for a copy to hide behind, 2 x 768 MiB of BLS12-381
inline constexpr uint32_t kMinPiecePoints = uint32_t{1} << 18;

// In the order in which they are streamed when room is short: H first, its arithmetic hides the link best.
std::vector<KeySection> SectionsOf(const CircuitShape& shape);

// Buffers and MSMs of a mode, packed; no text, nothing about streaming's cost. `peak_bytes` UINT64_MAX for pieces that the kernels cannot
// do (more than 2^32 digits sorted at once).
VramPlan PlanMode(const CircuitShape& shape, const Mode& mode);

// Whether the lists of a witness's classes know this shape.
bool CanList(const CircuitShape& shape);

uint64_t InputBytes(const CircuitShape& shape);
uint64_t WitnessBytes(const CircuitShape& shape);  // as it crosses the bus

}  // namespace proofline::cuda
