#include "core/field/arith.h"
#include "core/poly/ntt_impl.h"

namespace proofline {
template class NttPlan<Fp<Bn254FrModulus, PortableArith>>;
template class NttPlan<Fp<Bn254FrModulus, AdxArith>>;
}  // namespace proofline
