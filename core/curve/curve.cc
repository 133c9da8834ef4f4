#include "core/curve/curve.h"

namespace proofline {

template struct Bn254<PortableArith>;
template struct Bn254<AdxArith>;
template struct Bls12381<PortableArith>;
template struct Bls12381<AdxArith>;

}  // namespace proofline
