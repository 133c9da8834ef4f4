#include "core/formats/public_json.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (CurveId curve : {CurveId::kBn254, CurveId::kBls12381}) {
    auto publics = PublicFromJson(fuzz::Text(data, size), "fuzz", curve);
    if (!publics.ok()) continue;
    auto again = PublicFromJson(PublicToJson(*publics), "fuzz", curve);
    fuzz::Require(again.ok() && *again == *publics);
  }
  return 0;
}
