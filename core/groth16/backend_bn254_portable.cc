#include "core/groth16/backend_impl.h"
#include "core/groth16/backend_list.h"

namespace proofline {

const Backend& Bn254PortableBackend() {
  static const BackendImpl<Bn254<PortableArith>> backend(ArithPath::kPortable);
  return backend;
}

}  // namespace proofline
