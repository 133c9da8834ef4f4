#include "core/formats/ptau.h"

#include <algorithm>

#include "core/base/decimal.h"
#include "core/base/text.h"
#include "core/formats/curve_prime.h"

namespace proofline {

Result<PtauHeader> ReadPtauHeader(ByteSpan bytes, std::string_view name) {
  PtauHeader out;
  PL_ASSIGN_OR_RETURN(out.sections, SectionFile::Parse(bytes, name, FileKind::kPtau));
  const SectionFile& file = out.sections;
  PL_ASSIGN_OR_RETURN(ByteSpan header, file.Require(1, "header"));
  if (header.size() < 4) return file.Bad(1, "header", StrCat("length is ", header.size(), " bytes, expected at least 4"));
  uint32_t n8 = LoadLe<uint32_t>(header.data());
  if (n8 != 32 && n8 != 48) return file.Bad(1, "header", StrCat("n8 is ", n8, ", expected 32 (BN254) or 48 (BLS12-381)"));
  if (header.size() != 12 + size_t{n8}) return file.Bad(1, "header", StrCat("length is ", header.size(), " bytes, expected ", 12 + n8));
  ByteSpan prime = header.subspan(4, n8);
  out.curve = n8 == 32 ? CurveId::kBn254 : CurveId::kBls12381;
  if (!std::ranges::equal(prime, BaseFieldPrime(out.curve)))
    return file.Bad(1, "header", StrCat("the prime is ", ToDecimal(prime), ", expected that of ", CurveTitle(out.curve)));
  out.power = LoadLe<uint32_t>(&header[4 + n8]);
  out.ceremony_power = LoadLe<uint32_t>(&header[8 + n8]);
  return out;
}

}  // namespace proofline
