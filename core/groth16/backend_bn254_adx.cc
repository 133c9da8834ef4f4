#include "core/groth16/backend_impl.h"
#include "core/groth16/backend_list.h"

namespace proofline {

const Backend& Bn254AdxBackend() {
  static const BackendImpl<Bn254<AdxArith>> backend(ArithPath::kAdx);
  return backend;
}

}  // namespace proofline
