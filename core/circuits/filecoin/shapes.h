// The sectors and proofs of Filecoin as numbers: trees, layers, challenges, partitions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace proofline::filecoin {

// A tree over `leaves` leaves: base trees of arity `base`, their roots hashed with arity `sub`, those with arity `top`; 0 = no such level.
// The index of a leaf, least significant bits first, is the concatenation of its indices in each level, leaf to root.
struct TreeShape {
  uint64_t leaves = 0;
  uint32_t base = 0, sub = 0, top = 0;
  // Arities from the leaf to the root.
  std::vector<uint32_t> levels() const;
  uint32_t base_levels() const;
};
TreeShape BinaryTree(uint64_t leaves);

struct PoRepShape {
  TreeShape tree;  // TreeC and TreeR; TreeD is binary, over as many leaves
  uint32_t layers = 0;
  uint32_t challenges = 0;  // of one partition
  uint32_t partitions = 0;
};
inline constexpr uint32_t kDrgParents = 6, kExpanderParents = 8, kHashedParents = 37;

// Winning PoSt is one sector laid out as 66 slots of one challenge each.
struct PoStShape {
  TreeShape tree;
  uint32_t sectors = 0;  // slots of one partition
  uint32_t challenges = 0;  // of one slot
};

struct UpdateShape {
  TreeShape tree;
  uint32_t partitions = 0, challenges = 0, apex_leaves = 0;
  uint32_t h[6] = {};
  int index_bits() const;      // of a node
  int partition_bits() const;
  int challenge_bits() const { return index_bits() - partition_bits(); }  // of a node in its partition
  uint32_t challenges_per_digest() const { return 254 / challenge_bits(); }
  uint32_t digests() const { return (challenges + challenges_per_digest() - 1) / challenges_per_digest(); }
};

struct SectorShape {
  uint64_t bytes = 0;
  uint64_t nodes() const { return bytes / 32; }
  PoRepShape porep;
  PoStShape winning, window;
  std::optional<UpdateShape> update;  // 1 GiB has none
};

// Ten sizes from 2 KiB to 64 GiB. kUnsupported for any other, naming those there are.
Result<SectorShape> SectorShapeOf(uint64_t sector_bytes);
std::span<const uint64_t> SectorSizes();
// "32GiB", "2 KiB", "34359738368".
Result<uint64_t> ParseSectorSize(std::string_view text);
std::string SectorSizeName(uint64_t sector_bytes);

}  // namespace proofline::filecoin
