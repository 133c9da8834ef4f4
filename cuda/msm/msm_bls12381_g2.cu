#include "cuda/msm/msm_group.h"
#include "cuda/msm/msm_queue.cuh"

namespace proofline::cuda {

const MsmGroupCode kMsmBls12381G2 = {QueueMsm<Bls12381FrModulus, Field2<Field<Bls12381FqModulus>>>,
                               QueueDigits<Bls12381FrModulus>, QueueSums<Field2<Field<Bls12381FqModulus>>>,
                               FinishMsm<proofline::Bls12381<PortableArith>::G2>};

}  // namespace proofline::cuda
