// The rows of a memory plan (cuda/plan) as an owner's device uses them: by query and list instead of by name. Nothing is placed here; what the
// device touches is what `proofline circuit show NAME --plan` prints. Host code, no CUDA.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/status.h"
#include "core/groth16/types.h"
#include "cuda/plan/plan.h"

namespace proofline::gpu_worker {

enum Query { kQueryH, kQueryA, kQueryB1, kQueryB2, kQueryC, kQueryCount };

// The lists of a witness's classes, and whose they are.
enum List { kListAll, kListB, kListCount };
static_assert(kListCount == cuda::kPlanLists);
constexpr int ListOf(int query) { return query == kQueryB1 || query == kQueryB2 ? kListB : kListAll; }
// The query that comes first of those with a list: its lane makes the list.
constexpr int FirstOf(int list) { return list == kListB ? kQueryB2 : kQueryA; }

struct CudaPlace {
  uint64_t offset = 0, bytes = 0;
};

struct CudaLayout {
  cuda::VramPlan plan;
  // Places of rows that the plan does not have are empty.
  std::array<CudaPlace, kQueryCount> points, work, sums;
  CudaPlace roots, witness, next_witness, a, b, c, next_a, next_b, chunks;
  std::array<CudaPlace, kListCount> indices, digits;
  CudaPlace classes, present;
  // Of a witness for which the lists have just enough room; PlanWitness makes those of one that has been looked at. H's is not used.
  std::array<cuda::MsmPlan, kQueryCount> listed;
  uint64_t public_points = 0;  // at infinity, before C's
  uint64_t resident_end = 0;   // all rows that do not outlast a proof lie behind it

  bool lanes() const { return plan.witness_mode == cuda::WitnessMode::kLanes; }
  bool lists() const { return plan.witness_mode != cuda::WitnessMode::kWhole; }
  bool prestages() const { return plan.prestage.planned; }
};

// The plan's shape of a key as it is in a .zkey, with rows and a dense witness from the slot.
cuda::CircuitShape ShapeOf(const ProvingKeyView& key);

// The owner's plan for a key in an arena (OwnerBudgetInArena), checked, and its rows. As PlanVram; kResource too where the sums of very many
// pieces are more than `download_bytes`.
Result<CudaLayout> LayOutProof(const ProvingKeyView& key, uint64_t arena_bytes, uint64_t download_bytes = UINT64_MAX);

// The plans of the witness's queries for one of these classes. False where the lists have no room for it. Precondition: layout.lists().
bool PlanWitness(const CudaLayout& layout, const std::array<cuda::MsmClasses, kListCount>& classes, std::array<cuda::MsmPlan, kQueryCount>& plans);

}  // namespace proofline::gpu_worker
