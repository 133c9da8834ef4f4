#include "core/formats/ptau.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto header = ReadPtauHeader({data, size}, "fuzz");
  if (!header.ok()) return 0;
  for (const Section& section : header->sections.sections()) fuzz::Touch(header->sections.Content(section));
  return 0;
}
