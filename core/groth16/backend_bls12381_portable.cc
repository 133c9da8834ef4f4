#include "core/groth16/backend_impl.h"
#include "core/groth16/backend_list.h"

namespace proofline {

const Backend& Bls12381PortableBackend() {
  static const BackendImpl<Bls12381<PortableArith>> backend(ArithPath::kPortable);
  return backend;
}

}  // namespace proofline
