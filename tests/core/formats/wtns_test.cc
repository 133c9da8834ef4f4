#include "core/formats/wtns.h"

#include <functional>

#include "core/formats/curve_prime.h"
#include "core/formats/zkey.h"
#include "tests/core/formats/forge.h"

namespace proofline {
namespace {

using namespace testing;

Status Read(const Bytes& file) { return ReadWtns(file, "W.wtns").status(); }

TEST(Wtns, SamplesAreRead) {
  for (CurveId curve : kCurves) {
    for (std::string circuit : kCircuits) {
      Bytes file = Sample(curve, circuit + ".wtns"), key_file = Sample(curve, circuit + ".zkey");
      auto witness = ReadWtns(file, "W.wtns");
      ASSERT_TRUE(witness.ok()) << witness.status().ToString();
      auto key = ReadZkey(key_file, "K.zkey");
      ASSERT_TRUE(key.ok());
      EXPECT_TRUE(CheckWitnessFitsKey(*witness, "W.wtns", key->view, "K.zkey").ok());
      EXPECT_EQ(LoadLe<uint64_t>(witness->values.data()), 1u);
      EXPECT_EQ(file.data() + witness->values_offset, witness->values.data());
    }
  }
}

TEST(Wtns, OdditiesAreTaken) {
  for (CurveId curve : kCurves) {
    Forge forge = Forge::Of(Sample(curve, "multiplier.wtns"));
    std::ranges::reverse(forge.parts);
    forge.Add(9, Bytes(7));
    forge.tail = Bytes(3);
    EXPECT_TRUE(Read(forge.Build()).ok());
  }
}

TEST(Wtns, DamageIsRefused) {
  struct Refusal {
    const char* what;
    std::function<void(Forge&)> change;
    std::vector<std::string> words;
  };
  const Refusal cases[] = {
      {"version", [](Forge& f) { Put<uint32_t>(f.head, 4, 1); }, {"version is 1", "expected 2"}},
      {"no header", [](Forge& f) { f.Remove(1); }, {"section 1", "missing"}},
      {"no values", [](Forge& f) { f.Remove(2); }, {"section 2", "missing"}},
      {"header twice", [](Forge& f) { f.Repeat(1); }, {"section 1", "more than once"}},
      {"values twice", [](Forge& f) { f.Repeat(2); }, {"section 2", "more than once"}},
      {"empty header", [](Forge& f) { f[1].clear(); }, {"section 1", "length is 0", "expected 40"}},
      {"n8", [](Forge& f) { Put<uint32_t>(f[1], 0, 48); }, {"section 1", "n8 is 48", "expected 32"}},
      {"header less 1", [](Forge& f) { f[1].pop_back(); }, {"section 1", "length is 39", "expected 40"}},
      {"header and 1", [](Forge& f) { f[1].push_back(0); }, {"section 1", "length is 41", "expected 40"}},
      {"prime", [](Forge& f) { f[1][4] ^= 1; }, {"section 1", "prime is", "expected"}},
      {"count 0", [](Forge& f) { Put<uint32_t>(f[1], 36, 0); f[2].clear(); }, {"section 1", "is 0", "at least 1"}},
      {"count 5", [](Forge& f) { Put<uint32_t>(f[1], 36, 5); }, {"section 2", "length is 128", "expected 160"}},
      {"count max", [](Forge& f) { Put<uint32_t>(f[1], 36, 0xffffffff); }, {"section 2", "length is 128", "expected 137438953440"}},
      {"values less 1", [](Forge& f) { f[2].pop_back(); }, {"section 2", "length is 127", "expected 128"}},
      {"values and 1", [](Forge& f) { f[2].push_back(0); }, {"section 2", "length is 129", "expected 128"}},
  };
  for (CurveId curve : kCurves) {
    for (const Refusal& c : cases) {
      Forge forge = Forge::Of(Sample(curve, "multiplier.wtns"));
      c.change(forge);
      std::vector<std::string> words = c.words;
      words.push_back("W.wtns");
      ExpectRefused(Read(forge.Build()), words, c.what);
    }
    Bytes file = Sample(curve, "multiplier.wtns");
    ExpectEveryCutRefused(file, Read);
    ExpectEveryFlipHandled(file, 2000, 3, Read);
    for (size_t section : {0, 1}) {
      Bytes changed = file;
      Put<uint64_t>(changed, LengthFieldAt(file, section), ~uint64_t{0} - 11);
      ExpectRefused(Read(changed), {"W.wtns", "section", "left in the file"}, "wrap");
    }
    ExpectRefused(Read(Sample(curve, "multiplier.zkey")), {"W.wtns", "is zkey", "expected wtns"}, "zkey");
  }
}

TEST(Wtns, EmptyFileNamesTheUsualCause) {
  Status status = Read({});
  ExpectRefused(status, {"W.wtns", "is empty", "wtns"}, "empty");
  EXPECT_NE(status.error().remedy.find("assertion"), std::string::npos);
}

TEST(Wtns, WitnessOfAnotherCircuitOrCurveIsRefused) {
  Bytes small = Sample(CurveId::kBn254, "multiplier.wtns"), large = Sample(CurveId::kBn254, "manypublic.zkey"),
        other = Sample(CurveId::kBls12381, "multiplier.zkey");
  auto witness = ReadWtns(small, "W.wtns");
  ASSERT_TRUE(witness.ok());
  ExpectRefused(CheckWitnessFitsKey(*witness, "W.wtns", ReadZkey(large, "K.zkey")->view, "K.zkey"),
                {"W.wtns", "section 1", "has 4 values", "expected 59", "K.zkey"}, "another circuit");
  ExpectRefused(CheckWitnessFitsKey(*witness, "W.wtns", ReadZkey(other, "K.zkey")->view, "K.zkey"),
                {"W.wtns", "BN254", "expected BLS12-381", "K.zkey"}, "another curve");
}

}  // namespace
}  // namespace proofline
