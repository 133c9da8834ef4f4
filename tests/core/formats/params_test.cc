// .params and .vk: a key made again byte for byte, the reference's proofs with it, and every refusal.
#include "core/formats/params.h"

#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "core/base/digest.h"
#include "core/circuits/builder.h"
#include "core/formats/params_writer.h"
#include "core/formats/proof_bytes.h"
#include "core/groth16/backend.h"
#include "core/groth16/setup.h"
#include "tests/core/formats/vector_file.h"

namespace proofline {
namespace {

using Bytes = std::vector<uint8_t>;
namespace fs = std::filesystem;

FrCanonical Scalar(const std::string& name) { return FrFromHex(FindVector("groth16.jsonl", "scalar", name)["le_hex"]); }

ToxicWaste KnownWaste() {
  return {Scalar("toxic/alpha"), Scalar("toxic/beta"), Scalar("toxic/gamma"), Scalar("toxic/delta"), Scalar("toxic/tau")};
}

// 3 * 5 = 15 with 15 public.
Circuit SillyMul() {
  using Builder = CircuitBuilder<Bls12381FrModulus>;
  Builder b(CurveId::kBls12381);
  Wire c = b.AddPublicInput(Builder::Fr::FromU64(15));
  Wire x = b.AddPrivateInput(Builder::Fr::FromU64(3)), y = b.AddPrivateInput(Builder::Fr::FromU64(5));
  b.Constrain(b.Linear(x), b.Linear(y), b.Linear(c));
  return std::move(b).Finish();
}

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(fs::temp_directory_path() / ("params_test." + std::to_string(getpid()))) { fs::create_directory(path_); }
  ~TemporaryFolder() { fs::remove_all(path_); }
  std::string File(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

Bytes ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Params, ToxicWasteOfTheEmptySeedIsTheVectors) {
  const ToxicWaste made = ToxicWasteOf(""), known = KnownWaste();
  EXPECT_EQ(made.alpha, known.alpha);
  EXPECT_EQ(made.beta, known.beta);
  EXPECT_EQ(made.gamma, known.gamma);
  EXPECT_EQ(made.delta, known.delta);
  EXPECT_EQ(made.tau, known.tau);
}

TEST(Params, TheSmallKeyIsMadeByteForByte) {
  TemporaryFolder folder;
  const Circuit circuit = SillyMul();
  const R1csView view = circuit.view();
  auto writer = ParamsWriter::Create(folder.File("k.params"), folder.File("k.vk"), "made in a test");
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(GenerateParams(R1csSource(view), KnownWaste(), *writer).ok());
  EXPECT_FALSE(fs::exists(folder.File("k.params")));
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(ToHex(ReadAll(folder.File("k.params"))), ToHex(ReadVector("silly-mul.params")));
  EXPECT_EQ(ToHex(ReadAll(folder.File("k.vk"))), ToHex(ReadVector("silly-mul.vk")));
  EXPECT_EQ(ReadParamsNote(folder.File("k.params")), "made in a test");
  EXPECT_EQ(ReadParamsNote(folder.File("k.vk")), "made in a test");
  EXPECT_EQ(ReadParamsNote(folder.File("other")), std::nullopt);
}

TEST(Params, FixedBlindingGivesTheReferencesBytes) {
  const Bytes file = ReadVector("silly-mul.params");
  auto params = ReadParams(file, "K.params");
  ASSERT_TRUE(params.ok()) << params.status().ToString();
  const Circuit circuit = SillyMul();
  const R1csView r1cs = circuit.view();
  const R1csSource source(r1cs);
  auto key = ParamsKey::Load(*params, "K.params", DensityOf(source), PointChecks::kSubgroup);
  ASSERT_TRUE(key.ok()) << key.status().ToString();
  const auto expected = FindVector("groth16.jsonl", "groth16", "silly-mul");
  for (ArithPath path : {ArithPath::kPortable, ArithPath::kAuto}) {
    const Backend& backend = GetBackend(CurveId::kBls12381, path);
    Bytes a(key->view().domain() * kFrBytes), b(a.size());
    ComputeSourceRows(source, circuit.witness(), a, b);
    for (bool zero : {false, true}) {
      Blinding blinding;
      if (!zero) blinding.r = Scalar("proof/r"), blinding.s = Scalar("proof/s");
      auto proof = backend.Prove(key->view(), circuit.witness(), a, b, blinding, {});
      ASSERT_TRUE(proof.ok()) << proof.status().ToString();
      EXPECT_EQ(ToHex(EncodeProof(*proof)), expected[zero ? "proof_r0_s0" : "proof_r_s"].get<std::string>());
    }
  }
}

TEST(Params, TheKeyHoldsItsVerificationKey) {
  const Bytes file = ReadVector("silly-mul.params"), vk_bytes = ReadVector("silly-mul.vk");
  auto params = ReadParams(file, "K.params");
  ASSERT_TRUE(params.ok());
  EXPECT_EQ(ToHex(params->vk.bytes), ToHex(vk_bytes));
  auto vk_file = ReadVk(vk_bytes, "K.vk");
  ASSERT_TRUE(vk_file.ok());
  auto vk = DecodeVk(*vk_file, "K.vk"), inside = DecodeVk(params->vk, "K.params");
  ASSERT_TRUE(vk.ok() && inside.ok());
  EXPECT_EQ(vk->ic, inside->ic);
  EXPECT_EQ(vk->n_public(), 1u);
  const Circuit circuit = SillyMul();
  const R1csView r1cs = circuit.view();
  auto key = ParamsKey::Load(*params, "K.params", DensityOf(R1csSource(r1cs)), PointChecks::kForm);
  ASSERT_TRUE(key.ok());
  auto extracted = GetBackend(CurveId::kBls12381).ExtractVerificationKey(key->view());
  ASSERT_TRUE(extracted.ok());
  EXPECT_EQ(extracted->ic, vk->ic);
  EXPECT_EQ(extracted->alpha1, vk->alpha1);
  EXPECT_EQ(extracted->beta2, vk->beta2);
  EXPECT_EQ(extracted->gamma2, vk->gamma2);
  EXPECT_EQ(extracted->delta2, vk->delta2);
  EXPECT_TRUE(GetBackend(CurveId::kBls12381).CheckVerificationKey(*vk).ok());
}

// Where the parts of silly-mul.params begin.
constexpr size_t kIcCount = 864, kHCount = 868 + 2 * 96, kLCount = kHCount + 4 + 3 * 96, kACount = kLCount + 4 + 2 * 96,
                 kB1Count = kACount + 4 + 3 * 96, kB2Count = kB1Count + 4 + 96, kEnd = kB2Count + 4 + 192;

void ExpectParamsRefused(const Bytes& file, const std::string& words, ErrorCode code = ErrorCode::kInvalidFile) {
  auto params = ReadParams(file, "K.params");
  ASSERT_FALSE(params.ok()) << words;
  EXPECT_EQ(params.status().code(), code);
  EXPECT_NE(params.status().ToString().find(words), std::string::npos) << params.status().ToString();
  EXPECT_EQ(params.status().error().fact.rfind("K.params: ", 0), 0u);
}

TEST(Params, CountsMustAccountForEveryByte) {
  const Bytes good = ReadVector("silly-mul.params");
  ASSERT_EQ(good.size(), kEnd);
  for (size_t size = 0; size < kEnd; ++size) {
    Bytes cut(good.begin(), good.begin() + size);
    auto params = ReadParams(cut, "K.params");
    ASSERT_FALSE(params.ok()) << size;
    EXPECT_NE(params.status().ToString().find("left in the file"), std::string::npos) << params.status().ToString();
  }
  Bytes longer = good;
  longer.push_back(0);
  ExpectParamsRefused(longer, "end: 1 bytes found after the last point");
  for (size_t at : {kIcCount, kHCount, kLCount, kACount, kB1Count, kB2Count})
    for (uint32_t count : {0u, 1u, 2u, 4u, 5u, 0x7fffffffu, 0xffffffffu}) {
      Bytes bytes = good;
      const uint32_t big = __builtin_bswap32(count);
      if (LoadLe<uint32_t>(&bytes[at]) == big) continue;
      StoreLe(&bytes[at], big);
      EXPECT_FALSE(ReadParams(bytes, "K.params").ok()) << at << " " << count;
    }
}

// A file with these counts and zeros for points.
Bytes WithCounts(uint32_t ic, uint32_t h, uint32_t l, uint32_t a, uint32_t b1, uint32_t b2) {
  Bytes out(864);
  auto add = [&](uint32_t count, size_t size) {
    const uint32_t big = __builtin_bswap32(count);
    out.insert(out.end(), reinterpret_cast<const uint8_t*>(&big), reinterpret_cast<const uint8_t*>(&big) + 4);
    out.resize(out.size() + count * size);
  };
  add(ic, 96), add(h, 96), add(l, 96), add(a, 96), add(b1, 96), add(b2, 192);
  return out;
}

TEST(Params, CountsMustAgree) {
  ASSERT_TRUE(ReadParams(WithCounts(2, 3, 2, 3, 1, 1), "K.params").ok());
  ASSERT_TRUE(ReadParams(WithCounts(1, 1, 0, 1, 0, 0), "K.params").ok());
  ASSERT_TRUE(ReadParams(WithCounts(2, 3, 2, 4, 4, 4), "K.params").ok());
  ExpectParamsRefused(WithCounts(0, 3, 2, 3, 1, 1), "vk ic: has no points");
  ExpectParamsRefused(WithCounts(2, 0, 2, 3, 1, 1), "h: has 0 points");
  ExpectParamsRefused(WithCounts(2, 4, 2, 3, 1, 1), "h: has 4 points, expected one less than a power of two");
  ExpectParamsRefused(WithCounts(5, 3, 2, 5, 1, 1), "h: is for a domain of 4, too small for the 5 inputs");
  ExpectParamsRefused(WithCounts(2, 3, 2, 1, 1, 1), "a: has 1 points, expected from 2 (the inputs) to 4");
  ExpectParamsRefused(WithCounts(2, 3, 2, 5, 1, 1), "a: has 5 points");
  ExpectParamsRefused(WithCounts(2, 3, 2, 3, 5, 5), "b_g1: has 5 points, expected at most 4");
  ExpectParamsRefused(WithCounts(2, 3, 2, 3, 1, 2), "b_g2: has 2 points, expected 1, as many as b_g1");
}

Status CheckAll(const Bytes& file, PointChecks checks) {
  PL_ASSIGN_OR_RETURN(ParamsFile params, ReadParams(file, "K.params"));
  return CheckParamsPoints(params, "K.params", checks, {});
}

TEST(Params, PointsAreCheckedAndNamed) {
  const Bytes good = ReadVector("silly-mul.params");
  for (PointChecks checks : {PointChecks::kForm, PointChecks::kOnCurve, PointChecks::kSubgroup}) ASSERT_TRUE(CheckAll(good, checks).ok());
  struct Point {
    const char* words;
    size_t at;
    size_t bytes;
  };
  for (const Point& p : {Point{"vk alpha_g1: point 0 of 1", 0, 96}, Point{"vk beta_g2: point 0 of 1", 192, 192}, Point{"vk delta_g2: point 0 of 1", 672, 192},
                         Point{"vk ic: point 1 of 2", kIcCount + 4 + 96, 96}, Point{"h: point 2 of 3", kHCount + 4 + 192, 96},
                         Point{"l: point 0 of 2", kLCount + 4, 96}, Point{"a: point 1 of 3", kACount + 4 + 96, 96},
                         Point{"b_g1: point 0 of 1", kB1Count + 4, 96}, Point{"b_g2: point 0 of 1", kB2Count + 4, 192}}) {
    auto expect = [&](PointChecks checks, const std::string& words, auto change) {
      Bytes bytes = good;
      change(bytes.data() + p.at);
      Status status = CheckAll(bytes, checks);
      EXPECT_EQ(status.code(), ErrorCode::kInvalidFile) << p.words << " " << words;
      EXPECT_NE(status.ToString().find(std::string("K.params: ") + p.words + " " + words), std::string::npos) << status.ToString();
    };
    for (uint8_t flag : {0x80, 0x20, 0xa0}) expect(PointChecks::kForm, "has flags", [&](uint8_t* b) { b[0] |= flag; });
    expect(PointChecks::kForm, "has flags", [&](uint8_t* b) { b[0] |= 0x40; });
    expect(PointChecks::kForm, "is the point at infinity", [&](uint8_t* b) { std::fill_n(b, p.bytes, 0), b[0] = 0x40; });
    expect(PointChecks::kForm, "is not on the curve", [&](uint8_t* b) { std::fill_n(b, p.bytes, 0); });
    expect(PointChecks::kForm, "has a coordinate", [&](uint8_t* b) { std::fill_n(b, 48, 0xff), b[0] = 0x1f; });
    expect(PointChecks::kForm, "has a coordinate", [&](uint8_t* b) { std::fill_n(b + p.bytes - 48, 48, 0xff); });
    expect(PointChecks::kOnCurve, "is not on the curve", [&](uint8_t* b) { b[p.bytes - 1] ^= 1; });
    if (p.bytes == 96) {  // (0, 2)
      expect(PointChecks::kSubgroup, "is on the curve but not in the subgroup", [&](uint8_t* b) { std::fill_n(b, 96, 0), b[95] = 2; });
    }
  }
}

TEST(Params, NoChangedBitGetsThrough) {
  const Bytes good = ReadVector("silly-mul.params");
  for (size_t bit = 0; bit < 8 * good.size(); bit += 29) {
    Bytes bytes = good;
    bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(CheckAll(bytes, PointChecks::kOnCurve).ok()) << bit;
  }
}

TEST(Params, AnotherCircuitIsNamed) {
  const Bytes file = ReadVector("silly-mul.params");
  auto params = ReadParams(file, "K.params");
  ASSERT_TRUE(params.ok());
  auto expect = [&](const QueryDensity& density, const std::string& words) {
    auto key = ParamsKey::Load(*params, "K.params", density, PointChecks::kForm);
    ASSERT_FALSE(key.ok());
    EXPECT_EQ(key.status().code(), ErrorCode::kMismatch);
    EXPECT_NE(key.status().ToString().find(words), std::string::npos) << key.status().ToString();
  };
  const Circuit circuit = SillyMul();
  const R1csView r1cs = circuit.view();
  QueryDensity density = DensityOf(R1csSource(r1cs));
  ASSERT_EQ(density.a.Count(), 3u);
  ASSERT_EQ(density.b.Count(), 1u);
  expect({VariableSet(5), VariableSet(5)}, "is a key for 4 variables, the circuit has 5");
  density.b.Add(0);
  expect(density, "b_g1: has 1 points, the circuit has 2 variables in it");
  density.a.Add(3);
  expect(density, "a: has 3 points, the circuit has 4 variables in it");
}

TEST(Vk, BothFormsAndTheirRefusals) {
  const Bytes good = ReadVector("window-2KiB.fil2k-v1_1-a.vk");
  const Bytes compressed = FromHex(FindVector("third-party.jsonl", "kind", "window")["vk"]);
  for (const Bytes& bytes : {good, compressed}) {
    auto file = ReadVk(bytes, "K.vk");
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_EQ(file->n_public(), 22u);
    auto vk = DecodeVk(*file, "K.vk");
    ASSERT_TRUE(vk.ok()) << vk.status().ToString();
    for (size_t size : {size_t{0}, size_t{1}, size_t{431}, size_t{435}, bytes.size() - 1}) {
      auto cut = ReadVk(ByteSpan(bytes).first(size), "K.vk");
      EXPECT_EQ(cut.status().code(), ErrorCode::kInvalidFile) << size;
    }
    Bytes longer = bytes;
    longer.push_back(0);
    EXPECT_FALSE(ReadVk(longer, "K.vk").ok());
    for (size_t at = 0; at < bytes.size(); at += bytes.size() / 13) {
      Bytes changed = bytes;
      changed[at] ^= 0x81;
      auto read = ReadVk(changed, "K.vk");
      if (!read.ok()) continue;
      auto decoded = DecodeVk(*read, "K.vk");
      if (!decoded.ok()) continue;
      EXPECT_FALSE(GetBackend(CurveId::kBls12381).CheckVerificationKey(*decoded).ok()) << at;
    }
  }
  // The points of both forms are the same points.
  auto file = ReadVk(good, "K.vk");
  auto vk = DecodeVk(*file, "K.vk");
  for (const G1Point& p : vk->ic) {
    uint8_t bytes[48];
    EncodePoint(p, PointForm::kCompressed, bytes);
    G1Point again;
    ASSERT_EQ(static_cast<int>(DecodePoint(bytes, PointForm::kCompressed, &again)), 0);
    EXPECT_EQ(again, p);
  }
  for (const G2Point& p : {vk->beta2, vk->gamma2, vk->delta2}) {
    uint8_t bytes[96];
    EncodePoint(p, PointForm::kCompressed, bytes);
    G2Point again;
    ASSERT_EQ(static_cast<int>(DecodePoint(bytes, PointForm::kCompressed, &again)), 0);
    EXPECT_EQ(again, p);
  }
}

}  // namespace
}  // namespace proofline
