#include "core/formats/zkey_writer.h"

#include "core/base/text.h"
#include "core/formats/curve_prime.h"
#include "core/formats/zkey.h"

namespace proofline {

Result<ZkeyWriter> ZkeyWriter::Create(const std::string& path, const std::string& known_secret_note) {
  ZkeyWriter writer;
  writer.note_ = known_secret_note.substr(0, zkey::kMaxNoteBytes);
  PL_ASSIGN_OR_RETURN(writer.out_, SectionWriter::Create(path, FileKind::kZkey, writer.note_.empty() ? 10 : 11, {}));
  return writer;
}

Status ZkeyWriter::Begin(const KeyShape& shape) {
  if (shape.coefficient_count > UINT32_MAX)
    return Status(ErrorCode::kUnsupported, StrCat("the circuit has ", shape.coefficient_count, " coefficients in A and B, a .zkey holds at most ",
                                                  UINT32_MAX));
  shape_ = shape;
  next_ = kHeaderPoints;
  return OkStatus();
}

uint64_t ZkeyWriter::SectionBytes(uint32_t section) const {
  const uint64_t g1 = 2 * FqBytes(shape_.curve), g2 = 2 * g1;
  switch (section) {
    case kHeaderPoints: return 3 * g1 + 3 * g2;
    case kIc: return (uint64_t{shape_.n_public} + 1) * g1;
    case kCoefficients: return shape_.coefficient_count * ProvingKeyView::kCoefficientBytes;
    case kA:
    case kB1: return shape_.n_vars * g1;
    case kB2: return shape_.n_vars * g2;
    case kC: return (uint64_t{shape_.n_vars} - shape_.n_public - 1) * g1;
    default: return (uint64_t{1} << shape_.log2_domain) * g1;
  }
}

Status ZkeyWriter::BeginHeader() {
  PL_RETURN_IF_ERROR(out_.Begin(zkey::kProtocol, 4));
  PL_RETURN_IF_ERROR(out_.AppendValue(zkey::kGroth16Protocol));
  const uint32_t n8q = static_cast<uint32_t>(FqBytes(shape_.curve)), n8r = kFrBytes;
  PL_RETURN_IF_ERROR(out_.Begin(zkey::kHeader, 4 + n8q + 4 + n8r + 12 + SectionBytes(kHeaderPoints)));
  PL_RETURN_IF_ERROR(out_.AppendValue(n8q));
  PL_RETURN_IF_ERROR(out_.Append(BaseFieldPrime(shape_.curve)));
  PL_RETURN_IF_ERROR(out_.AppendValue(n8r));
  PL_RETURN_IF_ERROR(out_.Append(ScalarFieldPrime(shape_.curve)));
  for (uint32_t count : {shape_.n_vars, shape_.n_public, uint32_t{1} << shape_.log2_domain}) PL_RETURN_IF_ERROR(out_.AppendValue(count));
  return OkStatus();
}

Status ZkeyWriter::BeginSection(Section section, uint64_t bytes) {
  if (section != next_) return Status(ErrorCode::kInternal, StrCat("zkey writer: section ", uint32_t{section}, " begun, ", next_, " is next"));
  if (bytes != SectionBytes(section))
    return Status(ErrorCode::kInternal,
                  StrCat("zkey writer: section ", uint32_t{section}, " of ", bytes, " bytes, ", SectionBytes(section), " expected"));
  ++next_;
  if (section == kHeaderPoints) return BeginHeader();
  if (section != kCoefficients) return out_.Begin(section, bytes);
  PL_RETURN_IF_ERROR(out_.Begin(section, 4 + bytes));
  return out_.AppendValue(static_cast<uint32_t>(shape_.coefficient_count));
}

Status ZkeyWriter::Finish(const std::array<uint8_t, 64>& circuit_hash) {
  if (next_ != zkey::kContributions) return Status(ErrorCode::kInternal, StrCat("zkey writer: finished before section ", next_));
  PL_RETURN_IF_ERROR(out_.Begin(zkey::kContributions, circuit_hash.size() + 4));
  PL_RETURN_IF_ERROR(out_.Append(circuit_hash));
  PL_RETURN_IF_ERROR(out_.AppendValue(uint32_t{0}));
  if (!note_.empty()) {
    PL_RETURN_IF_ERROR(out_.Begin(zkey::kProofline, 8 + note_.size()));
    PL_RETURN_IF_ERROR(out_.AppendValue(zkey::kRecordVersion));
    PL_RETURN_IF_ERROR(out_.AppendValue(zkey::kFlagKnownSecret));
    PL_RETURN_IF_ERROR(out_.Append({reinterpret_cast<const uint8_t*>(note_.data()), note_.size()}));
  }
  return out_.Commit();
}

}  // namespace proofline
