#include "core/circuits/filecoin/witness.h"

#include <tbb/parallel_for.h>

#include "core/base/text.h"
#include "core/circuits/filecoin/porep_circuit.h"
#include "core/circuits/filecoin/post_circuit.h"
#include "core/circuits/filecoin/update_circuit.h"
#include "core/circuits/filecoin/witness_system.h"

namespace proofline::filecoin {
namespace {

// The fixed part's system and one for each repetition, made one: inputs first, then auxiliary values, each in order.
Witness Join(WitnessSystem& fixed, std::vector<WitnessSystem>& parts) {
  Witness w;
  uint64_t count = 1 + fixed.inputs().size() + fixed.aux().count(), wide = fixed.aux().wide().size();
  w.inputs.push_back(CanonicalOf(Fr::One()));
  w.inputs.insert(w.inputs.end(), fixed.inputs().begin(), fixed.inputs().end());
  for (WitnessSystem& part : parts) {
    w.inputs.insert(w.inputs.end(), part.inputs().begin(), part.inputs().end());
    count += part.inputs().size() + part.aux().count();
    wide += part.inputs().size() + part.aux().wide().size();
  }
  w.values.Reserve(count, wide + w.inputs.size());
  for (const FrCanonical& x : w.inputs) w.values.Put(x);
  w.values.Append(fixed.aux());
  for (WitnessSystem& part : parts) {
    w.values.Append(part.aux());
    part = WitnessSystem();
  }
  return w;
}

template <class F>
std::vector<WitnessSystem> InParallel(size_t count, const F& synthesise) {
  std::vector<WitnessSystem> parts(count);
  tbb::parallel_for(size_t{0}, count, [&](size_t i) { synthesise(parts[i], i); });
  return parts;
}

Status CheckPath(const std::vector<uint32_t>& levels, const MerkleProof& proof, const std::string& what) {
  if (proof.path.size() != levels.size())
    return Status(ErrorCode::kMismatch, StrCat(what, ": has ", proof.path.size(), " levels, expected ", levels.size()));
  for (size_t i = 0; i < levels.size(); ++i) {
    const PathElement& e = proof.path[i];
    if (e.siblings.size() + 1 != levels[i])
      return Status(ErrorCode::kMismatch, StrCat(what, ", level ", i, ": has ", e.siblings.size(), " siblings, expected ", levels[i] - 1));
    if (e.index >= levels[i])
      return Status(ErrorCode::kMismatch, StrCat(what, ", level ", i, ": index ", e.index, ", expected less than ", levels[i]));
  }
  return OkStatus();
}

Status CheckCount(size_t found, size_t expected, const std::string& what) {
  if (found == expected) return OkStatus();
  return Status(ErrorCode::kMismatch, StrCat("there are ", found, " ", what, ", expected ", expected), {},
                "check the sector size and the kind of proof");
}

Status CheckColumn(const PoRepShape& shape, const std::vector<uint32_t>& tree, const ColumnProof& column, const std::string& what) {
  PL_RETURN_IF_ERROR(CheckCount(column.rows.size(), shape.layers, "rows in " + what));
  return CheckPath(tree, column.inclusion, what + ", path in TreeC");
}

Status CheckChallenge(const PoRepShape& shape, const PoRepChallenge& c, size_t number) {
  const std::vector<uint32_t> tree = shape.tree.levels(), data_tree = BinaryTree(shape.tree.leaves).levels();
  const std::string what = StrCat("challenge ", number);
  if (!c.labeling.empty()) PL_RETURN_IF_ERROR(CheckCount(c.labeling.size(), shape.layers, "labels in " + what));
  PL_RETURN_IF_ERROR(CheckPath(data_tree, c.comm_d, what + ", path in TreeD"));
  PL_RETURN_IF_ERROR(CheckPath(tree, c.comm_r_last, what + ", path in TreeR"));
  PL_RETURN_IF_ERROR(CheckColumn(shape, tree, c.column, what + ", its column"));
  for (size_t i = 0; i < c.drg_parents.size(); ++i)
    PL_RETURN_IF_ERROR(CheckColumn(shape, tree, c.drg_parents[i], StrCat(what, ", column of DRG parent ", i)));
  for (size_t i = 0; i < c.expander_parents.size(); ++i)
    PL_RETURN_IF_ERROR(CheckColumn(shape, tree, c.expander_parents[i], StrCat(what, ", column of expander parent ", i)));
  return OkStatus();
}

}  // namespace

Status CheckForm(const PoRepShape& shape, const PoRepPartition& partition) {
  PL_RETURN_IF_ERROR(CheckCount(partition.challenges.size(), shape.challenges, "challenges in a partition"));
  for (size_t i = 0; i < partition.challenges.size(); ++i) PL_RETURN_IF_ERROR(CheckChallenge(shape, partition.challenges[i], i));
  return OkStatus();
}

Status CheckForm(const PoStShape& shape, const PoStSector& sector, size_t openings) {
  PL_RETURN_IF_ERROR(CheckCount(sector.openings.size(), openings, "challenges of a sector"));
  const std::vector<uint32_t> tree = shape.tree.levels();
  for (size_t i = 0; i < openings; ++i)
    PL_RETURN_IF_ERROR(CheckPath(tree, sector.openings[i], StrCat("sector ", sector.sector_id, ", challenge ", i, ", path in TreeR")));
  return OkStatus();
}

Status CheckForm(const UpdateShape& shape, const UpdatePartition& partition) {
  PL_RETURN_IF_ERROR(CheckCount(partition.challenges.size(), shape.challenges, "challenges in a partition"));
  PL_RETURN_IF_ERROR(CheckCount(partition.apex_leaves.size(), shape.apex_leaves, "apex leaves"));
  if (partition.partition >= shape.partitions)
    return Status(ErrorCode::kMismatch, StrCat("partition ", partition.partition, ", expected less than ", shape.partitions));
  if (!std::has_single_bit(partition.h_select) || partition.h_select >= 64)
    return Status(ErrorCode::kMismatch, StrCat("the selector of h is ", partition.h_select, ", expected one bit of six"));
  const std::vector<uint32_t> tree = shape.tree.levels(), data_tree = BinaryTree(shape.tree.leaves).levels();
  for (size_t i = 0; i < partition.challenges.size(); ++i) {
    const UpdateChallenge& c = partition.challenges[i];
    const std::string what = StrCat("challenge ", i);
    PL_RETURN_IF_ERROR(CheckPath(tree, c.r_old, what + ", path in the old TreeR"));
    PL_RETURN_IF_ERROR(CheckPath(data_tree, c.d_new, what + ", path in the new TreeD"));
    PL_RETURN_IF_ERROR(CheckPath(tree, c.r_new, what + ", path in the new TreeR"));
  }
  return OkStatus();
}

Result<Witness> MakePoRepWitness(const PoRepShape& shape, const PoRepPartition& partition) {
  PL_RETURN_IF_ERROR(CheckForm(shape, partition));
  WitnessSystem fixed;
  PoRepCircuit<WitnessSystem> circuit(fixed, shape);
  circuit.SynthesizeFixed(&partition);
  std::vector<WitnessSystem> parts = InParallel(shape.challenges, [&](WitnessSystem& cs, size_t i) {
    PoRepCircuit<WitnessSystem>(cs, circuit).SynthesizeChallenge(&partition.challenges[i]);
  });
  return Join(fixed, parts);
}

Result<Witness> MakeWindowWitness(const PoStShape& shape, std::span<const PoStSector> sectors) {
  if (sectors.empty() || sectors.size() > shape.sectors)
    return Status(ErrorCode::kMismatch, StrCat("there are ", sectors.size(), " sectors, expected 1 to ", shape.sectors));
  for (const PoStSector& sector : sectors) PL_RETURN_IF_ERROR(CheckForm(shape, sector, shape.challenges));
  WitnessSystem fixed;
  std::vector<WitnessSystem> parts = InParallel(shape.sectors, [&](WitnessSystem& cs, size_t i) {
    PoStCircuit<WitnessSystem>(cs, shape).SynthesizeSlot(&sectors[std::min(i, sectors.size() - 1)], 0);
  });
  return Join(fixed, parts);
}

Result<Witness> MakeWinningWitness(const PoStShape& shape, const PoStSector& sector) {
  PL_RETURN_IF_ERROR(CheckForm(shape, sector, size_t{shape.sectors} * shape.challenges));
  WitnessSystem fixed;
  std::vector<WitnessSystem> parts = InParallel(shape.sectors, [&](WitnessSystem& cs, size_t i) {
    PoStCircuit<WitnessSystem>(cs, shape).SynthesizeSlot(&sector, i * shape.challenges);
  });
  return Join(fixed, parts);
}

Result<Witness> MakeUpdateWitness(const UpdateShape& shape, const UpdatePartition& partition) {
  PL_RETURN_IF_ERROR(CheckForm(shape, partition));
  WitnessSystem fixed;
  UpdateCircuit<WitnessSystem> circuit(fixed, shape);
  circuit.SynthesizeFixed(&partition);
  std::vector<WitnessSystem> parts = InParallel(shape.challenges, [&](WitnessSystem& cs, size_t i) {
    UpdateCircuit<WitnessSystem>(cs, circuit).SynthesizeChallenge(static_cast<uint32_t>(i), &partition.challenges[i]);
  });
  return Join(fixed, parts);
}

ValueShares SharesOf(const CompactWitnessView& witness) {
  ValueShares shares;
  for (const FrCanonical& x : witness.wide) {
    const bool is_small = std::all_of(x.begin() + 8, x.end(), [](uint8_t byte) { return byte == 0; });
    ++(is_small ? shares.small : shares.wide);
  }
  for (uint64_t word : witness.classes) shares.one += std::popcount(word & 0x5555555555555555);
  shares.zero = witness.count - shares.one - witness.wide.size();
  return shares;
}

}  // namespace proofline::filecoin
