// Included by one msm_tree_*.cu a group.
#pragma once

#include "cuda/msm/msm_tree_kernels.cuh"
#include "cuda/msm/msm_tree_queue.cuh"

namespace proofline::cuda {

template <class F, bool kFirst>
Status QueueTreeRound(const MsmLayout& layout, int r, const SortedList<F>& list, uint8_t* workspace, cudaStream_t stream) {
  const MsmTreeLayout& tree = layout.tree;
  const MsmTreeRound round = TreeRound(tree, r);
  auto* offsets = reinterpret_cast<uint32_t*>(workspace + tree.offsets);
  auto* products = reinterpret_cast<F*>(workspace + tree.products);
  auto* totals = reinterpret_cast<F*>(workspace + tree.totals);
  uint32_t* next_length = reinterpret_cast<uint32_t*>(workspace + tree.lengths) + r + 1;
  PL_RETURN_IF_ERROR(MsmQueuePairOffsets(list.keys, list.length, round.pairs, offsets, next_length, workspace + tree.scan, tree.scan_bytes, stream));
  const PairList<F, kFirst> pairs{list.keys, list.values, list.points, list.length};
  MsmPairProductsKernel<<<BlocksFor(round.threads), kMsmThreads, 0, stream>>>(pairs, round.pairs_each, products, totals);
  PL_CUDA_CHECK_LAUNCH();
  const uint64_t inverters = (round.threads + round.totals_each - 1) / round.totals_each;
  MsmInvertKernel<<<BlocksFor(inverters), kMsmThreads, 0, stream>>>(totals, reinterpret_cast<F*>(workspace + tree.prefixes), round.threads,
                                                                    round.totals_each, inverters);
  PL_CUDA_CHECK_LAUNCH();
  constexpr size_t kShared = FetchedPair<F>::kBytes;
  PL_CUDA_RETURN_IF_ERROR(cudaFuncSetAttribute(MsmPairSumsKernel<F, kFirst>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kShared)));
  MsmPairSumsKernel<<<BlocksFor(round.threads), kMsmThreads, kShared, stream>>>(pairs, round.pairs_each, offsets, products, totals,
                                                                          reinterpret_cast<uint32_t*>(workspace + tree.keys[r % 2]),
                                                                          reinterpret_cast<Affine<F>*>(workspace + tree.points[r % 2]));
  PL_CUDA_CHECK_LAUNCH();
  return OkStatus();
}

template <class F>
Status QueueTree(const MsmLayout& layout, SortedList<F>& list, uint8_t* workspace, cudaStream_t stream) {
  const MsmTreeLayout& tree = layout.tree;
  auto* lengths = reinterpret_cast<uint32_t*>(workspace + tree.lengths);
  PL_RETURN_IF_ERROR(MsmQueueLength(lengths, static_cast<uint32_t>(list.items), stream));
  list.length = lengths;
  for (int r = 0; r < tree.rounds; ++r) {
    PL_RETURN_IF_ERROR(r == 0 ? (QueueTreeRound<F, true>(layout, r, list, workspace, stream)) : (QueueTreeRound<F, false>(layout, r, list, workspace, stream)));
    list = {reinterpret_cast<const uint32_t*>(workspace + tree.keys[r % 2]), nullptr, reinterpret_cast<const Affine<F>*>(workspace + tree.points[r % 2]),
            lengths + r + 1, tree.capacity[r + 1]};
  }
  return OkStatus();
}

}  // namespace proofline::cuda
