// Winning and Window PoSt: that a sector's TreeR has the given leaves. One slot after the other, all alike.
#pragma once

#include "core/circuits/filecoin/merkle_gadget.h"
#include "core/circuits/filecoin/shapes.h"

namespace proofline::filecoin {

template <class CS>
class PoStCircuit {
 public:
  PoStCircuit(CS& cs, const PoStShape& shape) : cs_(cs), shape_(shape), tree_(shape.tree.levels()) {}

  // Opens sector->openings[first_opening ...]. `sector` is null where no values are wanted.
  void SynthesizeSlot(const PoStSector* sector, size_t first_opening) {
    Num<CS> comm_r_last = AllocGiven(cs_, [&] { return sector->comm_r_last; });
    Num<CS> comm_c = AllocGiven(cs_, [&] { return sector->comm_c; });
    Num<CS> comm_r = AllocGiven(cs_, [&] { return sector->comm_r; });
    Inputize(cs_, comm_r);
    EnforceEqual(cs_, comm_r, Poseidon2(cs_, comm_c, comm_r_last, PoseidonMerkleTag(2)));
    for (uint32_t i = 0; i < shape_.challenges; ++i) {
      const MerkleProof* opening = sector ? &sector->openings[first_opening + i] : nullptr;
      Num<CS> leaf = AllocGiven(cs_, [&] { return opening->leaf; });
      ProveInclusion(cs_, NodeHash::kPoseidon, tree_, leaf, opening, comm_r_last);
    }
  }

 private:
  CS& cs_;
  const PoStShape shape_;
  const std::vector<uint32_t> tree_;
};

}  // namespace proofline::filecoin
