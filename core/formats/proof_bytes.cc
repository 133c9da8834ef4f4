#include "core/formats/proof_bytes.h"

#include "core/base/text.h"
#include "core/groth16/backend.h"
#include "core/groth16/convert.h"
#include "core/groth16/point_bytes.h"

namespace proofline {

namespace {

constexpr size_t kAt[] = {0, 48, 144};  // of A, B, C
constexpr size_t kLengthBytes = 8;

// The proofs without the length that bincode puts before them; empty if the bytes are neither.
ByteSpan WithoutLength(ByteSpan bytes) {
  if (bytes.size() % kProofBytes == 0) return bytes;
  if (bytes.size() < kLengthBytes || LoadLe<uint64_t>(bytes.data()) != bytes.size() - kLengthBytes) return {};
  ByteSpan rest = bytes.subspan(kLengthBytes);
  return rest.size() % kProofBytes == 0 ? rest : ByteSpan();
}

template <class Plain>
Status DecodeOne(const uint8_t* bytes, std::string_view point, Plain* out) {
  PointFault fault = DecodePoint(bytes, PointForm::kCompressed, out);
  if (fault == PointFault::kNone && out->infinity) fault = PointFault::kInfinity;
  if (fault == PointFault::kNone && !IsInSubgroup(*out)) fault = PointFault::kOffSubgroup;
  if (fault == PointFault::kNone) return OkStatus();
  return Status(ErrorCode::kInvalidProof, StrCat(point, " ", PointFaultText(fault)));
}

Result<Proof> DecodeProof(const uint8_t* bytes) {
  Proof proof;
  proof.curve = CurveId::kBls12381;
  PL_RETURN_IF_ERROR(DecodeOne(bytes + kAt[0], "A", &proof.a));
  PL_RETURN_IF_ERROR(DecodeOne(bytes + kAt[1], "B", &proof.b));
  PL_RETURN_IF_ERROR(DecodeOne(bytes + kAt[2], "C", &proof.c));
  return proof;
}

}  // namespace

std::array<uint8_t, kProofBytes> EncodeProof(const Proof& proof) {
  std::array<uint8_t, kProofBytes> out;
  EncodePoint(proof.a, PointForm::kCompressed, &out[kAt[0]]);
  EncodePoint(proof.b, PointForm::kCompressed, &out[kAt[1]]);
  EncodePoint(proof.c, PointForm::kCompressed, &out[kAt[2]]);
  return out;
}

Result<std::vector<Proof>> DecodeProofs(ByteSpan bytes, std::string_view name) {
  const ByteSpan proofs = WithoutLength(bytes);
  const size_t count = proofs.size() / kProofBytes;
  if (count == 0)
    return Status(ErrorCode::kInvalidFile,
                  StrCat(name, ": has ", bytes.size(), " bytes, expected ", kProofBytes, " for each partition (at least one)"),
                  "or the same with their number before them as a u64", "give the proof's bytes, not their hexadecimal or base64 form");
  if (count > kMaxProofPartitions)
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": has ", count, " proofs, expected at most ", kMaxProofPartitions));
  std::vector<Proof> out;
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    auto proof = DecodeProof(proofs.data() + i * kProofBytes);
    if (!proof.ok()) return std::move(proof).status().WithContext(StrCat(name, ": proof ", i, " of ", count));
    out.push_back(*proof);
  }
  return out;
}

bool LooksLikeProofBytes(ByteSpan bytes) {
  const ByteSpan proofs = WithoutLength(bytes);
  const size_t count = proofs.size() / kProofBytes;
  if (count == 0 || count > kMaxProofPartitions) return false;
  for (size_t i = 0; i < count; ++i)
    for (size_t at : kAt)
      if (!(proofs[i * kProofBytes + at] & 0x80)) return false;
  return true;
}

}  // namespace proofline
