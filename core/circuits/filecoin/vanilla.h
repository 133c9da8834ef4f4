// What a circuit is told about a sector: the openings that a storage provider's first phase gives out. Plain data; core/formats reads it
// from files, check.h checks it, the circuits use it. Field elements are canonical and below r.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/groth16/types.h"

namespace proofline::filecoin {

struct PathElement {
  std::vector<FrCanonical> siblings;  // ascending, the path's own node left out
  uint32_t index = 0;                 // of the path's node, <= siblings.size()
};

// From the leaf to the root. How many levels belong to base, sub and top trees follows from the shape of the tree.
struct MerkleProof {
  FrCanonical root{}, leaf{};
  std::vector<PathElement> path;
};

struct ColumnProof {
  uint32_t node = 0;
  std::vector<FrCanonical> rows;  // a label for each layer
  MerkleProof inclusion;          // in TreeC
};

// What a file says about a label's making. The circuit takes parents from the columns, so this is only compared with them.
struct LabelProof {
  std::vector<FrCanonical> parents;
  uint32_t layer = 0;
  uint64_t node = 0;
};

struct PoRepChallenge {
  uint64_t node = 0;
  MerkleProof comm_d, comm_r_last;
  ColumnProof column;  // of the challenged node; its rows are the labels
  std::array<ColumnProof, 6> drg_parents;
  std::array<ColumnProof, 8> expander_parents;
  std::vector<LabelProof> labeling;  // one for each layer
  LabelProof encoding;
};

struct PoRepPartition {
  FrCanonical replica_id{}, comm_d{}, comm_r{};
  std::vector<PoRepChallenge> challenges;
};

struct PoStSector {
  uint64_t sector_id = 0;
  FrCanonical comm_r{}, comm_c{}, comm_r_last{};
  std::vector<MerkleProof> openings;  // of TreeR, one for each challenge
};

struct UpdateChallenge {
  MerkleProof r_old, d_new, r_new;
};

struct UpdatePartition {
  uint32_t partition = 0, h_select = 0;  // h_select: one bit of six
  FrCanonical comm_r_old{}, comm_d_new{}, comm_r_new{}, comm_c{};
  std::vector<FrCanonical> apex_leaves;
  std::vector<UpdateChallenge> challenges;
};

}  // namespace proofline::filecoin
