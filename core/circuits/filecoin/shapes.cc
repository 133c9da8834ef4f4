#include "core/circuits/filecoin/shapes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "core/base/text.h"

namespace proofline::filecoin {
namespace {

constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
constexpr uint32_t kWinningChallenges = 66, kWindowChallenges = 10;

struct Row {
  uint64_t bytes;
  uint32_t base, sub, top, layers, challenges, partitions, window_sectors, update_partitions, update_challenges;
};
constexpr std::array<Row, 10> kRows = {{
    {2 * kKiB, 8, 0, 0, 2, 2, 1, 2, 1, 10},
    {4 * kKiB, 8, 2, 0, 2, 2, 1, 2, 1, 10},
    {16 * kKiB, 8, 8, 0, 2, 2, 1, 2, 2, 10},
    {32 * kKiB, 8, 8, 2, 2, 2, 1, 2, 2, 10},
    {8 * kMiB, 8, 0, 0, 2, 2, 1, 2, 4, 10},
    {16 * kMiB, 8, 2, 0, 2, 2, 1, 2, 4, 10},
    {512 * kMiB, 8, 0, 0, 2, 2, 1, 2, 16, 86},
    {1 * kGiB, 8, 2, 0, 2, 2, 1, 2, 0, 0},
    {32 * kGiB, 8, 8, 0, 11, 18, 10, 2349, 16, 86},
    {64 * kGiB, 8, 8, 2, 11, 18, 10, 2300, 16, 86},
}};
constexpr std::array<uint64_t, kRows.size()> kSizes = [] {
  std::array<uint64_t, kRows.size()> sizes{};
  for (size_t i = 0; i < kRows.size(); ++i) sizes[i] = kRows[i].bytes;
  return sizes;
}();

UpdateShape UpdateOf(const Row& row, const TreeShape& tree) {
  UpdateShape u;
  u.tree = tree;
  u.partitions = row.update_partitions;
  u.challenges = row.update_challenges;
  u.apex_leaves = tree.leaves <= 256 ? 8 : 128;
  for (uint32_t i = 0; i < 6; ++i) u.h[i] = tree.leaves <= 1024 ? 1 : 7 + i;
  return u;
}

}  // namespace

std::vector<uint32_t> TreeShape::levels() const {
  std::vector<uint32_t> out(base_levels(), base);
  if (sub != 0) out.push_back(sub);
  if (top != 0) out.push_back(top);
  return out;
}

uint32_t TreeShape::base_levels() const {
  const uint64_t trees = uint64_t{std::max(sub, 1u)} * std::max(top, 1u);
  return static_cast<uint32_t>(std::countr_zero(leaves / trees) / std::countr_zero(base));
}

TreeShape BinaryTree(uint64_t leaves) { return {leaves, 2, 0, 0}; }

int UpdateShape::index_bits() const { return std::countr_zero(tree.leaves); }
int UpdateShape::partition_bits() const { return std::countr_zero(partitions); }

Result<SectorShape> SectorShapeOf(uint64_t sector_bytes) {
  for (const Row& row : kRows) {
    if (row.bytes != sector_bytes) continue;
    SectorShape s;
    s.bytes = row.bytes;
    const TreeShape tree = {row.bytes / 32, row.base, row.sub, row.top};
    s.porep = {tree, row.layers, row.challenges, row.partitions};
    s.winning = {tree, kWinningChallenges, 1};
    s.window = {tree, row.window_sectors, kWindowChallenges};
    if (row.update_partitions != 0) s.update = UpdateOf(row, tree);
    return s;
  }
  std::string names;
  for (uint64_t size : kSizes) names += (names.empty() ? "" : ", ") + SectorSizeName(size);
  return Status(ErrorCode::kUnsupported, StrCat("there are no sectors of ", sector_bytes, " bytes"), {}, "the sizes are " + names);
}

std::span<const uint64_t> SectorSizes() { return kSizes; }

Result<uint64_t> ParseSectorSize(std::string_view text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, text.data() + text.size() - end);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const uint64_t factor = unit.empty() ? 1 : unit == "KiB" ? kKiB : unit == "MiB" ? kMiB : unit == "GiB" ? kGiB : 0;
  if (error != std::errc() || factor == 0 || number > 64 * kGiB / factor)
    return Status(ErrorCode::kInvalidArgument, StrCat("'", text.substr(0, 40), "' is no sector size"), {}, "write it as 32GiB or in bytes");
  PL_ASSIGN_OR_RETURN(SectorShape shape, SectorShapeOf(number * factor));
  return shape.bytes;
}

std::string SectorSizeName(uint64_t bytes) {
  if (bytes % kGiB == 0) return StrCat(bytes / kGiB, "GiB");
  if (bytes % kMiB == 0) return StrCat(bytes / kMiB, "MiB");
  return StrCat(bytes / kKiB, "KiB");
}

}  // namespace proofline::filecoin
