#include "core/field/arith.h"
#include "core/poly/ntt_impl.h"

namespace proofline {
template class NttPlan<Fp<Bls12381FrModulus, PortableArith>>;
template class NttPlan<Fp<Bls12381FrModulus, AdxArith>>;
}  // namespace proofline
