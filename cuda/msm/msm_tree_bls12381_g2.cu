#include "cuda/msm/msm_tree_rounds.cuh"

namespace proofline::cuda {

template Status QueueTree<Field2<Field<Bls12381FqModulus>>>(const MsmLayout&, SortedList<Field2<Field<Bls12381FqModulus>>>&, uint8_t*, cudaStream_t);

}  // namespace proofline::cuda
