#include "core/groth16/setup_impl.h"

namespace proofline {

template Status GenerateKeyFor<Bls12381<PortableArith>>(const R1csView&, const KeyShape&, std::string_view, KeySink&,
                                                       const SetupProgress&);
template Status GenerateKeyFor<Bls12381<AdxArith>>(const R1csView&, const KeyShape&, std::string_view, KeySink&,
                                                  const SetupProgress&);

}  // namespace proofline
