// Nodes of Filecoin's trees, and labels, outside of any circuit.
#pragma once

#include <span>
#include <vector>

#include "core/circuits/filecoin/merkle_gadget.h"

namespace proofline::filecoin {

// Poseidon of canonical values; with the tag of tree nodes if none is given. Precondition: an instance of this many inputs exists.
FrCanonical NativePoseidon(std::span<const FrCanonical> inputs, const Fr* tag = nullptr);
FrCanonical NativeNode(NodeHash hash, std::span<const FrCanonical> children);

// The 37 parents that a label hashes: the different ones over and over. Precondition: 6 (layer 1) or 14 of them, DRG parents first.
std::vector<FrCanonical> HashedParents(std::vector<FrCanonical> different);
// `parents`: all 37.
FrCanonical NativeLabel(const FrCanonical& replica_id, uint32_t layer, uint64_t node, std::span<const FrCanonical> parents);

}  // namespace proofline::filecoin
