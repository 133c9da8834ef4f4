#include "core/groth16/backend_impl.h"
#include "core/groth16/backend_list.h"

namespace proofline {

const Backend& Bls12381AdxBackend() {
  static const BackendImpl<Bls12381<AdxArith>> backend(ArithPath::kAdx);
  return backend;
}

}  // namespace proofline
