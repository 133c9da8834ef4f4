#include "cuda/msm/msm.h"

#include "cuda/msm/msm_group.h"

namespace proofline::cuda {
namespace {

const MsmGroupCode& CodeOf(MsmGroup group) {
  switch (group) {
    case MsmGroup::kBn254G1: return kMsmBn254G1;
    case MsmGroup::kBn254G2: return kMsmBn254G2;
    case MsmGroup::kBls12381G1: return kMsmBls12381G1;
    case MsmGroup::kBls12381G2: return kMsmBls12381G2;
  }
  return kMsmBn254G1;
}

}  // namespace

Status MsmQueue(const MsmPlan& plan, const void* bases, const void* scalars, void* workspace, void* result,
                StreamHandle stream) {
  return CodeOf(plan.group).queue(plan, bases, scalars, workspace, result, stream);
}

std::vector<uint8_t> MsmFinish(const MsmPlan& plan, ByteSpan result) { return CodeOf(plan.group).finish(plan, result); }

}  // namespace proofline::cuda
