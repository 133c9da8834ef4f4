#include "core/base/decimal.h"

#include <array>

#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::array<uint8_t, 48> value;
  if (ParseDecimal(fuzz::Text(data, size), value)) fuzz::Require(ToDecimal(value) == fuzz::Text(data, size));
  return 0;
}
