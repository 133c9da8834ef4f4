#include "core/groth16/setup_impl.h"

namespace proofline {

template Status GenerateKeyFor<Bn254<PortableArith>>(const R1csView&, const KeyShape&, std::string_view, KeySink&,
                                                       const SetupProgress&);
template Status GenerateKeyFor<Bn254<AdxArith>>(const R1csView&, const KeyShape&, std::string_view, KeySink&,
                                                  const SetupProgress&);

}  // namespace proofline
