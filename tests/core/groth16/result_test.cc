// The bytes of a proved partition against ones that were put together by a script from snarkjs's files.
#include "core/groth16/result.h"

#include "core/formats/proof_json.h"
#include "core/formats/public_json.h"
#include "tests/core/formats/forge.h"

namespace proofline {
namespace {

using namespace testing;

Bytes Known(CurveId curve) { return ReadAll(DataPath("result/manypublic." + std::string(CurveJsonName(curve)) + ".bin")); }

TEST(Result, KnownBytes) {
  for (CurveId curve : kCurves) {
    Bytes known = Known(curve);
    auto proof = ProofFromJson(Text(Sample(curve, "manypublic.proof.json")), "p", curve);
    auto publics = PublicFromJson(Text(Sample(curve, "manypublic.public.json")), "p", curve);
    ASSERT_TRUE(proof.ok() && publics.ok());
    Bytes ours(ResultBytes(static_cast<uint32_t>(publics->size())));
    EncodeResult({*proof, *publics}, ours);
    EXPECT_EQ(ours, known);
    auto decoded = DecodeResult(known);
    ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
    EXPECT_EQ(decoded->proof, *proof);
    EXPECT_EQ(decoded->publics, *publics);
  }
}

TEST(Result, DamageIsRefused) {
  auto read = [](const Bytes& bytes) { return DecodeResult(bytes).status(); };
  for (CurveId curve : kCurves) {
    const Bytes known = Known(curve);
    ExpectEveryCutRefused(known, read);
    ExpectEveryFlipHandled(known, 2000, 31, read);
    auto refused = [&](size_t at, uint32_t value, const char* word) {
      Bytes changed = known;
      Put(changed, at, value);
      ExpectRefused(read(changed), {word}, word);
    };
    refused(0, 0, "magic");
    refused(4, 0, "curve is 0");
    refused(4, 3, "curve is 3");
    refused(8, 41, "bytes, expected");
    refused(8, 0xffffffff, "bytes, expected");
    refused(12, 1, "reserved");
    Bytes longer = known;
    longer.push_back(0);
    ExpectRefused(read(longer), {"bytes, expected"}, "longer");
    for (size_t i = 0; i < 8; ++i) {
      Bytes changed = known;
      std::fill_n(changed.begin() + 16 + i * 48, 48, 0xff);
      ExpectRefused(read(changed), {StrCat("coordinate ", i), "not below q"}, "coordinate");
    }
    Bytes changed = known;
    std::fill_n(changed.begin() + 16 + 8 * 48 + 5 * 32, 32, 0xff);
    ExpectRefused(read(changed), {"public value 5", "not below r"}, "public");
    // Bytes past the 32 of BN254 must be 0.
    if (curve == CurveId::kBn254) refused(16 + 32, 1, "coordinate 0");
  }
}

}  // namespace
}  // namespace proofline
