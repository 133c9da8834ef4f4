// The header of a .ptau (powers of tau), to tell what the file is. Its points are not read.
#pragma once

#include <string_view>

#include "core/formats/section_file.h"
#include "core/field/moduli.h"

namespace proofline {

struct PtauHeader {
  CurveId curve = CurveId::kBn254;
  uint32_t power = 0;           // log2 of the largest domain it serves
  uint32_t ceremony_power = 0;  // of the ceremony that it was cut from
  SectionFile sections;
};

// Checks the container, the header's length and the prime.
Result<PtauHeader> ReadPtauHeader(ByteSpan bytes, std::string_view name);

}  // namespace proofline
