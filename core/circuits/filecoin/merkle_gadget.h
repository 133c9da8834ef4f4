// A leaf's way to a root in a circuit, for Poseidon trees of mixed arity and for binary SHA-256 trees.
#pragma once

#include <bit>

#include "core/circuits/filecoin/insertion.h"
#include "core/circuits/filecoin/poseidon_gadget.h"
#include "core/circuits/filecoin/sha256_gadget.h"
#include "core/circuits/filecoin/vanilla.h"

namespace proofline::filecoin {

enum class NodeHash : uint8_t { kPoseidon, kSha256 };

// A number from a given value. `f` gives a FrCanonical and is called only where values are wanted.
template <class CS, class F>
Num<CS> AllocGiven(CS& cs, const F& f) {
  return AllocNum(cs, CS::Value([&] { return FrOf(f()); }));
}

namespace merkle_detail {

template <class CS>
Num<CS> HashNode(CS& cs, NodeHash hash, std::span<const Num<CS>> children) {
  return hash == NodeHash::kSha256 ? Sha256Node(cs, children[0], children[1]) : Poseidon<CS>(cs, children);
}

template <class CS>
std::vector<Num<CS>> AllocSiblings(CS& cs, const PathElement* element, uint32_t arity) {
  std::vector<Num<CS>> siblings;
  for (uint32_t j = 0; j + 1 < arity; ++j) siblings.push_back(AllocGiven(cs, [&]() -> const FrCanonical& { return element->siblings[j]; }));
  return siblings;
}

}  // namespace merkle_detail

// The root above `value`, whose index becomes a public input. Each level allocates its index bits and siblings, inserts, hashes. `proof`: null
// where no values are wanted; one element for each of `levels` otherwise.
template <class CS>
Num<CS> ClimbTree(CS& cs, NodeHash hash, std::span<const uint32_t> levels, const Num<CS>& value, const MerkleProof* proof) {
  std::vector<Boolean<CS>> index;
  Num<CS> node = value;
  for (size_t level = 0; level < levels.size(); ++level) {
    const PathElement* element = proof ? &proof->path[level] : nullptr;
    const size_t first_bit = index.size();
    for (int i = 0; i < std::countr_zero(levels[level]); ++i) index.push_back(AllocBit(cs, element && (element->index >> i) & 1));
    const std::vector<Num<CS>> siblings = merkle_detail::AllocSiblings(cs, element, levels[level]);
    const auto bits = std::span<const Boolean<CS>>(index).subspan(first_bit);
    node = merkle_detail::HashNode<CS>(cs, hash, Insert<CS>(cs, node, bits, siblings));
  }
  PackIntoInputs<CS>(cs, index);
  return node;
}

// Proves that `value` is a leaf below `root`: computed * 1 = root.
template <class CS>
void ProveInclusion(CS& cs, NodeHash hash, std::span<const uint32_t> levels, const Num<CS>& value, const MerkleProof* proof,
                    const Num<CS>& root) {
  EnforceEqual(cs, ClimbTree(cs, hash, levels, value, proof), root);
}

// The same with index bits and siblings that exist already, and nothing public. `siblings`: one vector for each level.
template <class CS>
void ProveInclusionAt(CS& cs, NodeHash hash, std::span<const Boolean<CS>> index, std::span<const std::vector<Num<CS>>> siblings,
                      const Num<CS>& value, const Num<CS>& root) {
  Num<CS> node = value;
  for (const std::vector<Num<CS>>& level : siblings) {
    const size_t bits = std::countr_zero(level.size() + 1);
    node = merkle_detail::HashNode<CS>(cs, hash, Insert<CS>(cs, node, index.first(bits), level));
    index = index.subspan(bits);
  }
  EnforceEqual(cs, node, root);
}

}  // namespace proofline::filecoin
