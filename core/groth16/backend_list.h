// The instances of Backend that exist. A new instruction set (IFMA) is one line here, one backend_*.cc and one branch in backend.cc.
#pragma once

#include "core/groth16/backend.h"

namespace proofline {

const Backend& Bn254PortableBackend();
const Backend& Bn254AdxBackend();
const Backend& Bls12381PortableBackend();
const Backend& Bls12381AdxBackend();

}  // namespace proofline
