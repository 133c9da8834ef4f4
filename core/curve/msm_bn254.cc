#include "core/curve/curve.h"
#include "core/curve/msm_impl.h"

namespace proofline {

#define PROOFLINE_INSTANTIATE_MSM(CurveT)                                                                     \
  template Xyzz<CurveT::Fq> Msm<CurveT::Fr, CurveT::Fq>(ByteSpan, ByteSpan, const MsmOptions&);               \
  template Xyzz<CurveT::Fq2> Msm<CurveT::Fr, CurveT::Fq2>(ByteSpan, ByteSpan, const MsmOptions&)

PROOFLINE_INSTANTIATE_MSM(Bn254<PortableArith>);
PROOFLINE_INSTANTIATE_MSM(Bn254<AdxArith>);

}  // namespace proofline
