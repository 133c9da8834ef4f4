// The bytes of a proved partition, as they lie in a slot's result area, in the journal and in the memfd a client gets:
//   u32 magic "PRF1", u32 curve (CurveId), u32 n_public, u32 reserved (0),
//   proof: A.x A.y B.x0 B.x1 B.y0 B.y1 C.x C.y, 48 bytes each (canonical, little-endian, BN254 zero-padded),
//   n_public values of 32 bytes, canonical.
// No point is infinity in a proof that verified, so there is no flag for it.
#pragma once

#include <vector>

#include "core/base/status.h"
#include "core/groth16/types.h"

namespace proofline {

struct ProvedPartition {
  Proof proof;
  std::vector<FrCanonical> publics;
};

constexpr size_t ResultBytes(uint32_t n_public) { return 16 + 8 * 48 + size_t{n_public} * kFrBytes; }
// `out` is exactly ResultBytes(publics.size()) long.
void EncodeResult(const ProvedPartition& result, MutableByteSpan out);
// Checks magic, curve, length, coordinates < q and publics < r.
Result<ProvedPartition> DecodeResult(ByteSpan bytes);

}  // namespace proofline
