// What the JSON readers refuse, with which words, and that damage never does worse than a refusal.
#include <functional>
#include <nlohmann/json.hpp>

#include "core/base/decimal.h"
#include "core/formats/curve_prime.h"
#include "core/formats/proof_json.h"
#include "core/formats/public_json.h"
#include "core/formats/vkey_json.h"
#include "tests/core/formats/forge.h"

namespace proofline {
namespace {

using namespace testing;
using Json = nlohmann::ordered_json;

Json SampleJson(CurveId curve, const std::string& file) { return Json::parse(Text(Sample(curve, file))); }

struct Refusal {
  const char* what;
  std::function<void(Json&, CurveId)> change;
  std::vector<std::string> words;
};

template <class Read>
void ExpectAllRefused(const std::vector<Refusal>& cases, const std::string& sample, Read read) {
  for (CurveId curve : kCurves) {
    for (const Refusal& c : cases) {
      Json root = SampleJson(curve, sample);
      c.change(root, curve);
      std::vector<std::string> words = c.words;
      words.push_back("F.json");
      ExpectRefused(read(root.dump(), curve), words, c.what);
    }
  }
}

Status ReadProof(const std::string& text, CurveId curve) { return ProofFromJson(text, "F.json", curve).status(); }
Status ReadPublic(const std::string& text, CurveId curve) { return PublicFromJson(text, "F.json", curve).status(); }
Status ReadKey(const std::string& text, CurveId) { return VerificationKeyFromJson(text, "F.json").status(); }

// Values that are no canonical decimal string.
const Json kNotDecimal[] = {Json(5), Json(nullptr), Json(""), Json("-1"), Json("+1"), Json(" 1"), Json("1 "), Json("0x1"), Json("1e3"),
                            Json("1.0"), Json("007"), Json("00"), Json("1n"), Json("\xd9\xa1"), Json(std::string("1\0", 2)),
                            Json(std::string(200, '9')), Json::array({"1"}), Json(true)};

TEST(JsonRefusal, Proof) {
  std::vector<Refusal> cases = {
      {"protocol", [](Json& j, CurveId) { j["protocol"] = "plonk"; }, {"protocol", "is \"plonk\"", "expected \"groth16\""}},
      {"protocol type", [](Json& j, CurveId) { j["protocol"] = 16; }, {"protocol", "is 16"}},
      {"unknown curve", [](Json& j, CurveId) { j["curve"] = "secp256k1"; }, {"curve", "is \"secp256k1\"", "expected \"bn128\""}},
      {"other curve",
       [](Json& j, CurveId c) { j["curve"] = CurveJsonName(c == CurveId::kBn254 ? CurveId::kBls12381 : CurveId::kBn254); },
       {"curve", "expected"}},
      {"no pi_b", [](Json& j, CurveId) { j.erase("pi_b"); }, {"\"pi_b\" is missing"}},
      {"pi_a a string", [](Json& j, CurveId) { j["pi_a"] = "1"; }, {"pi_a", "is \"1\"", "an array of 3"}},
      {"pi_a short", [](Json& j, CurveId) { j["pi_a"].erase(2); }, {"pi_a", "an array of 2", "expected an array of 3"}},
      {"pi_a long", [](Json& j, CurveId) { j["pi_a"].push_back("1"); }, {"pi_a", "an array of 4", "expected an array of 3"}},
      {"pi_b flat", [](Json& j, CurveId) { j["pi_b"] = j["pi_a"]; }, {"pi_b[0]", "expected an array of 2"}},
      {"z", [](Json& j, CurveId) { j["pi_c"][2] = "2"; }, {"pi_c[2]", "is \"2\"", "expected \"1\""}},
      {"half infinity", [](Json& j, CurveId) { j["pi_c"][2] = "0"; }, {"pi_c[2]", "is \"0\""}},
      {"z of G2", [](Json& j, CurveId) { j["pi_b"][2][1] = "1"; }, {"pi_b[2]", "expected [\"1\", \"0\"]"}},
      {"x = q", [](Json& j, CurveId c) { j["pi_a"][0] = ToDecimal(BaseFieldPrime(c)); }, {"pi_a[0]", "expected less than q, which is"}},
      {"y1 = q", [](Json& j, CurveId c) { j["pi_b"][1][1] = ToDecimal(BaseFieldPrime(c)); }, {"pi_b[1][1]", "expected less than q"}},
  };
  for (const Json& value : kNotDecimal)
    cases.push_back({"no decimal", [&value](Json& j, CurveId) { j["pi_b"][0][1] = value; }, {"pi_b[0][1]", "decimal string"}});
  ExpectAllRefused(cases, "multiplier.proof.json", ReadProof);
}

TEST(JsonRefusal, Public) {
  std::vector<Refusal> cases = {
      {"object", [](Json& j, CurveId) { j = Json::object(); }, {"an object", "expected an array"}},
      {"r", [](Json& j, CurveId c) { j[7] = ToDecimal(ScalarFieldPrime(c)); }, {"public signal 7", "expected less than r, which is"}},
      {"nested", [](Json& j, CurveId) { j[7] = Json::array({"1"}); }, {"public signal 7", "an array of 1", "decimal string"}},
  };
  for (const Json& value : kNotDecimal)
    cases.push_back({"no decimal", [&value](Json& j, CurveId) { j[41] = value; }, {"public signal 41", "decimal string"}});
  ExpectAllRefused(cases, "manypublic.public.json", ReadPublic);
}

TEST(JsonRefusal, VerificationKey) {
  std::vector<Refusal> cases = {
      {"protocol", [](Json& j, CurveId) { j["protocol"] = "fflonk"; }, {"protocol", "is \"fflonk\""}},
      {"no protocol", [](Json& j, CurveId) { j.erase("protocol"); }, {"\"protocol\" is missing"}},
      {"no curve", [](Json& j, CurveId) { j.erase("curve"); }, {"\"curve\" is missing"}},
      {"curve", [](Json& j, CurveId) { j["curve"] = "bls12377"; }, {"curve", "is \"bls12377\""}},
      {"nPublic", [](Json& j, CurveId) { j["nPublic"] = 2; }, {"nPublic", "is 2", "expected 1"}},
      {"nPublic negative", [](Json& j, CurveId) { j["nPublic"] = -1; }, {"nPublic", "is -1", "expected 1"}},
      {"nPublic text", [](Json& j, CurveId) { j["nPublic"] = "1"; }, {"nPublic", "is \"1\"", "expected 1"}},
      {"IC short", [](Json& j, CurveId) { j["IC"].erase(1); }, {"nPublic", "is 1", "expected 0"}},
      {"IC empty", [](Json& j, CurveId) { j["IC"] = Json::array(); }, {"IC", "an array of 0"}},
      {"IC object", [](Json& j, CurveId) { j["IC"] = Json::object(); }, {"IC", "an object"}},
      {"IC point", [](Json& j, CurveId c) { j["IC"][1][1] = ToDecimal(BaseFieldPrime(c)); }, {"IC[1][1]", "less than q"}},
      {"array", [](Json& j, CurveId) { j = Json::array(); }, {"an array of 0", "expected an object"}},
  };
  for (const char* name : {"vk_alpha_1", "vk_beta_2", "vk_gamma_2", "vk_delta_2", "IC"})
    cases.push_back({"missing", [name](Json& j, CurveId) { j.erase(name); }, {name, "missing"}});
  ExpectAllRefused(cases, "multiplier.vk.json", ReadKey);
}

TEST(JsonRefusal, WhatIsNotJson) {
  for (auto read : {ReadProof, ReadPublic, ReadKey}) {
    auto refused = [&](const std::string& text, std::vector<std::string> words) {
      words.push_back("F.json");
      ExpectRefused(read(text, CurveId::kBn254), words, text.substr(0, 40));
    };
    refused("", {"is empty"});
    refused("hello", {"expected json"});
    refused(Text(Sample(CurveId::kBn254, "multiplier.zkey")), {"is zkey", "expected json"});
    refused("{", {"no valid JSON"});
    refused("[1,]", {"no valid JSON"});
    refused("[\"\xff\"]", {"no valid JSON"});
    refused("[\"1\"] x", {"no valid JSON"});
    for (const char* after : {"", "[\"1\"]", "\n"})
      for (const char* before : {"[\"1\"]", "[\"1\"] \n", "{}", "[", "[\""}) refused(before + std::string(1, '\0') + after, {"no valid JSON", "is zero"});
    refused(std::string(60000, '['), {"nested", "at most 8"});
    refused("{\"a\":" + std::string(60000, '{'), {"nested", "at most 8"});
    refused("{\"pi_a\": 1, \"pi_a\": 1}", {"pi_a", "more than once"});
  }
  std::string large = "[\"" + std::string(kMaxProofJsonBytes, '1') + "\"]";
  ExpectRefused(ReadProof(large, CurveId::kBn254), {"F.json", "bytes", "at most 65536"}, "large");
}

TEST(JsonRefusal, WhatSnarkjsTakesIsTaken) {
  for (CurveId curve : kCurves) {
    Json proof = SampleJson(curve, "multiplier.proof.json");
    proof["note"] = "more members";
    proof.erase("curve");  // as rapidsnark writes it
    EXPECT_TRUE(ReadProof(proof.dump(4), curve).ok());
    EXPECT_FALSE(ProofFromJson(proof.dump(), "F.json", std::nullopt).ok());
    proof.erase("protocol");
    EXPECT_TRUE(ReadProof(proof.dump(), curve).ok());
    proof["curve"] = curve == CurveId::kBn254 ? "BN254" : "BLS12-381";
    EXPECT_TRUE(ReadProof(" \n" + proof.dump() + "\n", curve).ok());
    proof["pi_a"] = {"0", "1", "0"};
    auto infinity = ProofFromJson(proof.dump(), "F.json", curve);
    ASSERT_TRUE(infinity.ok());
    EXPECT_TRUE(infinity->a.infinity);
    EXPECT_EQ(Json::parse(ProofToJson(*infinity))["pi_a"], proof["pi_a"]);
    for (const char* none : {"[]", "[\n]", " [ ] "}) EXPECT_TRUE(ReadPublic(none, curve).ok());
    FrCanonical largest;
    std::copy_n(ScalarFieldPrime(curve).begin(), kFrBytes, largest.begin());
    largest[0] -= 1;
    EXPECT_TRUE(ReadPublic("[\"" + ToDecimal(largest) + "\", \"0\"]", curve).ok());
  }
}

TEST(JsonRefusal, KnownSecretTravelsWithTheKey) {
  auto vk = VerificationKeyFromJson(Text(Sample(CurveId::kBn254, "multiplier.vk.json")), "F.json");
  ASSERT_TRUE(vk.ok());
  std::string note;
  ASSERT_TRUE(VerificationKeyFromJson(VerificationKeyToJson(*vk, {}), "F.json", &note).ok());
  EXPECT_EQ(note, "");
  ASSERT_TRUE(VerificationKeyFromJson(VerificationKeyToJson(*vk, {}, "made from \"seed\"\n"), "F.json", &note).ok());
  EXPECT_EQ(note, "made from ?seed??");
}

TEST(JsonRefusal, UnsafeKeyIsSeen) {
  Json root = SampleJson(CurveId::kBn254, "multiplier.vk.json");
  root["vk_delta_2"] = root["vk_gamma_2"];
  auto vk = VerificationKeyFromJson(root.dump(), "F.json");
  ASSERT_TRUE(vk.ok());
  EXPECT_TRUE(IsUnsafe(*vk));
}

TEST(JsonRefusal, EveryCutAndChange) {
  for (CurveId curve : kCurves) {
    auto proof = [curve](const Bytes& b) { return ReadProof(Text(b), curve); };
    auto publics = [curve](const Bytes& b) { return ReadPublic(Text(b), curve); };
    auto key = [curve](const Bytes& b) { return ReadKey(Text(b), curve); };
    ExpectEveryCutRefused(Sample(curve, "multiplier.proof.json"), proof);
    ExpectEveryCutRefused(Sample(curve, "manypublic.public.json"), publics);
    ExpectEveryCutRefused(Sample(curve, "nopublic.vk.json"), key);
    ExpectEveryFlipHandled(Sample(curve, "multiplier.proof.json"), 2000, 11, proof);
    ExpectEveryFlipHandled(Sample(curve, "manypublic.public.json"), 2000, 12, publics);
    ExpectEveryFlipHandled(Sample(curve, "nopublic.vk.json"), 2000, 13, key);
  }
}

}  // namespace
}  // namespace proofline
