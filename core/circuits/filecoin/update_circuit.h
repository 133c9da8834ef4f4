// One partition of a sector update: that the new replica is the old one plus data times rho at every challenged node. The partition's part of
// TreeD hangs on "apex" leaves, so that data paths end there.
//
// The fixed part comes first, then the challenges, which are alike but for the variables' numbers; the bits of a challenge come from the fixed
// part.
#pragma once

#include "core/circuits/filecoin/merkle_gadget.h"
#include "core/circuits/filecoin/shapes.h"

namespace proofline::filecoin {

template <class CS>
class UpdateCircuit {
 public:
  UpdateCircuit(CS& cs, const UpdateShape& shape) : cs_(cs), shape_(shape), tree_(shape.tree.levels()) {}

  // Goes on with the challenges of `fixed`, whose fixed part is done, in another constraint system.
  UpdateCircuit(CS& cs, const UpdateCircuit& fixed)
      : cs_(cs),
        shape_(fixed.shape_),
        tree_(fixed.tree_),
        partition_bits_(fixed.partition_bits_),
        h_bits_(fixed.h_bits_),
        phi_(fixed.phi_),
        root_r_old_(fixed.root_r_old_),
        root_r_new_(fixed.root_r_new_),
        apex_leaves_(fixed.apex_leaves_),
        digest_bits_(fixed.digest_bits_) {}

  void SynthesizeFixed(const UpdatePartition* given) {
    AllocPartitionAndH(given);
    Num<CS> partition = PackBits<CS>(cs_, partition_bits_);
    auto public_num = [&](const auto& f) {
      Num<CS> x = AllocGiven(cs_, f);
      Inputize(cs_, x);
      return x;
    };
    Num<CS> comm_r_old = public_num([&] { return given->comm_r_old; });
    Num<CS> comm_d_new = public_num([&] { return given->comm_d_new; });
    Num<CS> comm_r_new = public_num([&] { return given->comm_r_new; });
    phi_ = Poseidon2(cs_, comm_d_new, comm_r_old, PoseidonRandomnessTag());
    Num<CS> comm_c = AllocGiven(cs_, [&] { return given->comm_c; });
    root_r_old_ = AllocGiven(cs_, [&] { return given->challenges[0].r_old.root; });
    root_r_new_ = AllocGiven(cs_, [&] { return given->challenges[0].r_new.root; });
    for (uint32_t i = 0; i < shape_.apex_leaves; ++i)
      apex_leaves_.push_back(AllocGiven(cs_, [&]() -> const FrCanonical& { return given->apex_leaves[i]; }));
    const std::vector<std::vector<Num<CS>>> path = AllocPath(given ? &given->challenges[0].d_new : nullptr, data_levels_to_partition(),
                                                             std::vector<uint32_t>(shape_.partition_bits(), 2));
    EnforceEqual(cs_, Poseidon2(cs_, comm_c, root_r_old_, PoseidonMerkleTag(2)), comm_r_old);
    EnforceEqual(cs_, Poseidon2(cs_, comm_c, root_r_new_, PoseidonMerkleTag(2)), comm_r_new);
    ProveInclusionAt<CS>(cs_, NodeHash::kSha256, partition_bits_, path, ApexRoot(), comm_d_new);
    AllocChallengeBits(partition, comm_r_new);
  }

  void SynthesizeChallenge(uint32_t number, const UpdateChallenge* given) {
    std::vector<Boolean<CS>> index = ChallengeBits(number);
    index.insert(index.end(), partition_bits_.begin(), partition_bits_.end());
    Num<CS> rho = Poseidon2(cs_, phi_, HighBits(index), PoseidonRandomnessTag());
    Num<CS> leaf_r_old = AllocGiven(cs_, [&] { return given->r_old.leaf; });
    Num<CS> leaf_d_new = AllocGiven(cs_, [&] { return given->d_new.leaf; });
    Num<CS> leaf_r_new = Add(cs_, leaf_r_old, Multiply(cs_, leaf_d_new, rho));

    const auto path_r_old = AllocPath(given ? &given->r_old : nullptr, 0, tree_);
    ProveInclusionAt<CS>(cs_, NodeHash::kPoseidon, index, path_r_old, leaf_r_old, root_r_old_);
    const auto path_r_new = AllocPath(given ? &given->r_new : nullptr, 0, tree_);
    ProveInclusionAt<CS>(cs_, NodeHash::kPoseidon, index, path_r_new, leaf_r_new, root_r_new_);

    const int below = levels_below_apex();
    const auto bits = std::span<const Boolean<CS>>(index);
    Num<CS> apex = Select<CS>(cs_, apex_leaves_, bits.subspan(below, shape_.challenge_bits() - below));
    const auto path_d_new = AllocPath(given ? &given->d_new : nullptr, 0, std::vector<uint32_t>(below, 2));
    ProveInclusionAt<CS>(cs_, NodeHash::kSha256, bits.first(below), path_d_new, leaf_d_new, apex);
  }

  // The bits of challenge `number` within its partition, least significant first: what differs between challenges.
  std::vector<Boolean<CS>> ChallengeBits(uint32_t number) const {
    const uint32_t per_digest = shape_.challenges_per_digest(), bits = shape_.challenge_bits();
    const auto begin = digest_bits_[number / per_digest].begin() + size_t{number % per_digest} * bits;
    return {begin, begin + bits};
  }

 private:
  int levels_below_apex() const { return shape_.challenge_bits() - std::countr_zero(shape_.apex_leaves); }
  int data_levels_to_partition() const { return shape_.challenge_bits(); }

  // k + h_select * 2^partition_bits as one public input, and its bits.
  void AllocPartitionAndH(const UpdatePartition* given) {
    const int bits = shape_.partition_bits();
    const uint64_t packed = given ? given->partition + (uint64_t{given->h_select} << bits) : 0;
    Num<CS> k_and_h = AllocNum(cs_, CS::Value([&] { return Fr::FromU64(packed); }));
    Inputize(cs_, k_and_h);
    std::vector<Boolean<CS>> all;
    for (int i = 0; i < bits + 6; ++i) all.push_back(AllocBit(cs_, (packed >> i) & 1));
    cs_.Enforce([&](auto& s) { AddBits<CS>(s, all); }, [&](auto& s) { s.Add(CS::kOne); }, [&](auto& s) { s.Add(k_and_h.var); });
    partition_bits_.assign(all.begin(), all.begin() + bits);
    h_bits_.assign(all.begin() + bits, all.end());
  }

  std::vector<std::vector<Num<CS>>> AllocPath(const MerkleProof* proof, size_t first_level, const std::vector<uint32_t>& levels) {
    std::vector<std::vector<Num<CS>>> path;
    for (size_t i = 0; i < levels.size(); ++i)
      path.push_back(merkle_detail::AllocSiblings(cs_, proof ? &proof->path[first_level + i] : nullptr, levels[i]));
    return path;
  }

  Num<CS> ApexRoot() {
    std::vector<Num<CS>> nodes = apex_leaves_;
    while (nodes.size() > 1) {
      for (size_t i = 0; i < nodes.size() / 2; ++i) nodes[i] = Sha256Node(cs_, nodes[2 * i], nodes[2 * i + 1]);
      nodes.resize(nodes.size() / 2, nodes[0]);
    }
    return nodes[0];
  }

  // Digest j = Poseidon(comm_r_new, digests * partition + j), taken apart by sum * 1 = digest (and not by ToBits).
  void AllocChallengeBits(const Num<CS>& partition, const Num<CS>& comm_r_new) {
    const Fr digests = Fr::FromU64(shape_.digests());
    for (uint32_t j = 0; j < shape_.digests(); ++j) {
      Num<CS> index = AllocNum(cs_, CS::Value([&] { return partition.value * digests + Fr::FromU64(j); }));
      cs_.Enforce(
          [&](auto& s) {
            s.Add(digests, partition.var);
            s.Add(Fr::FromU64(j), CS::kOne);
          },
          [&](auto& s) { s.Add(CS::kOne); }, [&](auto& s) { s.Add(index.var); });
      Num<CS> digest = Poseidon2(cs_, comm_r_new, index, PoseidonRandomnessTag());
      digest_bits_.push_back(AllocBitsOf(cs_, digest));
      cs_.Enforce([&](auto& s) { AddBits<CS>(s, digest_bits_.back()); }, [&](auto& s) { s.Add(CS::kOne); },
                  [&](auto& s) { s.Add(digest.var); });
    }
  }

  // The h most significant bits of a node's index as a number, for the selected one of six h: sum over h of bit_h * number_h.
  Num<CS> HighBits(std::span<const Boolean<CS>> index) {
    std::vector<Num<CS>> terms;
    for (int i = 0; i < 6; ++i) {
      Num<CS> high = PackBits<CS>(cs_, index.last(shape_.h[i]));
      Num<CS> z = AllocNum(cs_, high.value * (h_bits_[i].value() ? Fr::One() : Fr::Zero()));
      cs_.Enforce([&](auto& s) { s.Add(high.var); }, [&](auto& s) { AddTo(s, h_bits_[i]); }, [&](auto& s) { s.Add(z.var); });
      terms.push_back(z);
    }
    typename CS::Scalar sum = terms[0].value;
    for (int i = 1; i < 6; ++i) sum += terms[i].value;
    Num<CS> selected = AllocNum(cs_, sum);
    cs_.Enforce(
        [&](auto& s) {
          for (const Num<CS>& z : terms) s.Add(z.var);
        },
        [&](auto& s) { s.Add(CS::kOne); }, [&](auto& s) { s.Add(selected.var); });
    return selected;
  }

  CS& cs_;
  const UpdateShape shape_;
  const std::vector<uint32_t> tree_;
  std::vector<Boolean<CS>> partition_bits_, h_bits_;
  Num<CS> phi_, root_r_old_, root_r_new_;
  std::vector<Num<CS>> apex_leaves_;
  std::vector<std::vector<Boolean<CS>>> digest_bits_;
};

}  // namespace proofline::filecoin
