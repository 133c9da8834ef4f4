#include "core/formats/r1cs.h"

#include <functional>

#include "core/formats/curve_prime.h"
#include "core/formats/wtns.h"
#include "core/groth16/r1cs_check.h"
#include "tests/core/formats/forge.h"

namespace proofline {
namespace {

using namespace testing;

Status Read(const Bytes& file) { return ReadR1cs(file, "C.r1cs").status(); }
constexpr size_t kNWires = 36, kNPubOut = 40, kNConstraints = 60;

TEST(R1cs, SamplesAreReadAndSatisfied) {
  struct Expected {
    const char* circuit;
    uint32_t n_wires, n_public;
  };
  for (CurveId curve : kCurves) {
    for (const Expected& e : {Expected{"multiplier", 4, 1}, Expected{"nopublic", 4, 0}, Expected{"manypublic", 59, 42}}) {
      Bytes file = Sample(curve, std::string(e.circuit) + ".r1cs"), witness_file = Sample(curve, std::string(e.circuit) + ".wtns");
      auto r1cs = ReadR1cs(file, "C.r1cs");
      ASSERT_TRUE(r1cs.ok()) << r1cs.status().ToString();
      EXPECT_EQ(r1cs->view.curve, curve);
      EXPECT_EQ(r1cs->view.n_wires, e.n_wires);
      EXPECT_EQ(r1cs->view.n_public(), e.n_public);
      auto witness = ReadWtns(witness_file, "W.wtns");
      ASSERT_TRUE(witness.ok());
      EXPECT_EQ(CheckR1cs(r1cs->view, witness->values).unsatisfied_count, 0u);
    }
  }
}

TEST(R1cs, UnsatisfiedConstraintIsFound) {
  for (CurveId curve : kCurves) {
    Bytes file = Sample(curve, "multiplier.r1cs"), witness_file = Sample(curve, "multiplier.wtns");
    auto r1cs = ReadR1cs(file, "C.r1cs");
    auto witness = ReadWtns(witness_file, "W.wtns");
    ASSERT_TRUE(r1cs.ok() && witness.ok());
    Bytes values(witness->values.begin(), witness->values.end());
    values[32] += 1;  // the output c of c = a * b = 3 * 11
    R1csCheck check = CheckR1cs(r1cs->view, values);
    EXPECT_EQ(check.unsatisfied_count, 1u);
    EXPECT_EQ(check.first, 0u);
    // circom writes -a * b = -c.
    ConstraintValues sums = EvaluateConstraint(r1cs->view, 0, values);
    ConstraintValues good = EvaluateConstraint(r1cs->view, 0, witness->values);
    EXPECT_EQ(sums.a, good.a);
    EXPECT_EQ(sums.b, good.b);
    EXPECT_EQ(good.c[0] - sums.c[0], 1);
  }
}

TEST(R1cs, OdditiesAreTaken) {
  struct Case {
    const char* what;
    std::function<void(Forge&)> change;
  };
  const Case cases[] = {
      {"another order", [](Forge& f) { std::ranges::sort(f.parts, {}, &Forge::Part::type); }},
      {"unknown section", [](Forge& f) { f.Add(17, Bytes(9)); }},
      {"no labels", [](Forge& f) { f.Remove(3); }},
      {"empty custom gates", [](Forge& f) { f.Add(4, {}); f.Add(5, Bytes(4)); }},
      {"no constraints", [](Forge& f) { Put<uint32_t>(f[1], kNConstraints, 0); f[2].clear(); }},
      {"empty rows", [](Forge& f) { Put<uint32_t>(f[1], kNConstraints, 2); f[2] = Bytes(24); }},
  };
  for (CurveId curve : kCurves) {
    for (const Case& c : cases) {
      Forge forge = Forge::Of(Sample(curve, "multiplier.r1cs"));
      c.change(forge);
      Status status = Read(forge.Build());
      EXPECT_TRUE(status.ok()) << c.what << ": " << status.ToString();
    }
  }
}

TEST(R1cs, DamageIsRefused) {
  struct Refusal {
    const char* what;
    std::function<void(Forge&, CurveId)> change;
    std::vector<std::string> words;
  };
  auto put = [](size_t at, uint32_t value) { return [=](Forge& f, CurveId) { Put<uint32_t>(f[1], at, value); }; };
  const Refusal cases[] = {
      {"version", [](Forge& f, CurveId) { Put<uint32_t>(f.head, 4, 2); }, {"version is 2", "expected 1"}},
      {"no header", [](Forge& f, CurveId) { f.Remove(1); }, {"section 1", "missing"}},
      {"no constraints", [](Forge& f, CurveId) { f.Remove(2); }, {"section 2", "missing"}},
      {"header twice", [](Forge& f, CurveId) { f.Repeat(1); }, {"section 1", "more than once"}},
      {"constraints twice", [](Forge& f, CurveId) { f.Repeat(2); }, {"section 2", "more than once"}},
      {"labels twice", [](Forge& f, CurveId) { f.Repeat(3); }, {"section 3", "more than once"}},
      {"empty header", [](Forge& f, CurveId) { f[1].clear(); }, {"section 1", "length is 0", "expected 64"}},
      {"header less 1", [](Forge& f, CurveId) { f[1].pop_back(); }, {"section 1", "length is 63", "expected 64"}},
      {"n8", put(0, 8), {"section 1", "n8 is 8", "expected 32"}},
      {"prime", put(4, 7), {"section 1", "prime is", "expected"}},
      {"wires", put(kNWires, 2), {"section 1", "nWires is 2", "at least 4"}},
      {"wires max", put(kNWires, 0xffffffff), {"section 3", "length is 32", "expected 34359738360"}},
      {"outputs max", put(kNPubOut, 0xffffffff), {"section 1", "nWires is 4", "at least 4294967298"}},
      {"constraints and 1", put(kNConstraints, 2), {"section 2"}},
      {"constraints 0", put(kNConstraints, 0), {"section 2", "length is", "expected 0"}},
      {"constraints max", put(kNConstraints, 0xffffffff), {"section 2", "length is", "4294967295 constraints"}},
      {"terms", [](Forge& f, CurveId) { Put<uint32_t>(f[2], 0, 4); }, {"section 2", "constraint 0", "A has 4 terms", "expected 144"}},
      {"terms max", [](Forge& f, CurveId) { Put<uint32_t>(f[2], 0, 0xffffffff); }, {"section 2", "A has 4294967295 terms", "bytes are left"}},
      {"terms of C", [](Forge& f, CurveId) { Put<uint32_t>(f[2], 80, 2); }, {"section 2", "C has 2 terms"}},
      {"a byte more", [](Forge& f, CurveId) { f[2].push_back(0); }, {"section 2", "length is 121", "expected 120"}},
      {"wire", [](Forge& f, CurveId) { Put<uint32_t>(f[2], 44, 4); }, {"section 2", "constraint 0", "B, term 0", "wire is 4", "which is 4"}},
      {"wire max", [](Forge& f, CurveId) { Put<uint32_t>(f[2], 4, 0xffffffff); }, {"section 2", "A, term 0", "wire is 4294967295"}},
      {"coefficient", [](Forge& f, CurveId c) { PutBytes(f[2], 88, ScalarFieldPrime(c)); }, {"section 2", "C, term 0", "coefficient is", "less than r"}},
      {"labels", [](Forge& f, CurveId) { f[3].pop_back(); }, {"section 3", "length is 31", "expected 32"}},
      {"custom gates", [](Forge& f, CurveId) { f.Add(4, Bytes{1, 0, 0, 0, 'x', 0}); }, {"section 4", "custom gates"}},
      {"custom gate uses", [](Forge& f, CurveId) { f.Add(5, Bytes{1, 0, 0, 0}); }, {"section 5", "custom gates"}},
  };
  for (CurveId curve : kCurves) {
    for (const Refusal& c : cases) {
      Forge forge = Forge::Of(Sample(curve, "multiplier.r1cs"));
      c.change(forge, curve);
      std::vector<std::string> words = c.words;
      words.push_back("C.r1cs");
      ExpectRefused(Read(forge.Build()), words, c.what);
    }
    ExpectRefused(Read({}), {"C.r1cs", "is empty"}, "empty");
    ExpectRefused(Read(Sample(curve, "multiplier.wtns")), {"C.r1cs", "is wtns", "expected r1cs"}, "wtns");
    for (std::string circuit : kCircuits) {
      Bytes file = Sample(curve, circuit + ".r1cs");
      ExpectEveryCutRefused(file, Read);
      ExpectEveryFlipHandled(file, 2000, 5, Read);
    }
  }
}

}  // namespace
}  // namespace proofline
