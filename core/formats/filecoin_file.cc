#include "core/formats/filecoin_file.h"

#include "core/formats/params.h"
#include "core/formats/proof_bytes.h"

namespace proofline {

FilecoinKind DetectFilecoinKind(ByteSpan bytes) {
  if (ReadVk(bytes, "").ok()) return FilecoinKind::kVk;
  if (ReadParams(bytes, "").ok()) return FilecoinKind::kParams;
  return LooksLikeProofBytes(bytes) ? FilecoinKind::kProof : FilecoinKind::kNone;
}

std::string_view FilecoinKindName(FilecoinKind kind) {
  switch (kind) {
    case FilecoinKind::kParams: return "params";
    case FilecoinKind::kVk: return "vk";
    case FilecoinKind::kProof: return "proof bytes";
    case FilecoinKind::kNone: break;
  }
  return "unknown kind of file";
}

}  // namespace proofline
