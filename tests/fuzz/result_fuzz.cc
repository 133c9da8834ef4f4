#include "core/groth16/result.h"

#include <algorithm>

#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto result = DecodeResult({data, size});
  if (!result.ok()) return 0;
  std::vector<uint8_t> again(ResultBytes(static_cast<uint32_t>(result->publics.size())));
  EncodeResult(*result, again);
  fuzz::Require(std::ranges::equal(again, ByteSpan(data, size)));
  return 0;
}
