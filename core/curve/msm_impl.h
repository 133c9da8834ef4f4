// Definitions of Msm. Included only by the files that instantiate it (msm_<curve>.cc).
#pragma once

#include "core/curve/msm.h"

namespace proofline {

template <class Fr, class F>
Xyzz<F> Msm(ByteSpan points, ByteSpan scalars, const MsmOptions& options) {
  (void)options;
  return NaiveMsm<F>(points, scalars);
}

}  // namespace proofline
