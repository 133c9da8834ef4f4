// ReadZkey: what it takes, what it refuses and with which words, and that no damage gets past it.
#include "core/formats/zkey.h"

#include <functional>
#include <numeric>

#include "core/base/decimal.h"
#include "core/formats/curve_prime.h"
#include "tests/core/formats/forge.h"

namespace proofline {
namespace {

using namespace testing;

Status Read(const Bytes& file) { return ReadZkey(file, "K.zkey").status(); }

// Offsets inside section 2.
struct HeaderLayout {
  explicit HeaderLayout(CurveId curve) : n8q(FqBytes(curve)) {}
  size_t n8q;
  size_t q() const { return 4; }
  size_t n8r() const { return 4 + n8q; }
  size_t r() const { return 8 + n8q; }
  size_t n_vars() const { return 8 + n8q + 32; }
  size_t n_public() const { return n_vars() + 4; }
  size_t domain() const { return n_vars() + 8; }
  size_t alpha1() const { return n_vars() + 12; }
  size_t beta1() const { return alpha1() + 2 * n8q; }
  size_t beta2() const { return beta1() + 2 * n8q; }
  size_t gamma2() const { return beta2() + 4 * n8q; }
  size_t delta1() const { return gamma2() + 4 * n8q; }
  size_t delta2() const { return delta1() + 2 * n8q; }
};

TEST(Zkey, SamplesAreRead) {
  struct Expected {
    const char* circuit;
    uint32_t n_vars, n_public, domain;
  };
  for (CurveId curve : kCurves) {
    for (const Expected& e : {Expected{"multiplier", 4, 1, 4}, Expected{"nopublic", 4, 0, 4}, Expected{"manypublic", 59, 42, 64},
                              Expected{"multiplier.nocontribution", 4, 1, 4}}) {
      Bytes file = Sample(curve, std::string(e.circuit) + ".zkey");
      auto key = ReadZkey(file, "K.zkey");
      ASSERT_TRUE(key.ok()) << key.status().ToString();
      EXPECT_EQ(key->view.curve, curve);
      EXPECT_EQ(key->view.n_vars, e.n_vars);
      EXPECT_EQ(key->view.n_public, e.n_public);
      EXPECT_EQ(key->view.domain(), e.domain);
      EXPECT_EQ(key->view.a.size(), e.n_vars * 2 * FqBytes(curve));
      EXPECT_EQ(key->view.b2.size(), e.n_vars * 4 * FqBytes(curve));
      EXPECT_EQ(key->coefficient_count, key->view.coefficient_count());
      EXPECT_FALSE(key->known_secret);
      bool fresh = std::string(e.circuit).find("nocontribution") != std::string::npos;
      EXPECT_EQ(key->unsafe, fresh);
      ZkeyContributions contributions = ReadContributions(*key);
      EXPECT_TRUE(contributions.readable);
      EXPECT_EQ(contributions.count, fresh ? 0u : 1u);

      auto without = ReadZkey(file, "K.zkey", ZkeyUse::kWithoutCoefficients);
      ASSERT_TRUE(without.ok());
      EXPECT_TRUE(without->view.coefficients.empty());
      EXPECT_EQ(without->coefficient_count, key->coefficient_count);
    }
  }
}

TEST(Zkey, SectionsComeInAnyOrder) {
  std::mt19937_64 random(1);
  for (CurveId curve : kCurves) {
    Forge forge = Forge::Of(Sample(curve, "manypublic.zkey"));
    auto expected = ReadZkey(forge.Build(), "K.zkey");
    ASSERT_TRUE(expected.ok());
    for (int i = 0; i < 20; ++i) {
      std::shuffle(forge.parts.begin(), forge.parts.end(), random);
      Bytes file = forge.Build();
      auto key = ReadZkey(file, "K.zkey");
      ASSERT_TRUE(key.ok()) << key.status().ToString();
      EXPECT_EQ(Bytes(key->view.c.begin(), key->view.c.end()), forge[8]);
      EXPECT_EQ(Bytes(key->view.h.begin(), key->view.h.end()), forge[9]);
    }
  }
}

TEST(Zkey, OdditiesAreTaken) {
  struct Case {
    const char* what;
    std::function<void(Forge&, CurveId)> change;
  };
  const Case cases[] = {
      {"unknown sections", [](Forge& f, CurveId) { f.parts.insert(f.parts.begin(), {77, Bytes(5)}); f.Add(4000000000u, {}); }},
      {"an unknown section twice", [](Forge& f, CurveId) { f.Add(77, Bytes(3)); f.Add(77, Bytes(4)); }},
      {"bytes after the last section", [](Forge& f, CurveId) { f.tail = Bytes(100, 0xff); }},
      {"no section 10", [](Forge& f, CurveId) { f.Remove(10); }},
      {"section 10 is nonsense", [](Forge& f, CurveId) { f[10] = Bytes(3, 0xff); }},
      {"no constraints", [](Forge& f, CurveId) { f[4] = Bytes(4, 0); }},
      {"points at infinity", [](Forge& f, CurveId) { for (uint32_t s : {5, 6, 7, 8}) std::ranges::fill(f[s], 0); }},
      {"a domain of 2", [](Forge& f, CurveId c) {
         Put<uint32_t>(f[2], HeaderLayout(c).domain(), 2);
         f[9].resize(2 * 2 * FqBytes(c));
         f[4] = Bytes(4, 0);
       }},
      {"coefficient r - 1", [](Forge& f, CurveId c) {
         PutBytes(f[4], 4 + 12, ScalarFieldPrime(c));
         f[4][4 + 12] -= 1;
       }},
      {"a domain filled exactly", [](Forge& f, CurveId) { Put<uint32_t>(f[4], 4 + 4, 3); }},
  };
  for (CurveId curve : kCurves) {
    for (const Case& c : cases) {
      Forge forge = Forge::Of(Sample(curve, "multiplier.zkey"));
      c.change(forge, curve);
      Status status = Read(forge.Build());
      EXPECT_TRUE(status.ok()) << c.what << ": " << status.ToString();
    }
  }
}

TEST(Zkey, KnownSecretIsReported) {
  Forge forge = Forge::Of(Sample(CurveId::kBn254, "multiplier.zkey"));
  Bytes record(8);
  Put<uint32_t>(record, 0, 1);
  Put<uint32_t>(record, 4, 1);
  for (char c : std::string("seed \x01")) record.push_back(static_cast<uint8_t>(c));
  forge.Add(zkey::kProofline, record);
  Bytes file = forge.Build();
  auto key = ReadZkey(file, "K.zkey");
  ASSERT_TRUE(key.ok());
  EXPECT_TRUE(key->known_secret);
  EXPECT_EQ(key->known_secret_note, "seed ?");

  Put<uint32_t>(forge[zkey::kProofline], 4, 0);  // no flag
  file = forge.Build();
  EXPECT_FALSE(ReadZkey(file, "K.zkey")->known_secret);
  for (size_t length : {0, 7}) {  // what cannot be read is taken for the worst
    forge[zkey::kProofline].resize(length);
    file = forge.Build();
    EXPECT_TRUE(ReadZkey(file, "K.zkey")->known_secret);
  }
}

struct Refusal {
  const char* what;
  std::function<void(Forge&, CurveId)> change;
  std::vector<std::string> words;
};

void ExpectAllRefused(const std::vector<Refusal>& cases, const char* sample) {
  for (CurveId curve : kCurves) {
    for (const Refusal& c : cases) {
      Forge forge = Forge::Of(Sample(curve, sample));
      c.change(forge, curve);
      std::vector<std::string> words = c.words;
      words.push_back("K.zkey");
      ExpectRefused(Read(forge.Build()), words, c.what);
    }
  }
}

TEST(Zkey, HeaderIsChecked) {
  auto put = [](size_t (HeaderLayout::*field)() const, uint32_t value) {
    return [=](Forge& f, CurveId c) { Put<uint32_t>(f[2], (HeaderLayout(c).*field)(), value); };
  };
  ExpectAllRefused(
      {
          {"version", [](Forge& f, CurveId) { Put<uint32_t>(f.head, 4, 2); }, {"version is 2", "expected 1"}},
          {"PLONK", [](Forge& f, CurveId) { Put<uint32_t>(f[1], 0, 2); }, {"section 1", "is 2 (PLONK)", "expected 1"}},
          {"FFLONK", [](Forge& f, CurveId) { Put<uint32_t>(f[1], 0, 10); }, {"section 1", "is 10", "expected 1"}},
          {"long protocol", [](Forge& f, CurveId) { f[1].resize(5); }, {"section 1", "length is 5", "expected 4"}},
          {"empty header", [](Forge& f, CurveId) { f[2].clear(); }, {"section 2", "length is 0"}},
          {"short header", [](Forge& f, CurveId) { f[2].resize(60); }, {"section 2", "length is 60"}},
          {"header less 1", [](Forge& f, CurveId) { f[2].pop_back(); }, {"section 2", "length is", "expected"}},
          {"header and 1", [](Forge& f, CurveId) { f[2].push_back(0); }, {"section 2", "length is", "expected"}},
          {"n8q 31", [](Forge& f, CurveId) { Put<uint32_t>(f[2], 0, 31); }, {"section 2", "n8q is 31", "expected 32"}},
          {"n8q huge", [](Forge& f, CurveId) { Put<uint32_t>(f[2], 0, 0xffffffff); }, {"section 2", "n8q is 4294967295"}},
          {"q", [](Forge& f, CurveId c) { f[2][HeaderLayout(c).q()] ^= 2; }, {"section 2", "prime q is", "expected"}},
          {"n8r", put(&HeaderLayout::n8r, 48), {"section 2", "n8r is 48", "expected 32"}},
          {"r", [](Forge& f, CurveId c) { f[2][HeaderLayout(c).r()] ^= 2; }, {"section 2", "prime r is", "expected"}},
          {"r of the other curve",
           [](Forge& f, CurveId c) {
             PutBytes(f[2], HeaderLayout(c).r(), ScalarFieldPrime(c == CurveId::kBn254 ? CurveId::kBls12381 : CurveId::kBn254));
           },
           {"section 2", "prime r is", "expected"}},
          {"nPublic = nVars", put(&HeaderLayout::n_public, 4), {"section 2", "nPublic is 4", "nVars, which is 4"}},
          {"nPublic max", put(&HeaderLayout::n_public, 0xffffffff), {"section 2", "nPublic is 4294967295", "which is 4"}},
          {"no vars", put(&HeaderLayout::n_vars, 0), {"section 2", "nPublic is 1", "which is 0"}},
          {"more vars", put(&HeaderLayout::n_vars, 5), {"section 5", "length is", "expected", "5 *"}},
          {"vars max", put(&HeaderLayout::n_vars, 0xffffffff), {"section 5", "length is", "4294967295 *"}},
          {"nPublic + 1", put(&HeaderLayout::n_public, 2), {"section 3", "length is", "expected"}},
          {"domain 0", put(&HeaderLayout::domain, 0), {"section 2", "domainSize is 0", "power of two"}},
          {"domain 1", put(&HeaderLayout::domain, 1), {"section 2", "domainSize is 1", "at least 2"}},
          {"domain 3", put(&HeaderLayout::domain, 3), {"section 2", "domainSize is 3", "power of two"}},
          {"domain max", put(&HeaderLayout::domain, 0xffffffff), {"section 2", "domainSize is 4294967295"}},
          {"domain 8", put(&HeaderLayout::domain, 8), {"section 9", "length is", "expected", "8 *"}},
          {"domain 2", put(&HeaderLayout::domain, 2), {"section 9", "length is", "expected", "2 *"}},
          {"domain 2^29", put(&HeaderLayout::domain, 1u << 29), {"section 2", "domainSize is 2^29", "at most 2^"}},
          {"domain 2^31", put(&HeaderLayout::domain, 1u << 31), {"section 2", "domainSize is 2^31", "at most 2^"}},
      },
      "multiplier.zkey");
  // Public signals do not fit the domain: 43 rows of them in a domain of 32.
  ExpectAllRefused({{"domain below nPublic", put(&HeaderLayout::domain, 32), {"section 2", "domainSize is 32", "which is 43"}}},
                   "manypublic.zkey");
}

TEST(Zkey, HeaderPointsAreChecked) {
  std::vector<Refusal> cases;
  struct Point {
    const char* name;
    size_t (HeaderLayout::*at)() const;
    size_t coordinates;
  };
  for (const Point& p : {Point{"alpha1", &HeaderLayout::alpha1, 2}, Point{"beta1", &HeaderLayout::beta1, 2},
                         Point{"beta2", &HeaderLayout::beta2, 4}, Point{"gamma2", &HeaderLayout::gamma2, 4},
                         Point{"delta1", &HeaderLayout::delta1, 2}, Point{"delta2", &HeaderLayout::delta2, 4}}) {
    for (size_t i = 0; i < p.coordinates; ++i)
      cases.push_back({p.name,
                       [=](Forge& f, CurveId c) { PutBytes(f[2], (HeaderLayout(c).*p.at)() + i * FqBytes(c), BaseFieldPrime(c)); },
                       {"section 2", p.name, StrCat("coordinate ", i), "expected less than q"}});
    cases.push_back({p.name,
                     [=](Forge& f, CurveId c) {
                       auto begin = f[2].begin() + static_cast<ptrdiff_t>((HeaderLayout(c).*p.at)());
                       std::fill(begin, begin + static_cast<ptrdiff_t>(p.coordinates * FqBytes(c)), 0);
                     },
                     {"section 2", p.name, "infinity"}});
  }
  cases.push_back({"IC", [](Forge& f, CurveId c) { PutBytes(f[3], 3 * FqBytes(c), BaseFieldPrime(c)); }, {"section 3", "coordinate 3", "less than q"}});
  ExpectAllRefused(cases, "multiplier.zkey");
}

TEST(Zkey, SectionsAreChecked) {
  std::vector<Refusal> cases;
  for (uint32_t s = 1; s <= 9; ++s) {
    std::string section = StrCat("section ", s, " (");
    cases.push_back({"missing", [s](Forge& f, CurveId) { f.Remove(s); }, {section, "missing"}});
    cases.push_back({"twice", [s](Forge& f, CurveId) { f.Repeat(s); }, {section, "more than once"}});
    cases.push_back({"byte too many", [s](Forge& f, CurveId) { f[s].push_back(0); }, {section, "length is", "expected"}});
    cases.push_back({"byte too few", [s](Forge& f, CurveId) { f[s].pop_back(); }, {section, "length is", "expected"}});
    cases.push_back({"emptied", [s](Forge& f, CurveId) { f[s].clear(); }, {section, "length is 0", "expected"}});
  }
  cases.push_back({"too many sections", [](Forge& f, CurveId) { for (int i = 0; i < 1100; ++i) f.Add(99, {}); }, {"1110 sections", "at most 1024"}});
  ExpectAllRefused(cases, "manypublic.zkey");
}

TEST(Zkey, CoefficientsAreChecked) {
  constexpr size_t kThird = 4 + 2 * ProvingKeyView::kCoefficientBytes;
  auto put = [](size_t at, uint32_t value) { return [=](Forge& f, CurveId) { Put<uint32_t>(f[4], at, value); }; };
  auto value = [](std::function<void(Bytes&)> change) {
    return [=](Forge& f, CurveId c) {
      Bytes r(ScalarFieldPrime(c).begin(), ScalarFieldPrime(c).end());
      change(r);
      PutBytes(f[4], kThird + 12, r);
    };
  };
  ExpectAllRefused(
      {
          {"count and 1", [](Forge& f, CurveId) { Put<uint32_t>(f[4], 0, Get<uint32_t>(f[4], 0) + 1); }, {"section 4", "length is", "expected"}},
          {"count less 1", [](Forge& f, CurveId) { Put<uint32_t>(f[4], 0, Get<uint32_t>(f[4], 0) - 1); }, {"section 4", "length is", "expected"}},
          {"count max", put(0, 0xffffffff), {"section 4", "length is", "4294967295 coefficients"}},
          {"matrix 2", put(kThird, 2), {"section 4", "coefficient 2", "matrix is 2", "expected 0 (A) or 1 (B)"}},
          {"matrix max", put(kThird, 0xffffffff), {"section 4", "coefficient 2", "matrix is 4294967295"}},
          {"constraint", put(kThird + 4, 64), {"section 4", "coefficient 2", "constraint is 64", "domainSize, which is 64"}},
          {"constraint max", put(kThird + 4, 0xffffffff), {"section 4", "constraint is 4294967295"}},
          {"signal", put(kThird + 8, 59), {"section 4", "coefficient 2", "signal is 59", "nVars, which is 59"}},
          {"signal max", put(kThird + 8, 0xffffffff), {"section 4", "signal is 4294967295"}},
          {"value r", value([](Bytes&) {}), {"section 4", "coefficient 2", "value is", "expected less than r"}},
          {"value r + 1", value([](Bytes& r) { r[0] += 1; }), {"section 4", "value is", "expected less than r"}},
          {"value max", value([](Bytes& r) { std::ranges::fill(r, 0xff); }), {"section 4", "value is", "expected less than r"}},
      },
      "manypublic.zkey");
}

TEST(Zkey, LowestBadCoefficientIsNamedInALargeSection) {
  constexpr size_t kRecord = ProvingKeyView::kCoefficientBytes;
  constexpr uint32_t kCount = 300000;
  Forge forge = Forge::Of(Sample(CurveId::kBn254, "multiplier.zkey"));
  Bytes record(forge[4].begin() + 4, forge[4].begin() + 4 + kRecord);
  Bytes& section = forge[4];
  section.resize(4 + kCount * kRecord);
  Put<uint32_t>(section, 0, kCount);
  for (size_t i = 0; i < kCount; ++i) PutBytes(section, 4 + i * kRecord, record);
  EXPECT_TRUE(Read(forge.Build()).ok());
  for (size_t bad : {299999, 170001, 32768}) {
    Put<uint32_t>(forge[4], 4 + bad * kRecord + 8, 4);
    ExpectRefused(Read(forge.Build()), {"section 4", StrCat("coefficient ", bad, ":"), "signal is 4"}, "large");
  }
}

TEST(Zkey, LengthsThatWrapOrRunOutAreRefused) {
  for (CurveId curve : kCurves) {
    const Bytes file = Sample(curve, "multiplier.zkey");
    for (size_t section = 0; section < 10; ++section) {
      size_t at = LengthFieldAt(file, section);
      const uint64_t length = Get<uint64_t>(file, at);
      for (uint64_t wrong : {~uint64_t{0}, ~uint64_t{0} - at - 7, uint64_t{1} << 63, uint64_t{1} << 32, length + file.size()}) {
        Bytes changed = file;
        Put<uint64_t>(changed, at, wrong);
        ExpectRefused(Read(changed), {"K.zkey", "section", "length is", StrCat(wrong), "left in the file"}, "length");
      }
    }
    Bytes changed = file;
    Put<uint32_t>(changed, 8, 11);
    ExpectRefused(Read(changed), {"K.zkey", "section number 11 of 11"}, "one section more");
    Put<uint32_t>(changed, 8, 0xffffffff);
    ExpectRefused(Read(changed), {"K.zkey", "4294967295 sections", "at most"}, "many sections");
  }
}

TEST(Zkey, OtherKindsAreNamed) {
  ExpectRefused(Read({}), {"K.zkey", "is empty", "zkey"}, "empty");
  for (CurveId curve : kCurves) {
    ExpectRefused(Read(Sample(curve, "multiplier.wtns")), {"K.zkey", "is wtns", "expected zkey"}, "wtns");
    ExpectRefused(Read(Sample(curve, "multiplier.r1cs")), {"K.zkey", "is r1cs", "expected zkey"}, "r1cs");
    ExpectRefused(Read(Sample(curve, "multiplier.vk.json")), {"K.zkey", "is json", "expected zkey"}, "json");
  }
  ExpectRefused(Read({0, 'a', 's', 'm', 1, 0, 0, 0}), {"K.zkey", "is wasm", "expected zkey"}, "wasm");
  ExpectRefused(Read({'z', 'k', 'e'}), {"K.zkey", "unknown kind", "expected zkey"}, "three bytes");
}

TEST(Zkey, EveryCutIsRefused) {
  for (CurveId curve : kCurves)
    for (const char* sample : {"multiplier.zkey", "nopublic.zkey", "multiplier.nocontribution.zkey"})
      ExpectEveryCutRefused(Sample(curve, sample), Read);
  // The larger one at fewer places: all the section borders are among the multiples of 4.
  Bytes file = Sample(CurveId::kBn254, "manypublic.zkey");
  for (size_t length = 0; length < file.size(); length += 4) ASSERT_FALSE(Read(Bytes(file.begin(), file.begin() + length)).ok()) << length;
}

TEST(Zkey, NoChangedByteGetsPast) {
  for (CurveId curve : kCurves) {
    for (const char* sample : {"multiplier.zkey", "manypublic.zkey"}) {
      ExpectEveryFlipHandled(Sample(curve, sample), 4000, 7, [](const Bytes& file) {
        auto key = ReadZkey(file, "K.zkey");
        if (!key.ok()) return std::move(key).status();
        const ProvingKeyView& view = key->view;
        size_t g1 = 2 * FqBytes(view.curve);
        EXPECT_LT(view.n_public, view.n_vars);
        EXPECT_EQ(view.a.size(), view.n_vars * g1);
        EXPECT_EQ(view.h.size(), view.domain() * g1);
        for (size_t i = 0; i < view.coefficient_count(); ++i) {
          const uint8_t* record = view.coefficients.data() + i * ProvingKeyView::kCoefficientBytes;
          EXPECT_LE(LoadLe<uint32_t>(record), 1u);
          EXPECT_LT(LoadLe<uint32_t>(record + 4), view.domain());
          EXPECT_LT(LoadLe<uint32_t>(record + 8), view.n_vars);
        }
        ReadContributions(*key);
        return OkStatus();
      });
    }
  }
}

}  // namespace
}  // namespace proofline
