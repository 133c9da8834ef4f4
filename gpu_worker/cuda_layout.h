// Where everything of one key and one proof lies in a card's arena. Host arithmetic only.
//
// Resident while the key is: its five queries and the roots of unity. Of a proof: the witness, the vectors a, b and c, and the workspaces of
// the queries. C stands behind as many points at infinity as there are public values, so that the four queries of the witness have the
// same scalars.
//
// Where there is room the queries run side by side, each in a workspace of its own, and those of the witness share one sorted list of digits
// that leaves zeros out. A single query below 2^22 points leaves most of a card idle. Otherwise all share one workspace, one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "core/groth16/types.h"
#include "cuda/msm/msm.h"

namespace proofline::gpu_worker {

enum Query { kQueryH, kQueryA, kQueryB1, kQueryB2, kQueryC, kQueryCount };

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
  CudaPlace indices, digits, classes;  // only side by side
  uint64_t public_points = 0;          // at infinity, before C's
  uint64_t resident_bytes = 0, total_bytes = 0;
};

// The plan of H as it is, the others for a witness of these classes: never more than the layout has room for. Side by side only.
std::array<cuda::MsmPlan, kQueryCount> PlanWitness(const CudaLayout& layout, cuda::MsmClasses classes);

// kUnsupported for a domain that the transform cannot do; kResource, with numbers, when it does not fit.
Result<CudaLayout> LayOutProof(const ProvingKeyView& key, uint64_t arena_bytes);

}  // namespace proofline::gpu_worker
