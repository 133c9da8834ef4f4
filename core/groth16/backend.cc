#include "core/groth16/backend.h"

#include <cstdlib>
#include <string_view>

#include "core/base/secret.h"
#include "core/field/arith.h"
#include "core/groth16/backend_list.h"

namespace proofline {

Blinding::~Blinding() {
  Wipe(r.data(), r.size());
  Wipe(s.data(), s.size());
}

namespace {

// What kAuto means in this process. PROOFLINE_ARITH=portable or adx overrules the processor's answer, for tests.
ArithPath AutoPath() {
  static const ArithPath path = [] {
    const char* asked = std::getenv("PROOFLINE_ARITH");
    if (asked && std::string_view(asked) == "portable") return ArithPath::kPortable;
    return ArithPath::kAdx;
  }();
  return path;
}

}  // namespace

const Backend& GetBackend(CurveId curve, ArithPath path) {
  if (path == ArithPath::kAuto) path = AutoPath();
  if (path == ArithPath::kAdx && !CpuHasAdx()) path = ArithPath::kPortable;
  if (curve == CurveId::kBn254) return path == ArithPath::kAdx ? Bn254AdxBackend() : Bn254PortableBackend();
  return path == ArithPath::kAdx ? Bls12381AdxBackend() : Bls12381PortableBackend();
}

}  // namespace proofline
