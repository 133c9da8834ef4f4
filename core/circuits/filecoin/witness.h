// Witnesses of Filecoin's circuits, straight from vanilla proofs: no rows and no linear combinations are made.
//
// Parallel over challenges (slots) in the caller's TBB arena. Allocates the compact witness twice. Nothing is checked but that the proof has the
// shape's form: run check.h first, or a bad proof gives a witness that breaks its circuit.
#pragma once

#include <vector>

#include "core/base/status.h"
#include "core/circuits/filecoin/compact_witness.h"
#include "core/circuits/filecoin/shapes.h"
#include "core/circuits/filecoin/vanilla.h"

namespace proofline::filecoin {

struct Witness {
  std::vector<FrCanonical> inputs;  // the constant 1, then the public inputs
  WitnessPart values;               // inputs, then auxiliary variables
};

// kMismatch if lengths, arities or counts are not the shape's; the message names the challenge and the path.
Result<Witness> MakePoRepWitness(const PoRepShape& shape, const PoRepPartition& partition);
// Window: a slot for each sector; the last sector fills the slots left over. Sectors of the shape's challenges each.
Result<Witness> MakeWindowWitness(const PoStShape& shape, std::span<const PoStSector> sectors);
// Winning: one sector, one opening for each slot.
Result<Witness> MakeWinningWitness(const PoStShape& shape, const PoStSector& sector);
Result<Witness> MakeUpdateWitness(const UpdateShape& shape, const UpdatePartition& partition);

// What these refuse, alone.
Status CheckForm(const PoRepShape& shape, const PoRepPartition& partition);
Status CheckForm(const PoStShape& shape, const PoStSector& sector, size_t openings);
Status CheckForm(const UpdateShape& shape, const UpdatePartition& partition);

// How many values are zero, one, below 2^64 and wider. Reads the whole witness.
struct ValueShares {
  uint64_t zero = 0, one = 0, small = 0, wide = 0;
};
ValueShares SharesOf(const CompactWitnessView& witness);

}  // namespace proofline::filecoin
