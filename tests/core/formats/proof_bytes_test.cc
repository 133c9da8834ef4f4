// Proofs of others as bytes: those that verify, what every change of them comes to, and every refusal of the decoder.
#include "core/formats/proof_bytes.h"

#include <gtest/gtest.h>

#include "core/formats/params.h"
#include "core/groth16/backend.h"
#include "core/groth16/verify_batch.h"
#include "tests/core/formats/vector_file.h"

namespace proofline {
namespace {

struct Known {
  std::string name;
  VerificationKey vk;
  std::vector<FrCanonical> publics;
  std::vector<uint8_t> proof;
};

VerificationKey KeyFrom(ByteSpan bytes, const std::string& name) {
  auto file = ReadVk(bytes, name);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  auto vk = DecodeVk(*file, name);
  EXPECT_TRUE(vk.ok()) << vk.status().ToString();
  return *vk;
}

// Proofs made by the reference for keys of its own, and by other projects for theirs.
std::vector<Known> AllKnown() {
  std::vector<Known> out;
  for (const auto& line : ReadVectorLines("groth16.jsonl")) {
    if (!line.contains("groth16")) continue;
    const std::string name = line["groth16"];
    const VerificationKey vk = KeyFrom(ReadVector(name + ".vk"), name);
    for (const char* which : {"proof_r_s", "proof_r0_s0"})
      out.push_back({name + " " + which, vk, FrsFromHex(line["inputs_le"]), FromHex(line[which])});
  }
  for (const auto& line : ReadVectorLines("third-party.jsonl"))
    out.push_back({"third party " + line["kind"].get<std::string>(), KeyFrom(FromHex(line["vk"]), "vk"), FrsFromHex(line["public_inputs_le"]),
                   FromHex(line["proof"])});
  return out;
}

const std::vector<Known>& Vectors() {
  static const std::vector<Known> known = AllKnown();
  return known;
}

Status VerifyBytes(const Known& known, ByteSpan bytes) {
  PL_ASSIGN_OR_RETURN(std::vector<Proof> proofs, DecodeProofs(bytes, "proof.bin"));
  return GetBackend(CurveId::kBls12381).Verify(known.vk, known.publics, proofs[0]);
}

TEST(ProofBytes, KnownProofsVerifyAndAreWrittenBack) {
  ASSERT_EQ(Vectors().size(), 10u);
  for (const Known& known : Vectors()) {
    SCOPED_TRACE(known.name);
    Status status = VerifyBytes(known, known.proof);
    EXPECT_TRUE(status.ok()) << status.ToString();
    auto proofs = DecodeProofs(known.proof, "proof.bin");
    ASSERT_TRUE(proofs.ok());
    const auto again = EncodeProof(proofs->front());
    EXPECT_EQ(ToHex(again), ToHex(known.proof));
  }
}

TEST(ProofBytes, NoChangedProofVerifies) {
  for (const Known& known : {Vectors()[0], Vectors()[2], Vectors()[8], Vectors()[9]}) {
    SCOPED_TRACE(known.name);
    for (size_t bit = 0; bit < 8 * kProofBytes; bit += bit % 384 < 8 ? 1 : 37) {
      std::vector<uint8_t> bytes = known.proof;
      bytes[bit / 8] ^= static_cast<uint8_t>(0x80 >> (bit % 8));
      Status status = VerifyBytes(known, bytes);
      EXPECT_FALSE(status.ok()) << "bit " << bit;
      EXPECT_EQ(ExitCodeFor(status.code()), 1) << status.ToString();
    }
  }
}

TEST(ProofBytes, NoOtherInputsVerify) {
  for (const Known& known : {Vectors()[0], Vectors()[4], Vectors()[8]}) {
    SCOPED_TRACE(known.name);
    const auto proof = DecodeProofs(known.proof, "proof.bin");
    const Backend& backend = GetBackend(CurveId::kBls12381);
    auto publics = known.publics;
    publics.back()[0] ^= 1;
    EXPECT_EQ(backend.Verify(known.vk, publics, proof->front()).code(), ErrorCode::kInvalidProof);
    publics = known.publics;
    publics.push_back({});
    EXPECT_EQ(backend.Verify(known.vk, publics, proof->front()).code(), ErrorCode::kMismatch);
    publics = known.publics;
    publics[0].fill(0xff);
    EXPECT_EQ(backend.Verify(known.vk, publics, proof->front()).code(), ErrorCode::kInvalidFile);
  }
}

TEST(ProofBytes, BatchesAcceptWhatTheirProofsDo) {
  const Known& known = Vectors()[4];
  const Known& other_proof = Vectors()[5];
  ASSERT_EQ(known.publics, other_proof.publics);
  const Proof first = DecodeProofs(known.proof, "a")->front(), second = DecodeProofs(other_proof.proof, "b")->front();
  std::vector<ProofClaim> claims(1, ProofClaim{first, known.publics});
  for (int i = 0; i < 2; ++i) {
    claims.push_back({second, known.publics});
    Status status = VerifyBatch(known.vk, claims);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  EXPECT_TRUE(VerifyBatch(known.vk, std::span(claims).first(1)).ok());
  EXPECT_EQ(VerifyBatch(known.vk, {}).code(), ErrorCode::kInvalidArgument);
}

TEST(ProofBytes, BatchesNameTheProofAtFault) {
  const Known& known = Vectors()[4];
  const Proof good = DecodeProofs(known.proof, "a")->front();
  Proof mixed = good;
  mixed.c = DecodeProofs(Vectors()[5].proof, "b")->front().c;
  auto publics = known.publics;
  publics[3][0] ^= 1;
  // Two wrong proofs whose errors would cancel out with equal coefficients.
  Proof plus = good, minus = good;
  std::swap(plus.a, minus.c);
  struct Case {
    Proof proof;
    std::vector<FrCanonical> publics;
    ErrorCode code;
  };
  auto too_many = known.publics;
  too_many.push_back({});
  for (const Case& c : {Case{mixed, known.publics, ErrorCode::kInvalidProof}, Case{good, publics, ErrorCode::kInvalidProof},
                        Case{good, too_many, ErrorCode::kMismatch}, Case{plus, known.publics, ErrorCode::kInvalidProof}}) {
    const ProofClaim claims[] = {{good, known.publics}, {good, known.publics}, {c.proof, c.publics}, {good, known.publics}};
    Status status = VerifyBatch(known.vk, claims);
    EXPECT_EQ(status.code(), c.code);
    EXPECT_NE(status.ToString().find("proof 2 of 4"), std::string::npos) << status.ToString();
  }
}

TEST(ProofBytes, SeveralPartitionsAndTheLengthOfBincode) {
  const auto& one = Vectors()[0].proof;
  const auto& two = Vectors()[2].proof;
  std::vector<uint8_t> both = one;
  both.insert(both.end(), two.begin(), two.end());
  auto proofs = DecodeProofs(both, "proof.bin");
  ASSERT_TRUE(proofs.ok());
  ASSERT_EQ(proofs->size(), 2u);
  EXPECT_EQ(ToHex(EncodeProof((*proofs)[1])), ToHex(two));
  std::vector<uint8_t> with_length = {192, 0, 0, 0, 0, 0, 0, 0};
  with_length.insert(with_length.end(), one.begin(), one.end());
  EXPECT_TRUE(DecodeProofs(with_length, "proof.bin").ok());
  EXPECT_TRUE(LooksLikeProofBytes(with_length) && LooksLikeProofBytes(both));
  ++with_length[0];
  EXPECT_FALSE(DecodeProofs(with_length, "proof.bin").ok());
  EXPECT_FALSE(LooksLikeProofBytes(with_length));
}

void ExpectRefused(ByteSpan bytes, const std::string& words) {
  auto proofs = DecodeProofs(bytes, "p.bin");
  ASSERT_FALSE(proofs.ok()) << words;
  EXPECT_NE(proofs.status().ToString().find(words), std::string::npos) << proofs.status().ToString();
  EXPECT_NE(proofs.status().ToString().find("p.bin"), std::string::npos) << proofs.status().ToString();
  EXPECT_EQ(ExitCodeFor(proofs.status().code()), 1);
}

TEST(ProofBytes, EveryOtherSpellingIsRefused) {
  const auto& good = Vectors()[0].proof;
  ExpectRefused({}, "has 0 bytes");
  for (size_t size : {1, 8, 48, 191, 193, 200}) {
    std::vector<uint8_t> bytes = good;
    bytes.resize(size);
    ExpectRefused(bytes, "expected 192 for each partition");
  }
  const char* names[] = {"A", "B", "C"};
  const size_t ats[] = {0, 48, 144}, sizes[] = {48, 96, 48};
  for (int i = 0; i < 3; ++i) {
    const std::string where = "proof 0 of 1: " + std::string(names[i]) + " ";
    auto changed = [&](auto change) {
      std::vector<uint8_t> bytes = good;
      change(bytes.data() + ats[i], sizes[i]);
      return bytes;
    };
    ExpectRefused(changed([](uint8_t* p, size_t) { p[0] &= 0x7f; }), where + "has flags");
    ExpectRefused(changed([](uint8_t* p, size_t) { p[0] |= 0x40; }), where + "has flags");
    ExpectRefused(changed([](uint8_t* p, size_t n) { std::fill_n(p, n, 0), p[0] = 0xc0; }), where + "is the point at infinity");
    ExpectRefused(changed([](uint8_t* p, size_t n) { std::fill_n(p, n, 0), p[0] = 0xe0; }), where + "has flags");
    ExpectRefused(changed([](uint8_t* p, size_t n) { std::fill_n(p, n, 0), p[0] = 0xc0, p[n - 1] = 1; }), where + "has flags");
    // q itself, which is 0 in the field.
    ExpectRefused(changed([](uint8_t* p, size_t) {
                    const auto q = FromHex("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab");
                    std::copy(q.begin(), q.end(), p);
                    p[0] |= 0x80;
                  }),
                  where + "has a coordinate that is not below");
  }
  // x = 0 is on the curve (y = 2) but in a small subgroup; x = 1 is not on it (5 is no square).
  std::vector<uint8_t> bytes = good;
  std::fill_n(bytes.data(), 48, 0);
  bytes[0] = 0x80;
  ExpectRefused(bytes, "A is on the curve but not in the subgroup");
  bytes[47] = 1;
  ExpectRefused(bytes, "A is not on the curve");
}

TEST(ProofBytes, TheLargerFlagChoosesTheRoot) {
  const auto& good = Vectors()[0].proof;
  for (size_t at : {0, 48, 144}) {
    std::vector<uint8_t> bytes = good;
    bytes[at] ^= 0x20;
    auto proof = DecodeProofs(bytes, "p");
    ASSERT_TRUE(proof.ok());
    EXPECT_EQ(ToHex(EncodeProof(proof->front())), ToHex(bytes));
    EXPECT_FALSE(VerifyBytes(Vectors()[0], bytes).ok());
  }
}

}  // namespace
}  // namespace proofline
