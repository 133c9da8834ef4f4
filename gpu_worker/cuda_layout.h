// Where everything of one key and one proof lies in a card's arena. Host arithmetic only.
//
// Resident while the key is: its five queries and the roots of unity. Of a proof: the witness, the vectors a, b and c, and the workspaces of
// the queries. C stands behind as many points at infinity as there are public values, so that the four queries of the witness have the
// same scalars.
//
// Where there is room the queries run side by side, each in a workspace of its own: a single query below 2^22 points leaves most of a card
// idle. Those of the witness then read sorted lists of digits that leave zeros out: A and C one, B1 and B2 another, which leaves out the
// variables that are not in B too. Otherwise all share one workspace, one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "core/groth16/types.h"
#include "cuda/msm/msm.h"

namespace proofline::gpu_worker {

enum Query { kQueryH, kQueryA, kQueryB1, kQueryB2, kQueryC, kQueryCount };

// The lists of digits, and whose they are.
enum List { kListAll, kListB, kListCount };
constexpr int ListOf(int query) { return query == kQueryB1 || query == kQueryB2 ? kListB : kListAll; }

struct CudaPlace {
  uint64_t offset = 0, bytes = 0;
};

struct CudaLayout {
  // For a witness without zeros and ones; PlanWitness makes the plans for one that has been looked at.
  std::array<cuda::MsmPlan, kQueryCount> plans;
  std::array<CudaPlace, kQueryCount> points, sums;
  std::array<CudaPlace, kQueryCount> work;  // H's holds the vector c first
  CudaPlace roots, witness, a, b;
  bool side_by_side = false;
  // Only side by side. `classes` has one cuda::MsmClasses a list; `present` is resident.
  std::array<CudaPlace, kListCount> indices, digits;
  CudaPlace classes, present;
  uint64_t public_points = 0;          // at infinity, before C's
  uint64_t resident_bytes = 0, total_bytes = 0;
};

// The plan of H as it is, the others for a witness of these classes: never more than the layout has room for. Side by side only.
std::array<cuda::MsmPlan, kQueryCount> PlanWitness(const CudaLayout& layout, const std::array<cuda::MsmClasses, kListCount>& classes);

// kUnsupported for a domain that the transform cannot do; kResource, with numbers, when it does not fit.
Result<CudaLayout> LayOutProof(const ProvingKeyView& key, uint64_t arena_bytes);

}  // namespace proofline::gpu_worker
