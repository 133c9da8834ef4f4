// proof.json, public.json, verification_key.json and call data against snarkjs's own files.
#include <nlohmann/json.hpp>

#include "core/base/decimal.h"
#include "core/formats/proof_json.h"
#include "core/formats/public_json.h"
#include "core/formats/solidity_calldata.h"
#include "core/formats/vkey_json.h"
#include "tests/core/formats/sample.h"

namespace proofline {
namespace {

using testing::kCircuits;
using testing::kCurves;
using testing::Sample;
using testing::Text;

std::string SampleText(CurveId curve, const std::string& file) { return Text(Sample(curve, file)); }

Proof SampleProof(CurveId curve, const std::string& circuit) {
  auto proof = ProofFromJson(SampleText(curve, circuit + ".proof.json"), "p", curve);
  EXPECT_TRUE(proof.ok());
  return *proof;
}

TEST(Json, SnarkjsFilesComeBackByteForByte) {
  for (CurveId curve : kCurves) {
    for (std::string circuit : kCircuits) {
      std::string text = SampleText(curve, circuit + ".proof.json");
      auto proof = ProofFromJson(text, "proof.json", std::nullopt);
      ASSERT_TRUE(proof.ok()) << proof.status().ToString();
      EXPECT_EQ(proof->curve, curve);
      EXPECT_EQ(ProofToJson(*proof), text);

      text = SampleText(curve, circuit + ".public.json");
      auto publics = PublicFromJson(text, "public.json", curve);
      ASSERT_TRUE(publics.ok()) << publics.status().ToString();
      EXPECT_EQ(PublicToJson(*publics), text);

      text = SampleText(curve, circuit + ".vk.json");
      auto vk = VerificationKeyFromJson(text, "vk.json");
      ASSERT_TRUE(vk.ok()) << vk.status().ToString();
      EXPECT_EQ(vk->n_public(), publics->size());
      EXPECT_FALSE(IsUnsafe(*vk));
      AlphaBetaValues alpha_beta{};
      auto root = nlohmann::json::parse(text);
      for (size_t i = 0; i < 12; ++i)
        ASSERT_TRUE(ParseDecimal(root["vk_alphabeta_12"][i / 6][i / 2 % 3][i % 2].get<std::string>(), alpha_beta[i]));
      EXPECT_EQ(VerificationKeyToJson(*vk, alpha_beta), text);
    }
  }
}

TEST(Json, CalldataIsSnarkjss) {
  for (CurveId curve : kCurves) {
    for (std::string circuit : kCircuits) {
      auto publics = PublicFromJson(SampleText(curve, circuit + ".public.json"), "public.json", curve);
      ASSERT_TRUE(publics.ok());
      std::string expected =
          Text(testing::ReadAll(testing::DataPath("snarkjs/" + circuit + "." + std::string(CurveJsonName(curve)) + ".calldata.txt")));
      EXPECT_EQ(SolidityCalldata(SampleProof(curve, circuit), *publics) + "\n", expected);
    }
  }
}

}  // namespace
}  // namespace proofline
