#include "core/formats/parameter_manifest.h"
#include "core/formats/public_json.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto manifest = ParameterManifestFromJson(fuzz::Text(data, size), "fuzz");
  if (manifest.ok())
    for (const auto& [name, entry] : manifest->files) fuzz::Require(ParameterDigestHex(entry.digest).size() == 32);
  auto publics = PartitionPublicsFromJson(fuzz::Text(data, size), "fuzz", CurveId::kBls12381);
  if (publics.ok()) fuzz::Require(!publics->empty());
  return 0;
}
