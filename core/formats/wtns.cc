#include "core/formats/wtns.h"

#include "core/base/decimal.h"
#include "core/base/text.h"
#include "core/formats/curve_prime.h"

namespace proofline {

Result<WtnsView> ReadWtns(ByteSpan bytes, std::string_view name) {
  WtnsView out;
  PL_ASSIGN_OR_RETURN(out.sections, SectionFile::Parse(bytes, name, FileKind::kWtns));
  const SectionFile& file = out.sections;
  PL_ASSIGN_OR_RETURN(ByteSpan header, file.Require(1, "header"));
  if (header.size() < 4) return file.Bad(1, "header", StrCat("length is ", header.size(), " bytes, expected ", 8 + kFrBytes));
  uint32_t n8 = LoadLe<uint32_t>(header.data());
  if (n8 != kFrBytes) return file.Bad(1, "header", StrCat("n8 is ", n8, ", expected ", kFrBytes));
  if (header.size() != 8 + kFrBytes)
    return file.Bad(1, "header", StrCat("length is ", header.size(), " bytes, expected ", 8 + kFrBytes, " (4 + n8 + 4)"));
  ByteSpan prime = header.subspan(4, kFrBytes);
  auto curve = CurveOfScalarPrime(prime);
  if (!curve)
    return file.Bad(1, "header", StrCat("the prime is ", ToDecimal(prime), ", expected the scalar field's of BN254 or BLS12-381"), {},
                    "compile the circuit for one of these curves (circom --prime bn128 or bls12381)");
  out.curve = *curve;
  out.count = LoadLe<uint32_t>(&header[4 + kFrBytes]);
  if (out.count == 0) return file.Bad(1, "header", "the number of values is 0, expected at least 1 (the constant 1)");
  PL_ASSIGN_OR_RETURN(out.values, file.RequireLength(2, "values", uint64_t{out.count} * kFrBytes,
                                                     StrCat(out.count, " values of ", kFrBytes, " bytes")));
  out.values_offset = static_cast<uint64_t>(out.values.data() - bytes.data());
  return out;
}

Status CheckWitnessFits(const WtnsView& witness, std::string_view witness_name, CurveId curve, uint32_t n_vars, std::string_view other_name) {
  constexpr char kRemedy[] = "give files of the same circuit, made in the same run of the compiler";
  if (witness.curve != curve)
    return Status(ErrorCode::kMismatch,
                  StrCat(witness_name, ": section 1 (header): is for the curve ", CurveTitle(witness.curve), ", expected ", CurveTitle(curve),
                         ", the curve of ", other_name),
                  {}, kRemedy);
  if (witness.count != n_vars)
    return Status(ErrorCode::kMismatch,
                  StrCat(witness_name, ": section 1 (header): has ", witness.count, " values, expected ", n_vars, ", as many as ", other_name,
                         " has signals"),
                  "it is a witness of another circuit, or of another version of it", kRemedy);
  return OkStatus();
}

MappedFile::StreamLimit WitnessStream(uint64_t n_vars) {
  constexpr uint64_t kRestBytes = uint64_t{1} << 20;  // headers, and sections that are passed over
  return StreamOf({FileKind::kWtns}, n_vars * kFrBytes + kRestBytes);
}

Status CheckWitnessFitsKey(const WtnsView& witness, std::string_view witness_name, const ProvingKeyView& key, std::string_view key_name) {
  return CheckWitnessFits(witness, witness_name, key.curve, key.n_vars, key_name);
}

}  // namespace proofline
