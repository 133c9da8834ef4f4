// Poseidon's constants and digests against known answers, and the optimised form against the textbook's.
#include "core/circuits/filecoin/poseidon.h"

#include "core/circuits/filecoin/poseidon_gadget.h"
#include "tests/core/circuits/filecoin/known_answers.h"

namespace proofline::filecoin {
namespace {

std::string Sha256OfElements(const std::vector<std::span<const Fr>>& pieces) {
  Sha256 hash;
  for (std::span<const Fr> piece : pieces)
    for (const Fr& x : piece) hash.Update(CanonicalOf(x));
  return DigestHex(hash.Finish());
}

// Straight from the paper: add keys, S-boxes, MDS, for every round.
Fr Textbook(std::span<const Fr> inputs, const Fr& tag) {
  const PoseidonConstants& c = GetPoseidonConstants(static_cast<int>(inputs.size()));
  std::vector<Fr> state = {tag};
  state.insert(state.end(), inputs.begin(), inputs.end());
  const size_t width = state.size();
  const int half = kPoseidonFullRounds / 2, rounds = kPoseidonFullRounds + c.partial_rounds;
  for (int round = 0; round < rounds; ++round) {
    const bool full = round < half || round >= half + c.partial_rounds;
    for (size_t i = 0; i < width; ++i) {
      state[i] += c.round_keys[round * width + i];
      if (i == 0 || full) state[i] = state[i].Square().Square() * state[i];
    }
    std::vector<Fr> mixed(width, Fr::Zero());
    for (size_t i = 0; i < width; ++i)
      for (size_t j = 0; j < width; ++j) mixed[j] += state[i] * c.mds[i][j];
    state = mixed;
  }
  return state[1];
}

TEST(FilecoinPoseidon, Constants) {
  int compared = 0;
  for (const Json& line : ReadLines("gadgets.jsonl")) {
    if (!line.contains("poseidon_constants")) continue;
    const int arity = line["poseidon_constants"];
    SCOPED_TRACE(arity);
    const PoseidonConstants& c = GetPoseidonConstants(arity);
    EXPECT_EQ(c.partial_rounds, line["partial_rounds"]);
    EXPECT_EQ(c.round_keys.size(), line["n_round_constants"]);
    EXPECT_EQ(Sha256OfElements({c.round_keys}), line["round_constants_sha256"]);
    EXPECT_EQ(c.keys.size(), line["n_compressed"]);
    EXPECT_EQ(Sha256OfElements({c.keys}), line["compressed_sha256"]);
    std::vector<std::span<const Fr>> pre(c.pre_sparse.begin(), c.pre_sparse.end()), sparse;
    EXPECT_EQ(Sha256OfElements(pre), line["pre_sparse_sha256"]);
    for (const PoseidonSparse& s : c.sparse) {
      sparse.push_back(s.column);
      sparse.push_back(s.row);
    }
    EXPECT_EQ(Sha256OfElements(sparse), line["sparse_what_vrest_sha256"]);
    ++compared;
  }
  EXPECT_GE(compared, 5);
}

TEST(FilecoinPoseidon, Digests) {
  int compared = 0;
  for (const Json& line : ReadLines("gadgets.jsonl")) {
    if (!line.contains("poseidon")) continue;
    std::vector<Fr> inputs;
    for (const Json& hex : line["in_le_hex"]) inputs.push_back(FrOf(FrFromHex(hex)));
    EXPECT_EQ(CanonicalOf(PoseidonHash(inputs)), FrFromHex(line["out_le_hex"])) << line.dump();
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

TEST(FilecoinPoseidon, RandomnessTag) {
  for (const Json& line : ReadLines("gadgets.jsonl")) {
    if (!line.contains("poseidon_gen_randomness")) continue;
    const std::vector<Fr> zeros(2, Fr::Zero());
    EXPECT_EQ(CanonicalOf(PoseidonRandomnessTag()), FrFromHex(line["domain_tag_le"]));
    EXPECT_EQ(CanonicalOf(PoseidonHash(zeros, PoseidonRandomnessTag())), FrFromHex(line["out_le_hex"]));
  }
}

TEST(FilecoinPoseidon, OptimisedFormIsTheTextbooks) {
  for (int arity : {2, 4, 8, 11, 16, 24, 36}) {
    std::vector<Fr> inputs;
    for (int i = 0; i < arity; ++i) inputs.push_back(Fr::FromU64(uint64_t{0x9e3779b97f4a7c15} * (i + 1)).Square());
    EXPECT_EQ(PoseidonHash(inputs), Textbook(inputs, PoseidonMerkleTag(arity))) << arity;
  }
}

}  // namespace
}  // namespace proofline::filecoin
