// Proofs as Filecoin's programs pass them on: A, B, C compressed, 48 + 96 + 48 bytes, over BLS12-381; the proofs of several partitions one
// after the other.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/groth16/types.h"

namespace proofline {

inline constexpr size_t kProofBytes = 192;
// More partitions than any proof has (non-interactive PoRep has 126).
inline constexpr size_t kMaxProofPartitions = 4096;

// Precondition: a proof over BLS12-381 whose points are on their curves.
std::array<uint8_t, kProofBytes> EncodeProof(const Proof& proof);

// One proof or several: a multiple of 192 bytes, or the same behind a u64 that says their number (bincode). Points are on their curves and
// in their subgroups, none of them is infinity. `name` and the partition's number start the message.
Result<std::vector<Proof>> DecodeProofs(ByteSpan bytes, std::string_view name);

// Could this be such a file, by its length and its flags? No point is decoded.
bool LooksLikeProofBytes(ByteSpan bytes);

}  // namespace proofline
