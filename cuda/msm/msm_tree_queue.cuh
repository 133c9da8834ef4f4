// The host side of the rounds of msm_tree.h. What is a template here is made in msm_tree_*.cu, so that builds go side by side.
#pragma once

#include <type_traits>

#include "cuda/device/check.h"
#include "cuda/msm/msm_kernels.cuh"
#include "cuda/msm/msm_layout.h"

namespace proofline::cuda {

inline unsigned BlocksFor(uint64_t threads) { return static_cast<unsigned>((threads + kMsmThreads - 1) / kMsmThreads); }

// A list sorted by key: digits and the bases that they name, or, with `length`, points one behind the other.
template <class F>
struct SortedList {
  const uint32_t* keys;
  const uint32_t* values;
  const Affine<F>* points;
  const uint32_t* length;
  uint64_t items;  // at most, with `length`
};

// Fields for which there is a msm_tree_*.cu, and for which MsmPlan may have rounds (msm_plan.cc).
template <class F>
inline constexpr bool kHasTree = std::is_same_v<F, Field<Bls12381FqModulus>> || std::is_same_v<F, Field2<Field<Bls12381FqModulus>>>;

// All rounds; `list` becomes what they leave.
template <class F>
Status QueueTree(const MsmLayout& layout, SortedList<F>& list, uint8_t* workspace, cudaStream_t stream);

}  // namespace proofline::cuda
