// Where everything of one circuit lies in a card's memory: every buffer with its size, its first and last phase and its offset, computed on
// the host before anything runs. Nothing asks for device memory later. Pure arithmetic, no CUDA: the command line and machines without a
// card use it too.
//
// Phases of a proof, in order (E, N, H, W in tables):
//   kUpload      input arrives; A.z and B.z are computed if rows_on_device
//   kTransform   plain keys: c = a*b, then a, b and c to the odd coset and h = a*b - c into a (6 transforms);
//                prepared keys: a and b to the odd coset and a = a*b (4 transforms)
//   kMsmH        the MSM of `a` over the H query
//   kMsmWitness  the MSMs of the witness over A, B1, B2 and C
// Two buffers may share bytes only if no phase has both. So where phases follow each other on different streams, an event orders the first
// use of a buffer behind the last use of what lay there. A resident buffer keeps its content from one proof to the next, and the next
// partition's input waits in its buffers; any other holds nothing when its first phase begins.
//
// What the executor does, by what the plan says:
//   * H's MSM is a list of pieces (MsmRun): one MsmQueue with PieceOf(run, i) for points [i * piece_points, ...), the same scalars, all with
//     kMsmWork, one after the other, sums to kMsmSums at SumsOffset(run, i). The host adds the points that MsmFinish gives.
//   * WitnessMode::kWhole: so are the four of the witness. kListed: the values that are neither 0 nor 1, and the ones, are listed first
//     (kLists..., in kUpload; for B without the variables that kPresentB does not have), and the digits of one list at a time are sorted into
//     kListDigits: B's for B1 and B2, then all for A and C. A witness with more than `list_room` such values goes as in kWhole.
//     kLanes: as kListed for any witness, each list with digits and each query with a workspace of its own (kWorkA and so on), beside the
//     transforms and H.
//   * C has a point at infinity for each public variable, so that the four queries have the same scalars.
//   * run.streamed: the points stay where the host has the key. Piece i is copied to half i % 2 of kPointChunks on the upload stream while the
//     piece before it is computed. The halves are used in turns through all runs in order, first run to last.
//     Where kPointChunks begins in kTransform, the first two pieces are copied then (behind C's return, if spill_c).
//   * kMatrixChunks instead of kMatrices: the matrices are copied through its two halves in the same way in kUpload.
//   * prestage.planned: while a proof runs, the next one's input goes into kNextWitness, kNextRowsA, kNextRowsB. At its start the witness
//     buffers change roles (same size, both live in all phases) and the rows are copied to kRowsA, kRowsB on the device.
//   * kTwiddles not resident: the table is built anew in each kTransform.
//   * kWitness or kWitnessCompact beginning in kMsmH: it is uploaded after the transforms. kWitness beside kWitnessCompact: expanded at the
//     beginning of kMsmWitness.
//   * kScalarsB: the witness values at the indices kIndexB, gathered in kMsmWitness: the scalars of B1 and B2.
//   * spill_c: there is no third vector. b = a*b is extended as c, copied to pinned host memory (domain * 32 bytes), B.z is uploaded or
//     computed anew, and c comes back through kPointChunks for the subtraction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/field/moduli.h"
#include "cuda/msm/msm.h"

namespace proofline::cuda {

struct CircuitShape {
  CurveId curve = CurveId::kBn254;
  uint32_t log2_domain = 0;
  uint32_t n_vars = 0;    // with the constant one
  uint32_t n_public = 0;  // without it
  uint32_t b_points = 0;  // points in B1 and in B2 when those at infinity are left out; 0 = n_vars, as in a .zkey
  uint64_t nnz_a = 0, nnz_b = 0;  // coefficients; used when rows_on_device
  bool prepared = false;          // H in the basis of the odd coset with C folded into the C query: that query has n_vars points
  bool compact_witness = false;   // two class bits a value and 32 bytes a wide one cross the bus; otherwise 32 bytes a value
  bool rows_on_device = false;    // A.z and B.z are computed here; otherwise they come with the input
  uint32_t wide_ppm = 1'000'000;  // values that are neither 0 nor 1: sizes a compact witness, and the estimate of arithmetic
};

struct DeviceBudget {
  uint64_t vram_bytes = 0;        // of the card, or what is free of it once the context is there
  uint32_t share_ppm = 980'000;   // of it a plan may use; 1'000'000 for an arena that is already allocated
  double pcie_bytes_per_s = 25e9;  // pinned copies, one direction; 0 is kInvalidArgument
  // Mixed additions of BLS12-381 G1; only for the estimate of what the link adds. The figure is one H200's (cuda/README.md).
  double g1_additions_per_s = 2e9;
  uint64_t context_bytes = 0;      // of vram_bytes, not to be had: what the driver keeps for the context
  bool prestage = true;   // false: the owner does not pre-stage
  bool streaming = true;  // false: the owner can only prove with all of the key resident
  bool spill = true;      // false: the owner has no place in host memory for the third vector
  bool lists = false;     // the owner lists a witness's classes (kListed, kLanes); dense witnesses with all points in B only
  // The card's memory is fast enough for trees of affine additions (cuda/msm/msm_tree.h), which want room and more traffic than XYZZ's.
  bool trees = false;
  uint64_t capacity_bytes() const;
};

// What gpu_worker/cuda_device.h can do, on a card of this size, or in an arena that is already allocated: the budget of its own plans.
DeviceBudget OwnerBudget(uint64_t card_bytes);
DeviceBudget OwnerBudgetInArena(uint64_t arena_bytes);

enum class WitnessMode : uint8_t { kWhole, kListed, kLanes };

// All variables, and those in B.
inline constexpr int kPlanLists = 2;

enum class PlanPhase : uint8_t { kUpload, kTransform, kMsmH, kMsmWitness };
inline constexpr int kPlanPhaseCount = 4;
inline constexpr uint64_t kPlanAlignment = 256;

// Names of buffers. Which of them a plan has depends on its shape; VramPlan::Find tells.
namespace buffer {
inline constexpr std::string_view kKeyH = "key.h", kKeyA = "key.a", kKeyB1 = "key.b1", kKeyB2 = "key.b2", kKeyC = "key.c";
inline constexpr std::string_view kMatrices = "matrices";           // A and B: 6 bytes a coefficient, two rows' data
inline constexpr std::string_view kIndexB = "index.b";              // 4 bytes a point of B1
inline constexpr std::string_view kTwiddles = "twiddles";           // NttTableBytes
inline constexpr std::string_view kWitness = "witness";             // 32 bytes a variable, canonical
inline constexpr std::string_view kWitnessCompact = "witness.compact";
inline constexpr std::string_view kScalarsB = "scalars.b";
inline constexpr std::string_view kNextWitness = "next.witness";    // in the form in which it crosses the bus
inline constexpr std::string_view kNextRowsA = "next.rows.a", kNextRowsB = "next.rows.b";
inline constexpr std::string_view kRowsA = "rows.a", kRowsB = "rows.b", kRowsC = "rows.c";  // 32 bytes a row; A ends as H's scalars
inline constexpr std::string_view kPointChunks = "chunks.points", kMatrixChunks = "chunks.matrices";  // two halves each
inline constexpr std::string_view kMsmWork = "msm.work";            // the largest workspace of all that have none of their own
inline constexpr std::string_view kWorkA = "msm.work.a", kWorkB1 = "msm.work.b1", kWorkB2 = "msm.work.b2", kWorkC = "msm.work.c";  // kLanes
inline constexpr std::string_view kPresentB = "present.b";          // a bit a variable (msm_present.h)
inline constexpr std::string_view kListClasses = "lists.classes";   // kPlanLists times MsmClasses
inline constexpr std::string_view kListAll = "lists.all", kListB = "lists.b";  // 4 bytes a variable
inline constexpr std::string_view kListDigits = "digits", kListDigitsAll = "digits.all", kListDigitsB = "digits.b";  // kListed; kLanes
inline constexpr std::string_view kMsmSums = "msm.sums";
}  // namespace buffer

struct PlannedBuffer {
  std::string name;
  uint64_t bytes = 0, offset = 0;  // offset is a multiple of kPlanAlignment
  PlanPhase first = PlanPhase::kUpload, last = PlanPhase::kMsmWitness;  // both included
  bool resident = false;
};

// One query's MSM.
struct MsmRun {
  std::string points;  // the key's section: buffer::kKeyH and so on
  MsmGroup group{};
  uint32_t point_count = 0;
  uint32_t piece_points = 0;  // of every piece but the last
  uint32_t piece_count = 0;   // 0 when there are no points
  uint32_t windows_at_once = 0;
  MsmMethod method = MsmMethod::kPlain;
  bool streamed = false;
  uint64_t sums_offset = 0, sums_stride = 0;  // in kMsmSums
};
// Precondition: piece < run.piece_count.
MsmPlan PieceOf(const MsmRun& run, uint32_t piece);
inline uint64_t SumsOffset(const MsmRun& run, uint32_t piece) { return run.sums_offset + piece * run.sums_stride; }

struct Prestaging {
  bool planned = false;
  uint64_t needs_bytes = 0, has_bytes = 0;  // whole plan with it, and the capacity; needs 0 if the owner does not ask for it
  std::string text;                         // one sentence: where it is, or "no pre-staging: needs X GiB, has Y GiB"
};

struct Streaming {
  std::vector<std::string> sections;  // of the key, in host memory; empty: all resident
  uint64_t pinned_bytes = 0;          // host memory that the owner must have pinned for them: the third vector's
  uint64_t host_bytes = 0;            // of the sections, in the key's file
  uint64_t bytes_per_proof = 0;       // over the link, the input not counted
  double link_ms = 0;                 // of these bytes at the given bandwidth
  double exposed_ms = 0;              // the part that arithmetic does not hide, estimated
  std::string text;
};

struct VramPlan {
  CircuitShape shape;
  std::vector<PlannedBuffer> buffers;  // resident first, then by first phase
  std::vector<MsmRun> msms;            // H, A, B1, B2, C: the order in which they run
  uint64_t capacity_bytes = 0, peak_bytes = 0, resident_bytes = 0;
  uint64_t input_bytes = 0;  // of one partition over the link
  bool spill_c = false;
  WitnessMode witness_mode = WitnessMode::kWhole;
  MsmMethod method = MsmMethod::kPlain;  // of all MSMs; kAuto: with trees where they help
  uint32_t list_room = 0;  // values that are neither 0 nor 1, at most, for which kListed has digits
  Prestaging prestage;
  Streaming streaming;

  const PlannedBuffer* Find(std::string_view name) const;
};

// The best plan that fits. What room is used for, by a fixed order for each shape, so that more memory never loses pre-staging or a resident
// section: everything streamed; then pre-staging; then the key's sections one by one (before pre-staging where all of them cost less); then
// lanes, or lists for as many values as there is room for, with or without trees; larger pieces of MSMs and more windows at once, the first chunks early, the twiddles
// resident, the witness early.
// kResource (asking again does not help) when it cannot fit: needs, has and the largest rows. kUnsupported: a domain beyond the transform's.
// kInvalidArgument: counts that no circuit has.
Result<VramPlan> PlanVram(const CircuitShape& shape, const DeviceBudget& budget);

// Names once each, offsets aligned, ends within `capacity_bytes` and peak_bytes, phases in order, resident ones in all phases, no two
// buffers that share a phase and a byte. kInternal naming the buffers otherwise. Does not rely on how plans are made; the owner calls it at start.
Status CheckPlan(const VramPlan& plan, uint64_t capacity_bytes);

// A table for a terminal, a line a buffer, and the sentences about pre-staging and streaming.
std::string FormatPlan(const VramPlan& plan);
// "E", "N", "H", "W"
char PhaseLetter(PlanPhase phase);
// "13.25 GiB", "96 MiB", "512 B"
std::string FormatBytes(uint64_t bytes);

}  // namespace proofline::cuda
