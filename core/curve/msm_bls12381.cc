#include "core/curve/curve.h"
#include "core/curve/msm_impl.h"

namespace proofline {

#define PROOFLINE_INSTANTIATE_MSM(CurveT)                                                                     \
  template Xyzz<CurveT::Fq> Msm<CurveT::Fr, CurveT::Fq>(ByteSpan, ByteSpan, const MsmOptions&);               \
  template Xyzz<CurveT::Fq2> Msm<CurveT::Fr, CurveT::Fq2>(ByteSpan, ByteSpan, const MsmOptions&)

PROOFLINE_INSTANTIATE_MSM(Bls12381<PortableArith>);
PROOFLINE_INSTANTIATE_MSM(Bls12381<AdxArith>);

}  // namespace proofline
