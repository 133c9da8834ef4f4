#include "core/circuits/filecoin/sparse_sector.h"

#include <map>
#include <unordered_map>

#include "core/circuits/filecoin/native_hash.h"

namespace proofline::filecoin {
namespace {

// A tree of which nearly every leaf is the same: one node for each level, and those that differ.
class SparseTree {
 public:
  SparseTree(NodeHash hash, std::vector<uint32_t> levels, const FrCanonical& leaf, const std::map<uint64_t, FrCanonical>& others)
      : levels_(std::move(levels)), usual_{leaf}, others_{{others.begin(), others.end()}} {
    for (size_t level = 0; level < levels_.size(); ++level) {
      usual_.push_back(NativeNode(hash, std::vector<FrCanonical>(levels_[level], usual_[level])));
      std::unordered_map<uint64_t, FrCanonical> above;
      for (const auto& [index, value] : others_[level]) {
        const uint64_t parent = index / levels_[level];
        if (!above.contains(parent)) above[parent] = NativeNode(hash, Children(level, parent));
      }
      others_.push_back(std::move(above));
    }
  }
  FrCanonical root() const { return At(levels_.size(), 0); }
  MerkleProof Prove(uint64_t index) const {
    MerkleProof proof{root(), At(0, index), {}};
    for (size_t level = 0; level < levels_.size(); ++level) {
      PathElement& e = proof.path.emplace_back();
      e.siblings = Children(level, index / levels_[level]);
      e.index = static_cast<uint32_t>(index % levels_[level]);
      e.siblings.erase(e.siblings.begin() + e.index);
      index /= levels_[level];
    }
    return proof;
  }

 private:
  FrCanonical At(size_t level, uint64_t index) const {
    auto it = others_[level].find(index);
    return it == others_[level].end() ? usual_[level] : it->second;
  }
  std::vector<FrCanonical> Children(size_t level, uint64_t parent) const {
    std::vector<FrCanonical> children;
    for (uint64_t i = 0; i < levels_[level]; ++i) children.push_back(At(level, parent * levels_[level] + i));
    return children;
  }

  std::vector<uint32_t> levels_;
  std::vector<FrCanonical> usual_;  // by level
  std::vector<std::unordered_map<uint64_t, FrCanonical>> others_;
};

FrCanonical Named(const std::string& name, const std::string& what) {
  const std::string text = name + what;
  return TrimmedSha256({ByteSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size())});
}

using Columns = std::map<uint64_t, std::vector<FrCanonical>>;

}  // namespace

struct SparseSector::Impl {
  PoRepShape shape;
  SealingFacts facts;
  FrCanonical replica_id, comm_d, comm_r;
  std::vector<uint64_t> challenges;  // of all partitions
  std::vector<FrCanonical> usual_column;
  Columns columns;  // of challenged nodes
  std::unique_ptr<SealingGraph> graph;
  std::unique_ptr<SparseTree> tree_d, tree_c, tree_r;

  const FrCanonical& Row(uint64_t node, uint32_t layer) const {
    auto it = columns.find(node);
    return (it == columns.end() || it->second.size() < layer ? usual_column : it->second)[layer - 1];
  }
  // In ascending order within a layer, so that DRG parents are there already; a label not made yet is never asked for.
  void MakeLabels() {
    for (uint64_t node : challenges) columns[node];
    for (uint32_t layer = 1; layer <= shape.layers; ++layer) {
      for (auto& [node, column] : columns) {
        std::vector<FrCanonical> parents;
        for (uint32_t p : graph->DrgParents(static_cast<uint32_t>(node))) parents.push_back(Row(p, layer));
        if (layer > 1)
          for (uint32_t p : graph->ExpanderParents(static_cast<uint32_t>(node))) parents.push_back(Row(p, layer - 1));
        column.push_back(NativeLabel(replica_id, layer, node, HashedParents(std::move(parents))));
      }
    }
  }
  void MakeTrees(const FrCanonical& data) {
    std::map<uint64_t, FrCanonical> hashes, encoded;
    auto encode = [&](const FrCanonical& label) { return CanonicalOf(FrOf(label) + FrOf(data)); };
    for (const auto& [node, column] : columns) {
      hashes[node] = NativePoseidon(column);
      encoded[node] = encode(column.back());
    }
    tree_c = std::make_unique<SparseTree>(NodeHash::kPoseidon, shape.tree.levels(), NativePoseidon(usual_column), hashes);
    tree_r = std::make_unique<SparseTree>(NodeHash::kPoseidon, shape.tree.levels(), encode(usual_column.back()), encoded);
    const std::array<FrCanonical, 2> roots = {tree_c->root(), tree_r->root()};
    comm_r = NativePoseidon(roots);
  }
  ColumnProof Open(uint64_t node) const {
    ColumnProof proof;
    proof.node = static_cast<uint32_t>(node);
    for (uint32_t layer = 1; layer <= shape.layers; ++layer) proof.rows.push_back(Row(node, layer));
    proof.inclusion = tree_c->Prove(node);
    return proof;
  }
};

SparseSector::SparseSector(const PoRepShape& shape, const SparseSectorOptions& options) : impl_(std::make_unique<Impl>()) {
  Impl& s = *impl_;
  s.shape = shape;
  s.facts = {ChallengeKind::kInteractive, Named(options.name, "/seed"), options.porep_id, options.api};
  const FrCanonical data = Named(options.name, "/data");
  s.tree_d = std::make_unique<SparseTree>(NodeHash::kSha256, BinaryTree(shape.tree.leaves).levels(), data, std::map<uint64_t, FrCanonical>());
  s.comm_d = s.tree_d->root();
  s.replica_id = ReplicaId(options.prover_id, options.sector, Named(options.name, "/ticket"), s.comm_d, options.porep_id);
  s.challenges = PoRepChallenges({ChallengeKind::kInteractive, s.replica_id, s.facts.seed, {}}, shape.tree.leaves, 0,
                                 shape.challenges * shape.partitions);
  for (uint32_t layer = 1; layer <= shape.layers; ++layer) s.usual_column.push_back(Named(options.name, "/label/" + std::to_string(layer)));
  s.graph = std::make_unique<SealingGraph>(shape.tree.leaves, options.porep_id, options.api);
  s.MakeLabels();
  s.MakeTrees(data);
}
SparseSector::~SparseSector() = default;

const FrCanonical& SparseSector::replica_id() const { return impl_->replica_id; }
const FrCanonical& SparseSector::comm_d() const { return impl_->comm_d; }
FrCanonical SparseSector::comm_c() const { return impl_->tree_c->root(); }
FrCanonical SparseSector::comm_r_last() const { return impl_->tree_r->root(); }
const FrCanonical& SparseSector::comm_r() const { return impl_->comm_r; }
const SealingFacts& SparseSector::facts() const { return impl_->facts; }

PoRepPartition SparseSector::Partition(uint32_t number) const {
  const Impl& s = *impl_;
  PoRepPartition partition{s.replica_id, s.comm_d, s.comm_r, {}};
  for (uint32_t i = 0; i < s.shape.challenges; ++i) {
    PoRepChallenge& c = partition.challenges.emplace_back();
    c.node = s.challenges[size_t{number} * s.shape.challenges + i];
    c.comm_d = s.tree_d->Prove(c.node);
    c.comm_r_last = s.tree_r->Prove(c.node);
    c.column = s.Open(c.node);
    const auto drg = s.graph->DrgParents(static_cast<uint32_t>(c.node));
    const auto expander = s.graph->ExpanderParents(static_cast<uint32_t>(c.node));
    for (size_t p = 0; p < drg.size(); ++p) c.drg_parents[p] = s.Open(drg[p]);
    for (size_t p = 0; p < expander.size(); ++p) c.expander_parents[p] = s.Open(expander[p]);
  }
  return partition;
}

}  // namespace proofline::filecoin
