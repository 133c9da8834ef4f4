#include "core/formats/zkey_writer.h"

#include "core/base/text.h"
#include "core/formats/curve_prime.h"
#include "core/formats/zkey.h"

namespace proofline {

Result<ZkeyWriter> ZkeyWriter::Create(const std::string& path, const ZkeyShape& shape, const std::string& known_secret_note) {
  ZkeyWriter writer;
  writer.shape_ = shape;
  writer.note_ = known_secret_note.substr(0, zkey::kMaxNoteBytes);
  PL_ASSIGN_OR_RETURN(writer.out_, SectionWriter::Create(path, FileKind::kZkey, writer.note_.empty() ? 10 : 11, {}));
  return writer;
}

Status ZkeyWriter::WriteHeader(ByteSpan alpha1, ByteSpan beta1, ByteSpan beta2, ByteSpan gamma2, ByteSpan delta1, ByteSpan delta2) {
  PL_RETURN_IF_ERROR(out_.Begin(zkey::kProtocol, 4));
  PL_RETURN_IF_ERROR(out_.AppendValue(zkey::kGroth16Protocol));
  const uint32_t n8q = static_cast<uint32_t>(FqBytes(shape_.curve)), n8r = kFrBytes;
  PL_RETURN_IF_ERROR(out_.Begin(zkey::kHeader, 4 + n8q + 4 + n8r + 12 + uint64_t{3} * 2 * n8q + uint64_t{3} * 4 * n8q));
  PL_RETURN_IF_ERROR(out_.AppendValue(n8q));
  PL_RETURN_IF_ERROR(out_.Append(BaseFieldPrime(shape_.curve)));
  PL_RETURN_IF_ERROR(out_.AppendValue(n8r));
  PL_RETURN_IF_ERROR(out_.Append(ScalarFieldPrime(shape_.curve)));
  for (uint32_t count : {shape_.n_vars, shape_.n_public, uint32_t{1} << shape_.log2_domain}) PL_RETURN_IF_ERROR(out_.AppendValue(count));
  for (ByteSpan point : {alpha1, beta1, beta2, gamma2, delta1, delta2}) PL_RETURN_IF_ERROR(out_.Append(point));
  next_ = zkey::kIc;
  return OkStatus();
}

Status ZkeyWriter::BeginSection(uint32_t type) {
  if (type != next_) return Status(ErrorCode::kInternal, StrCat("zkey writer: section ", type, " begun, ", next_, " is next"));
  ++next_;
  const uint64_t g1 = 2 * FqBytes(shape_.curve), g2 = 2 * g1;
  switch (type) {
    case zkey::kIc: return out_.Begin(type, (uint64_t{shape_.n_public} + 1) * g1);
    case zkey::kCoefficients:
      PL_RETURN_IF_ERROR(out_.Begin(type, 4 + uint64_t{shape_.coefficient_count} * ProvingKeyView::kCoefficientBytes));
      return out_.AppendValue(shape_.coefficient_count);
    case zkey::kA:
    case zkey::kB1: return out_.Begin(type, shape_.n_vars * g1);
    case zkey::kB2: return out_.Begin(type, shape_.n_vars * g2);
    case zkey::kC: return out_.Begin(type, (uint64_t{shape_.n_vars} - shape_.n_public - 1) * g1);
    case zkey::kH: return out_.Begin(type, (uint64_t{1} << shape_.log2_domain) * g1);
    default: return Status(ErrorCode::kInternal, StrCat("zkey writer: section ", type, " is not for BeginSection"));
  }
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
