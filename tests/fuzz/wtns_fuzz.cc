#include "core/formats/wtns.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto witness = ReadWtns({data, size}, "fuzz");
  if (!witness.ok()) return 0;
  fuzz::Require(witness->values.size() == size_t{witness->count} * kFrBytes && witness->count > 0);
  fuzz::Require(data + witness->values_offset == witness->values.data());
  fuzz::Touch(witness->values);
  return 0;
}
