// Makes keys of Filecoin's circuits with the vectors' secret and proves with them; every byte is compared with the reference's.
#pragma once

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/circuits/filecoin/circuit_source.h"
#include "core/circuits/filecoin/witness.h"
#include "core/formats/params.h"
#include "core/formats/params_writer.h"
#include "core/formats/proof_bytes.h"
#include "core/groth16/backend.h"
#include "core/groth16/prepare.h"
#include "core/groth16/setup.h"
#include "tests/core/formats/vector_file.h"

namespace proofline::filecoin {

// A witness with all its values, as provers take it.
inline std::vector<FrCanonical> DenseOf(Result<Witness> witness) {
  EXPECT_TRUE(witness.ok()) << witness.status().ToString();
  if (!witness.ok()) return {};
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  const uint64_t size = CompactWitnessBytes(witness->values.count(), witness->values.wide().size());
  std::vector<Line> storage(size / sizeof(Line) + 1);
  const MutableByteSpan bytes(reinterpret_cast<uint8_t*>(storage.data()), size);
  WriteCompactWitness(std::move(witness->values), bytes);
  auto view = ReadCompactWitness(bytes);
  EXPECT_TRUE(view.ok());
  std::vector<FrCanonical> dense(view->count);
  view->Expand(0, {dense[0].data(), dense.size() * kFrBytes});
  return dense;
}

class KeyTest : public ::testing::Test {
 protected:
  KeyTest() : folder_(std::filesystem::temp_directory_path() / ("key_test." + std::to_string(getpid()))) { std::filesystem::create_directory(folder_); }
  ~KeyTest() override { std::filesystem::remove_all(folder_); }

  // Makes the key with the vectors' secret and compares both files' digests.
  void MakeKey(const std::string& name, const std::string& vector) {
    expected_ = FindVector("groth16.jsonl", "groth16", vector);
    ASSERT_FALSE(expected_.is_null());
    auto source = MakeCircuitSource(name);
    ASSERT_TRUE(source.ok()) << source.status().ToString();
    source_ = *std::move(source);
    auto writer = ParamsWriter::Create(folder_ / "k.params", folder_ / "k.vk", "");
    ASSERT_TRUE(writer.ok());
    Status made = GenerateParams(*source_, ToxicWasteOf(""), *writer);
    ASSERT_TRUE(made.ok()) << made.ToString();
    ASSERT_TRUE(writer->Finish().ok());
    auto file = MappedFile::Open(folder_ / "k.params");
    ASSERT_TRUE(file.ok());
    file_ = *std::move(file);
    EXPECT_EQ(file_.size_bytes(), expected_["params_bytes"].get<uint64_t>());
    EXPECT_EQ(DigestHex(Sha256Of(file_.bytes())), expected_["params_sha256"].get<std::string>());
    auto params = ReadParams(file_.bytes(), name);
    ASSERT_TRUE(params.ok()) << params.status().ToString();
    params_ = *params;
    EXPECT_EQ(DigestHex(Sha256Of(params_.vk.bytes)), expected_["vk_sha256"].get<std::string>());
    auto vk = MappedFile::Open(folder_ / "k.vk");
    ASSERT_TRUE(vk.ok());
    EXPECT_EQ(DigestHex(Sha256Of(vk->bytes())), expected_["vk_sha256"].get<std::string>());
  }

  // `witness`: inputs with the constant 1, then auxiliary values.
  void Prove(const std::vector<FrCanonical>& witness) {
    auto key = ParamsKey::Load(params_, "key", DensityOf(*source_), PointChecks::kOnCurve);
    ASSERT_TRUE(key.ok()) << key.status().ToString();
    const ByteSpan bytes(witness[0].data(), witness.size() * kFrBytes);
    std::vector<uint8_t> a(key->view().domain() * kFrBytes), b(a.size());
    ComputeSourceRows(*source_, bytes, a, b);
    const std::vector<FrCanonical> publics(witness.begin() + 1, witness.begin() + 1 + key->view().n_public);
    EXPECT_EQ(publics, FrsFromHex(expected_["inputs_le"]));
    const Backend& backend = GetBackend(CurveId::kBls12381);
    auto vk = DecodeVk(params_.vk, "key");
    ASSERT_TRUE(vk.ok());
    for (const char* which : {"proof_r_s", "proof_r0_s0"}) {
      Blinding blinding;
      if (std::string(which) == "proof_r_s") {
        blinding.r = FrFromHex(FindVector("groth16.jsonl", "scalar", "proof/r")["le_hex"]);
        blinding.s = FrFromHex(FindVector("groth16.jsonl", "scalar", "proof/s")["le_hex"]);
      }
      auto proof = backend.Prove(key->view(), bytes, a, b, blinding, {});
      ASSERT_TRUE(proof.ok()) << proof.status().ToString();
      EXPECT_EQ(ToHex(EncodeProof(*proof)), expected_[which].get<std::string>());
      EXPECT_TRUE(backend.Verify(*vk, publics, *proof).ok());
    }
  }

  // The same proof by four transforms.
  void ProvePrepared(const std::vector<FrCanonical>& witness) {
    auto key = ParamsKey::Load(params_, "key", DensityOf(*source_), PointChecks::kOnCurve);
    ASSERT_TRUE(key.ok());
    auto prepared = PreparedKey::Make(key->view(), *source_);
    ASSERT_TRUE(prepared.ok()) << prepared.status().ToString();
    const ByteSpan bytes(witness[0].data(), witness.size() * kFrBytes);
    std::vector<uint8_t> a(key->view().domain() * kFrBytes), b(a.size());
    ComputeSourceRows(*source_, bytes, a, b);
    auto proof = GetBackend(CurveId::kBls12381).Prove(prepared->view(), bytes, a, b, Blinding{}, {});
    ASSERT_TRUE(proof.ok());
    EXPECT_EQ(ToHex(EncodeProof(*proof)), expected_["proof_r0_s0"].get<std::string>());
    // The key of another circuit.
    auto other = MakeCircuitSource("silly-mul");
    EXPECT_EQ(PreparedKey::Make(key->view(), **other).status().code(), ErrorCode::kMismatch);
    EXPECT_EQ(PreparedKey::Make(prepared->view(), *source_).status().code(), ErrorCode::kUnsupported);
  }

  std::filesystem::path folder_;
  nlohmann::json expected_;
  std::unique_ptr<ConstraintSource> source_;
  MappedFile file_;
  ParamsFile params_;
};

}  // namespace proofline::filecoin
