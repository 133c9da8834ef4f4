#include "core/circuits/filecoin/check.h"

#include <tbb/parallel_for.h>

#include <bit>

#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/circuits/filecoin/native_hash.h"
#include "core/circuits/filecoin/witness.h"

namespace proofline::filecoin {
namespace {

std::string Hex(const FrCanonical& x) { return DigestHex(x); }

FrCanonical FrOfU64(uint64_t x) {
  FrCanonical out{};
  StoreLe(out.data(), x);
  return out;
}

Status Bad(const std::string& what, std::string_view fact, std::string_view found, std::string_view expected) {
  return Status(ErrorCode::kUnsatisfied, StrCat(what, ": ", fact, " ", found, ", expected ", expected));
}
Status ExpectEqual(const FrCanonical& found, const FrCanonical& expected, const std::string& what, std::string_view fact) {
  return found == expected ? OkStatus() : Bad(what, fact, Hex(found), Hex(expected));
}

FrCanonical PoseidonOf2(const FrCanonical& left, const FrCanonical& right, const Fr* tag = nullptr) {
  const std::array<FrCanonical, 2> inputs = {left, right};
  return NativePoseidon(inputs, tag);
}

// The leaf's number that a path's indices spell.
uint64_t LeafOf(std::span<const PathElement> path) {
  uint64_t leaf = 0;
  int shift = 0;
  for (const PathElement& e : path) {
    leaf |= uint64_t{e.index} << shift;
    shift += std::bit_width(e.siblings.size());
  }
  return leaf;
}

FrCanonical Climb(NodeHash hash, FrCanonical node, std::span<const PathElement> path) {
  for (const PathElement& e : path) {
    std::vector<FrCanonical> children = e.siblings;
    children.insert(children.begin() + e.index, node);
    node = NativeNode(hash, children);
  }
  return node;
}

// The path begins at `leaf`, belongs to node `number` and ends at `root`.
Status CheckPath(NodeHash hash, const MerkleProof& proof, uint64_t number, const FrCanonical& leaf, const FrCanonical& root,
                 const std::string& what) {
  if (const uint64_t found = LeafOf(proof.path); found != number) return Bad(what, "is of node", StrCat(found), StrCat(number));
  PL_RETURN_IF_ERROR(ExpectEqual(proof.leaf, leaf, what, StrCat("the leaf of node ", number, " is")));
  PL_RETURN_IF_ERROR(ExpectEqual(proof.root, root, what, "the root is"));
  return ExpectEqual(Climb(hash, leaf, proof.path), root, what, StrCat("node ", number, " leads to"));
}

// Stops at the first bad one, in order.
template <class F>
Status ForEachChallenge(size_t count, const F& check) {
  std::vector<Status> results(count);
  tbb::parallel_for(size_t{0}, count, [&](size_t i) { results[i] = check(i); });
  for (Status& status : results)
    if (!status.ok()) return std::move(status);
  return OkStatus();
}

class PoRepChecker {
 public:
  PoRepChecker(const PoRepPartition& partition, const SealingGraph* graph)
      : partition_(partition), graph_(graph), comm_c_(partition.challenges[0].column.inclusion.root),
        comm_r_last_(partition.challenges[0].comm_r_last.root) {}

  Status CheckCommitments(const std::string& what) const {
    return ExpectEqual(partition_.comm_r, PoseidonOf2(comm_c_, comm_r_last_), what, "comm_r is");
  }

  Status Check(const PoRepChallenge& c, const std::string& what) const {
    PL_RETURN_IF_ERROR(CheckPath(NodeHash::kSha256, c.comm_d, c.node, c.comm_d.leaf, partition_.comm_d, what + ", path in TreeD"));
    PL_RETURN_IF_ERROR(CheckColumn(c.column, c.node, what + ", its column"));
    PL_RETURN_IF_ERROR(CheckParents(c, what));
    for (size_t layer = 1; layer <= c.column.rows.size(); ++layer) PL_RETURN_IF_ERROR(CheckLabel(c, layer, what));
    const FrCanonical encoded = CanonicalOf(FrOf(c.column.rows.back()) + FrOf(c.comm_d.leaf));
    return CheckPath(NodeHash::kPoseidon, c.comm_r_last, c.node, encoded, comm_r_last_, what + ", path in TreeR");
  }

 private:
  Status CheckColumn(const ColumnProof& column, uint64_t node, const std::string& what) const {
    if (column.node != node) return Bad(what, "is of node", StrCat(column.node), StrCat(node));
    return CheckPath(NodeHash::kPoseidon, column.inclusion, node, NativePoseidon(column.rows), comm_c_, what + ", path in TreeC");
  }

  Status CheckParents(const PoRepChallenge& c, const std::string& what) const {
    const uint32_t node = static_cast<uint32_t>(c.node);
    auto check = [&](std::span<const ColumnProof> columns, const uint32_t* expected, std::string_view kind) {
      for (size_t i = 0; i < columns.size(); ++i)
        PL_RETURN_IF_ERROR(CheckColumn(columns[i], expected ? expected[i] : columns[i].node,
                                       StrCat(what, ", column of ", kind, " parent ", i, " of node ", node)));
      return OkStatus();
    };
    if (!graph_) {
      PL_RETURN_IF_ERROR(check(c.drg_parents, nullptr, "DRG"));
      return check(c.expander_parents, nullptr, "expander");
    }
    const auto drg = graph_->DrgParents(node);
    const auto expander = graph_->ExpanderParents(node);
    PL_RETURN_IF_ERROR(check(c.drg_parents, drg.data(), "DRG"));
    return check(c.expander_parents, expander.data(), "expander");
  }

  // DRG parents' labels of this layer, expander parents' of the one before.
  static std::vector<FrCanonical> ParentLabels(const PoRepChallenge& c, size_t layer) {
    std::vector<FrCanonical> labels;
    for (const ColumnProof& p : c.drg_parents) labels.push_back(p.rows[layer - 1]);
    if (layer > 1)
      for (const ColumnProof& p : c.expander_parents) labels.push_back(p.rows[layer - 2]);
    return HashedParents(std::move(labels));
  }

  Status CheckLabel(const PoRepChallenge& c, size_t layer, const std::string& what) const {
    const std::string which = StrCat(what, ", label of node ", c.node, " in layer ", layer);
    const std::vector<FrCanonical> parents = ParentLabels(c, layer);
    const FrCanonical label = NativeLabel(partition_.replica_id, static_cast<uint32_t>(layer), c.node, parents);
    PL_RETURN_IF_ERROR(ExpectEqual(c.column.rows[layer - 1], label, which, "its column says"));
    if (c.labeling.empty()) return OkStatus();
    PL_RETURN_IF_ERROR(CheckProof(c.labeling[layer - 1], c.node, layer, parents, which));
    return layer == c.column.rows.size() ? CheckProof(c.encoding, c.node, layer, parents, which + " (encoding)") : OkStatus();
  }

  // What a file repeats about a label.
  static Status CheckProof(const LabelProof& proof, uint64_t node, size_t layer, const std::vector<FrCanonical>& parents, const std::string& what) {
    if (proof.node != node) return Bad(what, "its proof is of node", StrCat(proof.node), StrCat(node));
    if (proof.layer != layer) return Bad(what, "its proof is of layer", StrCat(proof.layer), StrCat(layer));
    if (proof.parents.size() != parents.size()) return Bad(what, "parents:", StrCat(proof.parents.size()), StrCat(parents.size()));
    for (size_t i = 0; i < parents.size(); ++i)
      PL_RETURN_IF_ERROR(ExpectEqual(proof.parents[i], parents[i], what, StrCat("hashed parent ", i, " is")));
    return OkStatus();
  }

  const PoRepPartition& partition_;
  const SealingGraph* graph_;
  const FrCanonical comm_c_, comm_r_last_;
};

ChallengeSource SourceOf(const FrCanonical& replica_id, const FrCanonical& comm_r, const SealingFacts& facts) {
  return {facts.kind, replica_id, facts.seed, comm_r};
}

}  // namespace

Status CheckPoRep(const PoRepShape& shape, const PoRepPartition& partition, uint32_t number, const SealingFacts* facts) {
  PL_RETURN_IF_ERROR(CheckForm(shape, partition));
  std::optional<SealingGraph> graph;
  std::vector<uint64_t> challenges;
  if (facts) {
    graph.emplace(shape.tree.leaves, facts->porep_id, facts->api);
    challenges = PoRepChallenges(SourceOf(partition.replica_id, partition.comm_r, *facts), shape.tree.leaves, number * shape.challenges,
                                 shape.challenges);
  }
  const PoRepChecker checker(partition, graph ? &*graph : nullptr);
  PL_RETURN_IF_ERROR(checker.CheckCommitments(StrCat("partition ", number)));
  return ForEachChallenge(partition.challenges.size(), [&](size_t i) {
    const PoRepChallenge& c = partition.challenges[i];
    const std::string what = StrCat("partition ", number, ", challenge ", i);
    if (c.node >= shape.tree.leaves) return Bad(what, "is node", StrCat(c.node), StrCat("less than ", shape.tree.leaves));
    if (facts && c.node != challenges[i]) return Bad(what, "is node", StrCat(c.node), StrCat(challenges[i]));
    return checker.Check(c, what);
  });
}

Status CheckPoSt(const PoStShape& shape, const PoStSector& sector, std::span<const uint64_t> leaves) {
  PL_RETURN_IF_ERROR(CheckForm(shape, sector, leaves.size()));
  const std::string what = StrCat("sector ", sector.sector_id);
  PL_RETURN_IF_ERROR(ExpectEqual(sector.comm_r, PoseidonOf2(sector.comm_c, sector.comm_r_last), what, "comm_r is"));
  return ForEachChallenge(leaves.size(), [&](size_t i) {
    const MerkleProof& opening = sector.openings[i];
    return CheckPath(NodeHash::kPoseidon, opening, leaves[i], opening.leaf, sector.comm_r_last, StrCat(what, ", challenge ", i, ", path in TreeR"));
  });
}

std::vector<uint64_t> UpdateChallenges(const UpdateShape& shape, const FrCanonical& comm_r_new, uint32_t partition) {
  const Fr tag = PoseidonRandomnessTag();
  const int bits = shape.challenge_bits();
  std::vector<uint64_t> challenges;
  for (uint32_t j = 0; j < shape.digests(); ++j) {
    const FrCanonical digest = PoseidonOf2(comm_r_new, FrOfU64(uint64_t{partition} * shape.digests() + j), &tag);
    for (uint32_t i = 0; i < shape.challenges_per_digest() && challenges.size() < shape.challenges; ++i) {
      uint64_t node = uint64_t{partition} << bits;
      for (int b = 0; b < bits; ++b) {
        const int at = static_cast<int>(i) * bits + b;
        node |= uint64_t{digest[at / 8] >> (at % 8) & 1u} << b;
      }
      challenges.push_back(node);
    }
  }
  return challenges;
}

Status CheckUpdate(const UpdateShape& shape, const UpdatePartition& partition) {
  PL_RETURN_IF_ERROR(CheckForm(shape, partition));
  const Fr tag = PoseidonRandomnessTag();
  const std::string what = StrCat("partition ", partition.partition);
  const FrCanonical root_r_old = partition.challenges[0].r_old.root, root_r_new = partition.challenges[0].r_new.root;
  PL_RETURN_IF_ERROR(ExpectEqual(partition.comm_r_old, PoseidonOf2(partition.comm_c, root_r_old), what, "the old comm_r is"));
  PL_RETURN_IF_ERROR(ExpectEqual(partition.comm_r_new, PoseidonOf2(partition.comm_c, root_r_new), what, "the new comm_r is"));
  const FrCanonical phi = PoseidonOf2(partition.comm_d_new, partition.comm_r_old, &tag);
  const uint32_t h = shape.h[std::countr_zero(partition.h_select)];
  const std::vector<uint64_t> nodes = UpdateChallenges(shape, partition.comm_r_new, partition.partition);
  const int below_apex = shape.challenge_bits() - std::countr_zero(shape.apex_leaves);

  return ForEachChallenge(partition.challenges.size(), [&](size_t i) {
    const UpdateChallenge& c = partition.challenges[i];
    const std::string which = StrCat(what, ", challenge ", i);
    const uint64_t node = nodes[i];
    PL_RETURN_IF_ERROR(CheckPath(NodeHash::kPoseidon, c.r_old, node, c.r_old.leaf, root_r_old, which + ", path in the old TreeR"));
    PL_RETURN_IF_ERROR(CheckPath(NodeHash::kSha256, c.d_new, node, c.d_new.leaf, partition.comm_d_new, which + ", path in the new TreeD"));
    const uint64_t apex = (node >> below_apex) % shape.apex_leaves;
    PL_RETURN_IF_ERROR(ExpectEqual(partition.apex_leaves[apex],
                                   Climb(NodeHash::kSha256, c.d_new.leaf, std::span(c.d_new.path).first(below_apex)), which,
                                   StrCat("apex leaf ", apex, " is")));
    const FrCanonical rho = PoseidonOf2(phi, FrOfU64(node >> (shape.index_bits() - h)), &tag);
    const FrCanonical leaf = CanonicalOf(FrOf(c.r_old.leaf) + FrOf(c.d_new.leaf) * FrOf(rho));
    return CheckPath(NodeHash::kPoseidon, c.r_new, node, leaf, root_r_new, which + ", path in the new TreeR");
  });
}

std::vector<FrCanonical> PoRepPublicInputs(const PoRepShape& shape, const FrCanonical& replica_id, const FrCanonical& comm_d,
                                           const FrCanonical& comm_r, const SealingFacts& facts, uint32_t partition) {
  const SealingGraph graph(shape.tree.leaves, facts.porep_id, facts.api);
  std::vector<FrCanonical> inputs = {replica_id, comm_d, comm_r};
  for (uint64_t node : PoRepChallenges(SourceOf(replica_id, comm_r, facts), shape.tree.leaves, partition * shape.challenges, shape.challenges)) {
    inputs.push_back(FrOfU64(node));
    for (uint32_t parent : graph.DrgParents(static_cast<uint32_t>(node))) inputs.push_back(FrOfU64(parent));
    for (uint32_t parent : graph.ExpanderParents(static_cast<uint32_t>(node))) inputs.push_back(FrOfU64(parent));
    inputs.insert(inputs.end(), 3, FrOfU64(node));
  }
  return inputs;
}

std::vector<FrCanonical> PoStSlotPublicInputs(const FrCanonical& comm_r, std::span<const uint64_t> leaves) {
  std::vector<FrCanonical> inputs = {comm_r};
  for (uint64_t leaf : leaves) inputs.push_back(FrOfU64(leaf));
  return inputs;
}

std::vector<FrCanonical> UpdatePublicInputs(const UpdateShape& shape, const UpdatePartition& partition) {
  const uint64_t k_and_h = partition.partition + (uint64_t{partition.h_select} << shape.partition_bits());
  return {FrOfU64(k_and_h), partition.comm_r_old, partition.comm_d_new, partition.comm_r_new};
}

}  // namespace proofline::filecoin
