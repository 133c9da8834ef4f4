#include "cuda/msm/msm_group.h"
#include "cuda/msm/msm_queue.cuh"

namespace proofline::cuda {

const MsmGroupCode kMsmBn254G2 = {QueueMsm<Bn254FrModulus, Field2<Field<Bn254FqModulus>>>,
                               QueueDigits<Bn254FrModulus>, QueueSums<Field2<Field<Bn254FqModulus>>>,
                               FinishMsm<proofline::Bn254<PortableArith>::G2>};

}  // namespace proofline::cuda
