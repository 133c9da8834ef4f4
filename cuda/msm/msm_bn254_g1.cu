#include "cuda/msm/msm_group.h"
#include "cuda/msm/msm_queue.cuh"

namespace proofline::cuda {

const MsmGroupCode kMsmBn254G1 = {QueueMsm<Bn254FrModulus, Field<Bn254FqModulus>>,
                               QueueDigits<Bn254FrModulus>, QueueSums<Field<Bn254FqModulus>>,
                               FinishMsm<proofline::Bn254<PortableArith>::G1>};

}  // namespace proofline::cuda
