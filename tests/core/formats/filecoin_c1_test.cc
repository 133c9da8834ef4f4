// C1 in its three forms, PoSt and update proofs: what is read, and what is refused with which words.
#include "core/formats/filecoin_c1.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

namespace proofline {
namespace {

using Json = nlohmann::json;

std::string ReadData(const std::string& name) {
  std::ifstream file(std::string(PROOFLINE_TEST_DATA) + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
ByteSpan Bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

const char* const kBinary = "fil2k-v1_1-a.c1.bincode";
const char* const kJson = "fil2k-v1_1-a.c1.json";

std::string Base64(std::string_view bytes) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) out += i + j > bytes.size() ? '=' : kAlphabet[group >> (18 - 6 * j) & 63];
  }
  return out;
}

void ExpectSamePath(const filecoin::MerkleProof& a, const filecoin::MerkleProof& b) {
  EXPECT_EQ(a.root, b.root);
  EXPECT_EQ(a.leaf, b.leaf);
  ASSERT_EQ(a.path.size(), b.path.size());
  for (size_t i = 0; i < a.path.size(); ++i) {
    EXPECT_EQ(a.path[i].index, b.path[i].index);
    EXPECT_EQ(a.path[i].siblings, b.path[i].siblings);
  }
}
void ExpectSameColumn(const filecoin::ColumnProof& a, const filecoin::ColumnProof& b) {
  EXPECT_EQ(a.node, b.node);
  EXPECT_EQ(a.rows, b.rows);
  ExpectSamePath(a.inclusion, b.inclusion);
}
void ExpectSame(const FilecoinC1& a, const FilecoinC1& b) {
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.ticket, b.ticket);
  ASSERT_EQ(a.partitions.size(), b.partitions.size());
  for (size_t i = 0; i < a.partitions.size(); ++i) {
    EXPECT_EQ(a.partitions[i].replica_id, b.partitions[i].replica_id);
    EXPECT_EQ(a.partitions[i].comm_d, b.partitions[i].comm_d);
    EXPECT_EQ(a.partitions[i].comm_r, b.partitions[i].comm_r);
    ASSERT_EQ(a.partitions[i].challenges.size(), b.partitions[i].challenges.size());
    for (size_t j = 0; j < a.partitions[i].challenges.size(); ++j) {
      const auto &x = a.partitions[i].challenges[j], &y = b.partitions[i].challenges[j];
      EXPECT_EQ(x.node, y.node);
      ExpectSamePath(x.comm_d, y.comm_d);
      ExpectSamePath(x.comm_r_last, y.comm_r_last);
      ExpectSameColumn(x.column, y.column);
      for (size_t k = 0; k < 6; ++k) ExpectSameColumn(x.drg_parents[k], y.drg_parents[k]);
      for (size_t k = 0; k < 8; ++k) ExpectSameColumn(x.expander_parents[k], y.expander_parents[k]);
      ASSERT_EQ(x.labeling.size(), y.labeling.size());
      for (size_t k = 0; k < x.labeling.size(); ++k) EXPECT_EQ(x.labeling[k].parents, y.labeling[k].parents);
      EXPECT_EQ(x.encoding.parents, y.encoding.parents);
    }
  }
}

TEST(FilecoinC1, ThreeFormsSayTheSame) {
  const std::string json = ReadData(kJson);
  Result<FilecoinC1> from_binary = ReadFilecoinC1(Bytes(ReadData(kBinary)), "binary");
  Result<FilecoinC1> from_json = ReadFilecoinC1(Bytes(json), "json");
  const std::string wrapper = "{\"SectorNum\": 77, \"Phase1Out\": \"" + Base64(json) + "\", \"SectorSize\": 2048}";
  Result<FilecoinC1> from_wrapper = ReadFilecoinC1(Bytes(wrapper), "wrapper");
  ASSERT_TRUE(from_binary.ok()) << from_binary.status().ToString();
  ASSERT_TRUE(from_json.ok()) << from_json.status().ToString();
  ASSERT_TRUE(from_wrapper.ok()) << from_wrapper.status().ToString();
  EXPECT_EQ(from_json->proof_kind, "StackedDrg2KiBV1");
  EXPECT_EQ(from_json->registered_proof, "StackedDrg2KiBV1_1");
  ASSERT_EQ(from_json->partitions.size(), 1u);
  EXPECT_EQ(from_json->partitions[0].challenges[0].node, 12u);
  ExpectSame(*from_binary, *from_json);
  ExpectSame(*from_wrapper, *from_json);
}

TEST(FilecoinC1, DamagedJsonIsRefusedByName) {
  struct Damage {
    std::function<void(Json&)> apply;
    std::string fact;
  };
  const std::string first = "f: vanilla_proofs.StackedDrg2KiBV1[0][0]";
  auto proof = [](Json& j) -> Json& { return j["vanilla_proofs"]["StackedDrg2KiBV1"][0][0]; };
  const Damage cases[] = {
      {[](Json& j) { j.erase("comm_r"); }, "f: \"comm_r\" is missing"},
      {[](Json& j) { j["comm_r"].push_back(0); }, "f: comm_r: is an array of 33, expected an array of 32 bytes"},
      {[](Json& j) { j["comm_d"][4] = 256; }, "f: comm_d[4]: is 256, expected a whole number up to 255"},
      {[](Json& j) { j["comm_d"][4] = -1; }, "f: comm_d[4]: is -1, expected a whole number up to 255"},
      {[](Json& j) { for (Json& byte : j["comm_d"]) byte = 255; }, "f: comm_d: is an array of 32, expected a value below the field's order"},
      {[](Json& j) { j["vanilla_proofs"] = Json::array(); }, "f: vanilla_proofs: is an array of 0, expected an object with one kind of proof"},
      {[](Json& j) { j["vanilla_proofs"]["StackedDrg2KiBV1"] = Json::array(); }, "f: has no partitions"},
      {[&](Json& j) { proof(j)["comm_d_proofs"]["data"] = {{"Double", 1}}; },
       first + ".comm_d_proofs.data.Double: is 1, expected an object"},
      {[&](Json& j) { proof(j)["comm_d_proofs"]["data"]["Single"]["path"]["path"][1]["index"] = 2; },
       first + ".comm_d_proofs.data.Single.path.path[1]: is an object, expected an index of at most 1"},
      {[&](Json& j) { proof(j)["replica_column_proofs"]["drg_parents"].erase(0); },
       first + ".replica_column_proofs.drg_parents: is an array of 5, expected an array of 6"},
      {[&](Json& j) { proof(j)["replica_column_proofs"]["exp_parents"][3]["column"]["rows"][0].erase(0); },
       first + ".replica_column_proofs.exp_parents[3].column.rows[0]: is an array of 31, expected an array of 32 bytes"},
      {[&](Json& j) { proof(j)["labeling_proofs"] = Json::array(); }, "f: partition 0, challenge 0 has no labels"},
  };
  const std::string good = ReadData(kJson);
  for (const Damage& damage : cases) {
    Json json = Json::parse(good);
    damage.apply(json);
    const std::string text = json.dump();
    const Result<FilecoinC1> result = ReadFilecoinC1(Bytes(text), "f");
    ASSERT_FALSE(result.ok()) << damage.fact;
    EXPECT_EQ(result.status().code(), ErrorCode::kInvalidFile);
    EXPECT_EQ(result.status().error().fact, damage.fact);
  }
}

TEST(FilecoinC1, CutAndForgedBinaryIsRefused) {
  const std::string good = ReadData(kBinary);
  for (size_t size : {size_t{0}, size_t{7}, size_t{8}, size_t{100}, good.size() / 2, good.size() - 1}) {
    const Result<FilecoinC1> result = ReadFilecoinC1(Bytes(std::string_view(good).substr(0, size)), "f");
    ASSERT_FALSE(result.ok()) << size;
    EXPECT_EQ(result.status().code(), ErrorCode::kInvalidFile) << size;
  }
  EXPECT_FALSE(ReadFilecoinC1(Bytes(good + "x"), "f").ok());
  // Lengths that promise more than there is are refused before anything is allocated for them.
  std::string forged = good;
  forged[4] = 1;
  EXPECT_EQ(ReadFilecoinC1(Bytes(forged), "f").status().error().fact,
            "f: partitions: has 4294967297 elements, more than the remaining 28240 bytes can hold");
}

TEST(FilecoinC1, WrapperWithoutBase64IsRefused) {
  for (std::string inner : {"\"@@@@\"", "\"QQ=\"", "\"QQ==QQ==\"", "12", "\"\""}) {
    const std::string wrapper = "{\"Phase1Out\": " + inner + "}";
    EXPECT_EQ(ReadFilecoinC1(Bytes(wrapper), "f").status().code(), ErrorCode::kInvalidFile) << inner;
  }
}

TEST(FilecoinVanilla, PoStAndUpdateAreReadToTheEnd) {
  const std::string post = ReadData("fil2k-v1_1-a.window.vproof"), update = ReadData("upd2k.p0.vproof");
  Result<filecoin::PoStSector> sector = ReadFilecoinPoStProof(Bytes(post), "f");
  ASSERT_TRUE(sector.ok()) << sector.status().ToString();
  EXPECT_EQ(sector->sector_id, 77u);
  EXPECT_EQ(sector->openings.size(), 10u);
  Result<filecoin::UpdatePartition> partition = ReadFilecoinUpdateProof(Bytes(update), "f");
  ASSERT_TRUE(partition.ok()) << partition.status().ToString();
  EXPECT_EQ(partition->apex_leaves.size(), 8u);
  EXPECT_EQ(partition->challenges.size(), 10u);
  for (size_t cut = 0; cut < post.size(); cut += 97)
    EXPECT_FALSE(ReadFilecoinPoStProof(Bytes(std::string_view(post).substr(0, cut)), "f").ok()) << cut;
  for (size_t cut = 0; cut < update.size(); cut += 97)
    EXPECT_FALSE(ReadFilecoinUpdateProof(Bytes(std::string_view(update).substr(0, cut)), "f").ok()) << cut;
}

}  // namespace
}  // namespace proofline
