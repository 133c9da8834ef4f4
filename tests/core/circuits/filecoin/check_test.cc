// Native checks of vanilla proofs: what was really sealed passes, and damage is found and named.
#include "core/circuits/filecoin/check.h"

#include <functional>

#include "core/circuits/filecoin/sparse_sector.h"
#include "core/formats/filecoin_c1.h"
#include "tests/core/circuits/filecoin/known_answers.h"
#include "tests/core/circuits/filecoin/witness_digests.h"

namespace proofline::filecoin {
namespace {

const std::string kData = PROOFLINE_TEST_DATA;

SectorShape Shape(std::string_view size) { return *SectorShapeOf(*ParseSectorSize(size)); }

Json Line(const std::string& key, const std::string& name) {
  for (const Json& line : ReadLines("sealed.jsonl"))
    if (line.contains(key) && line[key] == name) return line;
  ADD_FAILURE() << key << " " << name;
  return {};
}

SealingFacts FactsOf(const Json& sealed) {
  SealingFacts facts;
  facts.seed = FrFromHex(sealed["seed"]);
  facts.porep_id = PoRepIdOf(sealed["porep_id_le"]);
  facts.api = sealed.value("api", "1.1.0") == "1.0.0" ? SealingApi::kV1_0 : SealingApi::kV1_1;
  return facts;
}

TEST(FilecoinGraph, ReplicaIdsAndPublicInputs) {
  int compared = 0;
  for (const Json& sealed : ReadLines("sealed.jsonl")) {
    if (!sealed.contains("sealed")) continue;
    SCOPED_TRACE(sealed["sealed"].dump());
    const FrCanonical comm_d = FrFromHex(sealed["comm_d"]), comm_r = FrFromHex(sealed["comm_r"]);
    const FrCanonical replica_id = ReplicaId(FrFromHex(sealed["prover_id"]), sealed["sector_id"], FrFromHex(sealed["ticket"]), comm_d,
                                             PoRepIdOf(sealed["porep_id_le"]));
    EXPECT_EQ(replica_id, FrFromHex(sealed["replica_id"]));
    const std::string tree = sealed["shape"];
    PoRepShape shape;
    shape.tree = {sealed["nodes"], 8, tree.ends_with("8-8-0") || tree.ends_with("8-8-2") ? 8u : 0u, tree.ends_with("8-8-2") ? 2u : 0u};
    shape.layers = sealed["layers"];
    shape.challenges = sealed["challenges_per_partition"];
    for (uint32_t k = 0; k < sealed["partitions"].get<uint32_t>(); ++k) {
      std::vector<FrCanonical> expected;
      for (const Json& line : ReadLines("sealed.jsonl"))
        if (line.contains("public_inputs") && line["public_inputs"] == sealed["sealed"] && line["partition"] == k)
          for (const Json& hex : line["values_le_hex"]) expected.push_back(FrFromHex(hex));
      EXPECT_EQ(PoRepPublicInputs(shape, replica_id, comm_d, comm_r, FactsOf(sealed), k), expected);
      ++compared;
    }
  }
  EXPECT_GE(compared, 4);
}

TEST(FilecoinGraph, FullSizeChallenges) {
  const Json sparse = Line("sparse", "fil32g-sparse");
  const ChallengeSource source{ChallengeKind::kInteractive, FrFromHex(sparse["replica_id"]), FrFromHex(sparse["seed"]), {}};
  std::vector<uint64_t> expected;
  for (const Json& partition : sparse["challenges"])
    for (uint64_t c : partition) expected.push_back(c);
  ASSERT_EQ(expected.size(), 180u);
  EXPECT_EQ(PoRepChallenges(source, uint64_t{1} << 30, 0, 180), expected);
  const std::vector<uint64_t> third(expected.begin() + 36, expected.begin() + 54);
  EXPECT_EQ(PoRepChallenges(source, uint64_t{1} << 30, 36, 18), third);
}

TEST(FilecoinGraph, SyntheticChallenges) {
  ChallengeSource source{ChallengeKind::kSynthetic, CanonicalOf(Fr::FromU64(55)), {}, CanonicalOf(Fr::FromU64(101))};
  source.seed.fill(1);
  const std::vector<uint64_t> candidates = SyntheticCandidates(source, 1 << 10, 21);
  EXPECT_EQ(std::vector<uint64_t>(candidates.begin(), candidates.begin() + 5), (std::vector<uint64_t>{178, 297, 869, 211, 875}));
}

TEST(FilecoinGraph, PoStChallenges) {
  const Json window = Line("post", "fil2k-v1_1-a.window"), winning = Line("post", "fil2k-v1_1-a.winning");
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(PoStChallenge(FrFromHex(window["randomness"]), 77, i, 64), window["challenges"][i]);
  for (size_t i = 0; i < 66; ++i) EXPECT_EQ(PoStChallenge(FrFromHex(winning["randomness"]), 77, i, 64), winning["challenges"][i]);
}

TEST(FilecoinGraph, ProverId) {
  EXPECT_EQ(ProverIdOf(0), Bytes32{});
  EXPECT_EQ(ProverIdOf(127)[0], 127);
  const Bytes32 wide = ProverIdOf(624485);  // 0xe5 0x8e 0x26, the DWARF standard's example
  EXPECT_EQ(std::vector<int>(wide.begin(), wide.begin() + 4), (std::vector<int>{0xe5, 0x8e, 0x26, 0}));
  EXPECT_EQ(ProverIdOf(~uint64_t{0})[9], 1);
}

class PoRepCheck : public testing::Test {
 protected:
  PoRepCheck() {
    c1_ = *ReadFilecoinC1(ReadData(kData + "fil2k-v1_1-a.c1.bincode"), "c1");
    facts_ = FactsOf(Line("sealed", "fil2k-v1_1-a"));
  }
  Status Check(const PoRepPartition& partition) { return CheckPoRep(Shape("2KiB").porep, partition, 0, &facts_); }

  FilecoinC1 c1_;
  SealingFacts facts_;
};

TEST_F(PoRepCheck, SealedSectorPasses) {
  EXPECT_TRUE(Check(c1_.partitions[0]).ok()) << Check(c1_.partitions[0]).ToString();
  EXPECT_TRUE(CheckPoRep(Shape("2KiB").porep, c1_.partitions[0], 0, nullptr).ok());
}

TEST_F(PoRepCheck, DamageIsNamed) {
  struct Damage {
    std::function<void(PoRepPartition&)> apply;
    std::string fact;  // begins so
  };
  const Damage cases[] = {
      {[](auto& p) { p.comm_r[3] ^= 1; }, "partition 0: comm_r is "},
      {[](auto& p) { p.comm_d[3] ^= 1; }, "partition 0, challenge 0, path in TreeD: the root is "},
      {[](auto& p) { p.replica_id[3] ^= 1; }, "partition 0, challenge 0: is node 12, expected "},
      {[](auto& p) { p.challenges[1].node = 15; }, "partition 0, challenge 1: is node 15, expected 14"},
      {[](auto& p) { p.challenges[1].comm_d.leaf[0] ^= 1; }, "partition 0, challenge 1, path in TreeD: node 14 leads to "},
      {[](auto& p) { p.challenges[1].comm_d.path[2].siblings[0][0] ^= 1; }, "partition 0, challenge 1, path in TreeD: node 14 leads to "},
      {[](auto& p) { p.challenges[1].comm_d.path[2].index ^= 1; }, "partition 0, challenge 1, path in TreeD: is of node 10, expected 14"},
      {[](auto& p) { p.challenges[1].column.rows[0][5] ^= 1; }, "partition 0, challenge 1, its column, path in TreeC: the leaf of node 14 is "},
      {[](auto& p) { p.challenges[1].drg_parents[3].inclusion.path[1].siblings[6][0] ^= 1; },
       "partition 0, challenge 1, column of DRG parent 3 of node 14, path in TreeC: node "},
      {[](auto& p) { std::swap(p.challenges[1].expander_parents[2], p.challenges[1].expander_parents[5]); },
       "partition 0, challenge 1, column of expander parent 2 of node 14: is of node "},
      {[](auto& p) { p.challenges[1].comm_r_last.path[0].siblings[0][9] ^= 1; }, "partition 0, challenge 1, path in TreeR: node 14 leads to "},
      {[](auto& p) { p.challenges[1].comm_r_last.leaf[9] ^= 1; }, "partition 0, challenge 1, path in TreeR: the leaf of node 14 is "},
      {[](auto& p) { p.challenges[1].labeling[1].parents[30][9] ^= 1; },
       "partition 0, challenge 1, label of node 14 in layer 2: hashed parent 30 is "},
      {[](auto& p) { p.challenges[1].encoding.node = 3; },
       "partition 0, challenge 1, label of node 14 in layer 2 (encoding): its proof is of node 3, expected 14"},
      {[](auto& p) { p.challenges[0].labeling.pop_back(); }, "there are 1 labels in challenge 0, expected 2"},
  };
  for (const Damage& damage : cases) {
    PoRepPartition bad = c1_.partitions[0];
    damage.apply(bad);
    const Status status = Check(bad);
    ASSERT_FALSE(status.ok()) << damage.fact;
    EXPECT_TRUE(status.error().fact.starts_with(damage.fact)) << status.error().fact << "\n" << damage.fact;
  }
}

// A column that is consistent in itself but has wrong labels: rows, hash and path agree only if the tree was made so; here the label shows it.
TEST_F(PoRepCheck, LabelsAreRecomputed) {
  PoRepPartition bad = c1_.partitions[0];
  facts_.porep_id[9] ^= 1;  // another graph
  const Status status = Check(bad);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().fact.find("column of DRG parent"), std::string::npos) << status.error().fact;
}

// The full-size sector of the known answers, made again, and small ones of other shapes.
TEST(SparseSector, CommitmentsAreTheReferencesAndProofsPass) {
  const Json sparse = Line("sparse", "fil32g-sparse");
  const PoRepShape full = Shape("32GiB").porep;
  const SparseSector sector(full, {"fil32g-sparse", FrFromHex(sparse["prover_id"]), PoRepIdOf(sparse["porep_id_le"]), sparse["sector_id"]});
  EXPECT_EQ(sector.facts().seed, FrFromHex(sparse["seed"]));
  EXPECT_EQ(sector.replica_id(), FrFromHex(sparse["replica_id"]));
  EXPECT_EQ(sector.comm_d(), FrFromHex(sparse["comm_d"]));
  EXPECT_EQ(sector.comm_c(), FrFromHex(sparse["comm_c"]));
  EXPECT_EQ(sector.comm_r_last(), FrFromHex(sparse["comm_r_last"]));
  EXPECT_EQ(sector.comm_r(), FrFromHex(sparse["comm_r"]));
  const Status last = CheckPoRep(full, sector.Partition(9), 9, &sector.facts());
  EXPECT_TRUE(last.ok()) << last.ToString();
  EXPECT_FALSE(CheckPoRep(full, sector.Partition(9), 8, &sector.facts()).ok());

  for (const char* size : {"4KiB", "32KiB", "16MiB", "64GiB"}) {
    const PoRepShape shape = Shape(size).porep;
    for (SealingApi api : {SealingApi::kV1_0, SealingApi::kV1_1}) {
      const SparseSector other(shape, {"other", {}, PoRepIdOf(3), 9, api});
      const Status status = CheckPoRep(shape, other.Partition(0), 0, &other.facts());
      EXPECT_TRUE(status.ok()) << size << ": " << status.ToString();
    }
  }
}

TEST(PoStCheck, SealedSectorPassesAndDamageIsNamed) {
  PoStSector sector = *ReadFilecoinPoStProof(ReadData(kData + "fil2k-v1_1-a.window.vproof"), "vproof");
  const std::vector<uint64_t> leaves = Line("post", "fil2k-v1_1-a.window")["challenges"];
  const PoStShape shape = Shape("2KiB").window;
  EXPECT_TRUE(CheckPoSt(shape, sector, leaves).ok());
  std::vector<uint64_t> others = leaves;
  others[4] ^= 1;
  EXPECT_EQ(CheckPoSt(shape, sector, others).error().fact, "sector 77, challenge 4, path in TreeR: is of node 53, expected 52");
  sector.openings[9].path[1].siblings[2][0] ^= 1;
  EXPECT_TRUE(CheckPoSt(shape, sector, leaves).error().fact.starts_with("sector 77, challenge 9, path in TreeR: node 9 leads to "));
  sector.comm_c[0] ^= 1;
  EXPECT_TRUE(CheckPoSt(shape, sector, leaves).error().fact.starts_with("sector 77: comm_r is "));
}

TEST(UpdateCheck, SealedSectorPassesAndDamageIsNamed) {
  UpdatePartition partition = *ReadFilecoinUpdateProof(ReadData(kData + "upd2k.p0.vproof"), "vproof");
  const Json line = Line("update", "upd2k");
  partition.comm_r_old = FrFromHex(line["comm_r_old"]);
  partition.comm_r_new = FrFromHex(line["comm_r_new"]);
  partition.comm_d_new = FrFromHex(line["comm_d_new"]);
  partition.h_select = 1;
  const UpdateShape shape = *Shape("2KiB").update;
  EXPECT_TRUE(CheckUpdate(shape, partition).ok()) << CheckUpdate(shape, partition).ToString();
  const Json answer = Line("update_partition", "upd2k");
  EXPECT_EQ(UpdateChallenges(shape, partition.comm_r_new, 0), answer["challenges"].get<std::vector<uint64_t>>());
  std::vector<FrCanonical> inputs;
  for (const Json& hex : answer["public_inputs_le"]) inputs.push_back(FrFromHex(hex));
  EXPECT_EQ(UpdatePublicInputs(shape, partition), inputs);

  UpdatePartition bad = partition;
  bad.apex_leaves[3][0] ^= 1;
  EXPECT_NE(CheckUpdate(shape, bad).error().fact.find("apex leaf 3 is"), std::string::npos);
  bad = partition;
  bad.challenges[7].d_new.leaf[0] ^= 1;
  EXPECT_NE(CheckUpdate(shape, bad).error().fact.find("challenge 7, path in the new TreeD"), std::string::npos);
  bad = partition;
  bad.challenges[7].r_new.leaf[0] ^= 1;
  EXPECT_NE(CheckUpdate(shape, bad).error().fact.find("challenge 7, path in the new TreeR"), std::string::npos);
}

}  // namespace
}  // namespace proofline::filecoin
