// One partition of a proof of replication: that columns, labels, encoding and data of the challenged nodes belong to the sector.
//
// The fixed part comes first, then the challenges, which are the same rows over and over but for the variables' numbers.
#pragma once

#include "core/circuits/filecoin/merkle_gadget.h"
#include "core/circuits/filecoin/shapes.h"

namespace proofline::filecoin {

template <class CS>
class PoRepCircuit {
 public:
  PoRepCircuit(CS& cs, const PoRepShape& shape)
      : cs_(cs), shape_(shape), tree_(shape.tree.levels()), data_tree_(BinaryTree(shape.tree.leaves).levels()) {}

  // Goes on with the challenges of `fixed`, whose fixed part is done, in another constraint system.
  PoRepCircuit(CS& cs, const PoRepCircuit& fixed)
      : cs_(cs),
        shape_(fixed.shape_),
        tree_(fixed.tree_),
        data_tree_(fixed.data_tree_),
        replica_bits_(fixed.replica_bits_),
        comm_d_(fixed.comm_d_),
        comm_r_last_(fixed.comm_r_last_),
        comm_c_(fixed.comm_c_) {}

  // `partition` is null where no values are wanted.
  void SynthesizeFixed(const PoRepPartition* partition) {
    Num<CS> replica_id = AllocGiven(cs_, [&] { return partition->replica_id; });
    Inputize(cs_, replica_id);
    AppendBytewise<CS>(replica_bits_, ToBits(cs_, replica_id));
    comm_d_ = AllocGiven(cs_, [&] { return partition->comm_d; });
    Inputize(cs_, comm_d_);
    Num<CS> comm_r = AllocGiven(cs_, [&] { return partition->comm_r; });
    Inputize(cs_, comm_r);
    comm_r_last_ = AllocGiven(cs_, [&] { return partition->challenges[0].comm_r_last.root; });
    comm_c_ = AllocGiven(cs_, [&] { return partition->challenges[0].column.inclusion.root; });
    EnforceEqual(cs_, comm_r, Poseidon2(cs_, comm_c_, comm_r_last_, PoseidonMerkleTag(2)));
  }

  void SynthesizeChallenge(const PoRepChallenge* given) {
    Num<CS> data = AllocGiven(cs_, [&] { return given->comm_d.leaf; });
    ProveInclusion(cs_, NodeHash::kSha256, data_tree_, data, given ? &given->comm_d : nullptr, comm_d_);
    std::vector<Column> drg, expander;
    for (uint32_t i = 0; i < kDrgParents; ++i) drg.push_back(OpenColumn(given ? &given->drg_parents[i] : nullptr));
    for (uint32_t i = 0; i < kExpanderParents; ++i) expander.push_back(OpenColumn(given ? &given->expander_parents[i] : nullptr));
    std::vector<Boolean<CS>> node_bits;
    for (int i = 0; i < 64; ++i) node_bits.push_back(AllocBit(cs_, given && (given->node >> i) & 1));
    PackIntoInputs<CS>(cs_, node_bits);

    Column labels;
    for (uint32_t layer = 1; layer <= shape_.layers; ++layer) labels.push_back(Label(layer, node_bits, drg, expander));
    Num<CS> encoded = Add(cs_, labels.back(), data);
    ProveInclusion(cs_, NodeHash::kPoseidon, tree_, encoded, given ? &given->comm_r_last : nullptr, comm_r_last_);
    Num<CS> hash = Poseidon<CS>(cs_, labels);
    ProveInclusion(cs_, NodeHash::kPoseidon, tree_, hash, given ? &given->column.inclusion : nullptr, comm_c_);
  }

 private:
  using Column = std::vector<Num<CS>>;  // one label for each layer

  Column OpenColumn(const ColumnProof* given) {
    Column rows;
    for (uint32_t i = 0; i < shape_.layers; ++i) rows.push_back(AllocGiven(cs_, [&]() -> const FrCanonical& { return given->rows[i]; }));
    Num<CS> hash = Poseidon<CS>(cs_, rows);
    ProveInclusion(cs_, NodeHash::kPoseidon, tree_, hash, given ? &given->inclusion : nullptr, comm_c_);
    return rows;
  }

  // The parents' labels are taken apart anew in each layer. DRG parents are of this layer, expander parents of the one before.
  Num<CS> Label(uint32_t layer, std::span<const Boolean<CS>> node_bits, std::span<const Column> drg, std::span<const Column> expander) {
    std::vector<std::vector<Boolean<CS>>> parents;
    for (const Column& column : drg) parents.push_back(ToBits(cs_, column[layer - 1]));
    if (layer > 1)
      for (const Column& column : expander) parents.push_back(ToBits(cs_, column[layer - 2]));

    std::vector<Boolean<CS>> bits = replica_bits_;
    bits.reserve(10240);
    for (int i = 31; i >= 0; --i) bits.push_back(Boolean<CS>::Constant((layer >> i) & 1));
    bits.insert(bits.end(), node_bits.rbegin(), node_bits.rend());
    bits.resize(512, Boolean<CS>::Constant(false));
    for (uint32_t i = 0; i < kHashedParents; ++i) AppendBytewise<CS>(bits, parents[i % parents.size()]);
    const std::vector<Boolean<CS>> digest = Sha256(cs_, std::move(bits));
    return PackDigest<CS>(cs_, digest);
  }

  CS& cs_;
  const PoRepShape shape_;
  const std::vector<uint32_t> tree_, data_tree_;
  std::vector<Boolean<CS>> replica_bits_;
  Num<CS> comm_d_, comm_r_last_, comm_c_;
};

}  // namespace proofline::filecoin
