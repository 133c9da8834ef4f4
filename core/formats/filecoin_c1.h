// What a storage provider's first phase writes: the C1 output of sealing, and vanilla proofs of PoSt and sector update.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/circuits/filecoin/vanilla.h"

namespace proofline {

// All field elements are below r; that trees and counts fit a sector's shape is checked with the shape (core/circuits/filecoin/witness.h).
struct FilecoinC1 {
  std::string registered_proof;  // "StackedDrg32GiBV1_1"; empty in the binary form, which does not hold it
  std::string proof_kind;        // the name the proofs stand under, "StackedDrg32GiBV1"; empty in the binary form
  std::vector<filecoin::PoRepPartition> partitions;
  std::array<uint8_t, 32> seed{}, ticket{};
  FrCanonical comm_r{}, comm_d{}, replica_id{};
};

// JSON as the reference writes it, the same in the wrapper of provider tools ({"SectorNum", "Phase1Out": base64, "SectorSize"}), or bincode:
// told apart by the first byte. Up to 512 MiB. kInvalidFile naming partition, challenge, path and what was found there.
Result<FilecoinC1> ReadFilecoinC1(ByteSpan bytes, std::string_view name);

// A vanilla PoSt proof of one sector (bincode).
Result<filecoin::PoStSector> ReadFilecoinPoStProof(ByteSpan bytes, std::string_view name);

// A partition's vanilla proof of a sector update (bincode): comm_c, apex leaves and challenges. What is public is the caller's to fill in.
Result<filecoin::UpdatePartition> ReadFilecoinUpdateProof(ByteSpan bytes, std::string_view name);

}  // namespace proofline
