// What a verifier of Filecoin's proofs computes for himself: replica ids, challenges, the parents of a node. None of it comes from a prover.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/circuits/filecoin/shapes.h"
#include "core/groth16/types.h"

namespace proofline::filecoin {

using Bytes32 = std::array<uint8_t, 32>;

// Sealing of API 1.0.0 and later ones: in 1.0.0 the predecessor is the last DRG parent, not the first, and a permuted index is cut to 32 bits.
enum class SealingApi : uint8_t { kV1_0, kV1_1 };

// SHA-256 with the two top bits of the last byte cleared, so that it is a field element.
FrCanonical TrimmedSha256(std::initializer_list<ByteSpan> pieces);

// The actor's number as unsigned LEB128, zeros behind.
Bytes32 ProverIdOf(uint64_t actor);
// Registered number of the proof as u64, then zeros.
Bytes32 PoRepIdOf(uint64_t registered_proof);

FrCanonical ReplicaId(const Bytes32& prover_id, uint64_t sector, const Bytes32& ticket, const FrCanonical& comm_d, const Bytes32& porep_id);

enum class ChallengeKind : uint8_t { kInteractive, kSynthetic, kNonInteractive };
struct ChallengeSource {
  ChallengeKind kind = ChallengeKind::kInteractive;
  FrCanonical replica_id{};
  Bytes32 seed{};        // not for kNonInteractive
  FrCanonical comm_r{};  // not for kInteractive
};
// The challenged nodes of challenges [first, first + count) of a sector, over all partitions. Each is in [1, nodes).
std::vector<uint64_t> PoRepChallenges(const ChallengeSource& source, uint64_t nodes, uint32_t first, uint32_t count);
// The candidates of synthetic challenges, `count` of them.
std::vector<uint64_t> SyntheticCandidates(const ChallengeSource& source, uint64_t nodes, uint32_t count);

// Parents in the depth-robust graph (6) and in the expander (8). One object for many nodes, from any thread.
class SealingGraph {
 public:
  SealingGraph(uint64_t nodes, const Bytes32& porep_id, SealingApi api);
  std::array<uint32_t, kDrgParents> DrgParents(uint32_t node) const;
  std::array<uint32_t, kExpanderParents> ExpanderParents(uint32_t node) const;

 private:
  uint64_t Permute(uint64_t x) const;

  uint64_t nodes_;
  SealingApi api_;
  Bytes32 drg_seed_;
  std::array<uint64_t, 3> keys_;
  int half_bits_;
};

// The leaf that PoSt asks for. `index`: of the challenge in its sector (Window since API 1.2), or counted over all slots (Winning, Window before).
uint64_t PoStChallenge(const Bytes32& randomness, uint64_t sector, uint64_t index, uint64_t nodes);

}  // namespace proofline::filecoin
