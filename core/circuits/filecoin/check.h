// Vanilla proofs checked natively, so that a bad one costs no synthesis and the message says where it is bad: which challenge, which path,
// which node.
//
// Everything the circuits constrain is recomputed: Merkle paths, column hashes, labels, encoding, commitments. With what the verifier knows, the
// challenges and parents too, which a prover must not take from his own files. All functions check the form first (witness.h). Parallel over
// challenges in the caller's TBB arena; the first bad challenge is reported. kMismatch where a form is wrong, kUnsatisfied where values are.
#pragma once

#include <optional>

#include "core/circuits/filecoin/graph.h"
#include "core/circuits/filecoin/vanilla.h"

namespace proofline::filecoin {

// What a verifier of a sector's replication knows beside comm_d, comm_r and replica_id.
struct SealingFacts {
  ChallengeKind kind = ChallengeKind::kInteractive;
  Bytes32 seed{}, porep_id{};
  SealingApi api = SealingApi::kV1_1;
};

// `number`: of the partition, in messages and for its challenges. Without `facts`, challenges and parents are not recomputed.
Status CheckPoRep(const PoRepShape& shape, const PoRepPartition& partition, uint32_t number, const SealingFacts* facts);

// `leaves`: the challenged leaves as the verifier computes them; one for each opening.
Status CheckPoSt(const PoStShape& shape, const PoStSector& sector, std::span<const uint64_t> leaves);

Status CheckUpdate(const UpdateShape& shape, const UpdatePartition& partition);
// The challenged nodes of a partition.
std::vector<uint64_t> UpdateChallenges(const UpdateShape& shape, const FrCanonical& comm_r_new, uint32_t partition);

// The public inputs, without the constant 1, as a verifier makes them.
std::vector<FrCanonical> PoRepPublicInputs(const PoRepShape& shape, const FrCanonical& replica_id, const FrCanonical& comm_d,
                                           const FrCanonical& comm_r, const SealingFacts& facts, uint32_t partition);
// One slot's: comm_r, then the leaves.
std::vector<FrCanonical> PoStSlotPublicInputs(const FrCanonical& comm_r, std::span<const uint64_t> leaves);
std::vector<FrCanonical> UpdatePublicInputs(const UpdateShape& shape, const UpdatePartition& partition);

}  // namespace proofline::filecoin
