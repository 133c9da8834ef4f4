// What `proofline prove` and the commands around it must refuse: exit code, the words of the message, and no file left behind.
#include <algorithm>
#include <fstream>
#include <functional>

#include "core/formats/curve_prime.h"
#include "tests/core/formats/forge.h"
#include "tests/e2e/harness.h"

namespace proofline::e2e {
namespace {

using testing::Bytes;
using testing::Forge;
using testing::Put;
using testing::PutBytes;

constexpr double kMuchLessThanAStack = 3.0;  // seconds; generous, for machines under load and sanitizers

struct Refusal {
  std::string what;
  std::function<void(Forge& key, Forge& witness)> change;
  std::vector<std::string> words;
};

class RefusalTest : public E2eTest {
 protected:
  void ExpectRefused(const Finished& f, const std::string& what, const std::vector<std::string>& words, int exit_code = 1) const {
    EXPECT_EQ(f.exit_code, exit_code) << what << f;
    EXPECT_EQ(f.out, "") << what;
    EXPECT_EQ(f.err.rfind("proofline: ", 0), 0u) << what << f;
    for (const std::string& word : words) EXPECT_NE(f.err.find(word), std::string::npos) << what << ": no \"" << word << "\" in" << f;
    ExpectNoOutput(what);
  }
  void ExpectNoOutput(const std::string& what) const {
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
      const std::string name = entry.path().filename();
      EXPECT_TRUE(name == "rt" || name == "key.zkey" || name == "witness.wtns" || name == "state") << what << " left " << name;
    }
  }
  Finished Prove() const { return Run({"prove", Path("key.zkey"), Path("witness.wtns"), Path("proof.json"), Path("public.json")}); }
  void ExpectAllRefused(const std::vector<Refusal>& cases, const std::string& circuit) {
    for (const std::string curve : {"bn128", "bls12381"}) {
      for (const Refusal& c : cases) {
        Forge key = Forge::Of(testing::ReadAll(Sample(curve, circuit + ".zkey"))), witness = Forge::Of(testing::ReadAll(Sample(curve, circuit + ".wtns")));
        c.change(key, witness);
        Write("key.zkey", key.Build());
        Write("witness.wtns", witness.Build());
        ExpectRefused(Prove(), curve + " " + c.what, c.words);
        if (HasFatalFailure()) return;
      }
    }
  }
};

CurveId CurveOf(Forge& key) { return testing::Get<uint32_t>(key[2], 0) == 48 ? CurveId::kBls12381 : CurveId::kBn254; }
size_t CountsAt(Forge& key) { return 8 + FqBytes(CurveOf(key)) + 32; }

TEST_F(RefusalTest, DamagedKeys) {
  ExpectAllRefused(
      {
          {"matrix 2", [](Forge& k, Forge&) { Put<uint32_t>(k[4], 4, 2); }, {"key.zkey", "section 4", "2"}},
          {"constraint out of range", [](Forge& k, Forge&) { Put<uint32_t>(k[4], 4 + 4, 4); }, {"key.zkey", "section 4", "4"}},
          {"signal out of range", [](Forge& k, Forge&) { Put<uint32_t>(k[4], 4 + 8, 4); }, {"key.zkey", "section 4", "4"}},
          {"coefficient count", [](Forge& k, Forge&) { Put<uint32_t>(k[4], 0, 1000000000); }, {"key.zkey", "section 4", "1000000000"}},
          {"coefficient not below r", [](Forge& k, Forge&) { PutBytes(k[4], 4 + 12, ScalarFieldPrime(CurveOf(k))); }, {"key.zkey", "section 4"}},
          {"domain 0", [](Forge& k, Forge&) { Put<uint32_t>(k[2], CountsAt(k) + 8, 0); }, {"key.zkey", "section 2", "domain"}},
          {"domain 3", [](Forge& k, Forge&) { Put<uint32_t>(k[2], CountsAt(k) + 8, 3); }, {"key.zkey", "section 2", "3"}},
          {"domain 8", [](Forge& k, Forge&) { Put<uint32_t>(k[2], CountsAt(k) + 8, 8); }, {"key.zkey", "section 9"}},
          {"nPublic = nVars", [](Forge& k, Forge&) { Put<uint32_t>(k[2], CountsAt(k) + 4, 4); }, {"key.zkey", "section 2", "4"}},
          {"section 9 twice", [](Forge& k, Forge&) { k.Repeat(9); }, {"key.zkey", "section 9"}},
          {"no section 7", [](Forge& k, Forge&) { k.Remove(7); }, {"key.zkey", "section 7"}},
          {"section 5 short", [](Forge& k, Forge&) { k[5].pop_back(); }, {"key.zkey", "section 5"}},
          {"another protocol", [](Forge& k, Forge&) { Put<uint32_t>(k[1], 0, 2); }, {"key.zkey", "section 1"}},
          {"another prime", [](Forge& k, Forge&) { k[2][5] ^= 1; }, {"key.zkey", "section 2"}},
      },
      "multiplier");
}

TEST_F(RefusalTest, PointsOffTheirCurve) {
  std::vector<Refusal> cases;
  static const std::pair<uint32_t, const char*> kSections[] = {{5, "section 5"}, {6, "section 6"}, {7, "section 7"}, {8, "section 8"}, {9, "section 9"}};
  for (const auto& [section, words] : kSections) {
    cases.push_back({words, [section = section](Forge& k, Forge&) {
                       // A point that is not infinity gets another y.
                       Bytes& points = k[section];
                       const size_t step = (section == 7 ? 4 : 2) * FqBytes(CurveOf(k));
                       for (size_t at = points.size() - step;; at -= step) {
                         if (std::any_of(points.begin() + static_cast<ptrdiff_t>(at), points.begin() + static_cast<ptrdiff_t>(at + step), [](uint8_t b) { return b != 0; })) {
                           points[at + step / 2] ^= 1;
                           return;
                         }
                         if (at == 0) return;
                       }
                     },
                     {"key.zkey", words}});
  }
  ExpectAllRefused(cases, "manypublic");
  // 0 * 0 = 0: every scalar of the proof but a few is 0, the points beside them are in no sum, and the proof would verify.
  for (Refusal& c : cases) {
    c.what += ", values 0";
    c.change = [spoil = c.change](Forge& k, Forge& w) {
      spoil(k, w);
      std::fill(w[2].begin() + 32, w[2].end(), 0);
    };
  }
  ExpectAllRefused(cases, "multiplier");
}

// Nothing but the proof tells them from a key that is right.
TEST_F(RefusalTest, GoodPointsInWrongPlaces) {
  const auto swap_points = [](Forge& k, uint32_t section, size_t coordinates) {
    Bytes& points = k[section];
    const auto step = static_cast<ptrdiff_t>(coordinates * FqBytes(CurveOf(k)));
    std::swap_ranges(points.end() - step, points.end(), points.end() - 2 * step);
  };
  const std::vector<std::string> words{"does not satisfy", "key.zkey, or the key is damaged", "proofline check"};
  ExpectAllRefused({{"A", [&](Forge& k, Forge&) { swap_points(k, 5, 2); }, words}, {"C", [&](Forge& k, Forge&) { swap_points(k, 8, 2); }, words}}, "multiplier");
}

TEST_F(RefusalTest, DamagedWitnesses) {
  const auto value = [](size_t index) { return index * 32; };
  ExpectAllRefused(
      {
          {"public value r", [&](Forge& k, Forge& w) { PutBytes(w[2], value(1), ScalarFieldPrime(CurveOf(k))); }, {"witness.wtns", "1"}},
          {"private value r", [&](Forge& k, Forge& w) { PutBytes(w[2], value(3), ScalarFieldPrime(CurveOf(k))); }, {"witness.wtns", "3"}},
          {"huge value", [&](Forge&, Forge& w) { std::fill_n(w[2].begin() + 64, 32, 0xff); }, {"witness.wtns", "2"}},
          {"first value 2", [](Forge&, Forge& w) { w[2][0] = 2; }, {"witness.wtns"}},
          {"not satisfied", [&](Forge&, Forge& w) { w[2][value(2)] ^= 1; }, {"satisf"}},
          {"one value less", [](Forge&, Forge& w) { w[2].resize(w[2].size() - 32); Put<uint32_t>(w[1], 36, 3); }, {"witness.wtns", "3", "4"}},
          {"count that lies", [](Forge&, Forge& w) { Put<uint32_t>(w[1], 36, 0xffffffff); }, {"witness.wtns", "section 2"}},
          {"no section 2", [](Forge&, Forge& w) { w.Remove(2); }, {"witness.wtns", "section 2"}},
          {"version 3", [](Forge&, Forge& w) { w.head[4] = 3; }, {"witness.wtns", "3"}},
      },
      "multiplier");
}

TEST_F(RefusalTest, WrongFilesAltogether) {
  const Bytes key = testing::ReadAll(Sample("bn128", "multiplier.zkey")), witness = testing::ReadAll(Sample("bn128", "multiplier.wtns"));
  const Bytes other_curve = testing::ReadAll(Sample("bls12381", "multiplier.wtns")), other_circuit = testing::ReadAll(Sample("bn128", "manypublic.wtns"));
  Bytes wrapped = key;
  Put<uint64_t>(wrapped, testing::LengthFieldAt(wrapped, 3), ~uint64_t{0} - 4);
  struct Case {
    const char* what;
    Bytes key, witness;
    std::vector<std::string> words;
  };
  const Case cases[] = {
      {"empty key", {}, witness, {"key.zkey", "empty"}},
      {"empty witness", key, {}, {"witness.wtns", "empty"}},
      {"swapped", witness, key, {"key.zkey", "wtns"}},
      {"truncated key", Bytes(key.begin(), key.begin() + 1000), witness, {"key.zkey"}},
      {"truncated witness", key, Bytes(witness.begin(), witness.begin() + 100), {"witness.wtns"}},
      {"twelve bytes", Bytes(key.begin(), key.begin() + 12), witness, {"key.zkey"}},
      {"text", Bytes(1000, 'x'), witness, {"key.zkey"}},
      {"a section length that wraps", wrapped, witness, {"key.zkey", "section"}},
      {"another curve", key, other_curve, {"witness.wtns", "BN254", "BLS12-381"}},
      {"another circuit", key, other_circuit, {"witness.wtns", "59", "4"}},
  };
  for (const Case& c : cases) {
    Write("key.zkey", c.key);
    Write("witness.wtns", c.witness);
    const Finished f = Prove();
    ExpectRefused(f, c.what, c.words);
    // Wrong files are refused before any process is started.
    EXPECT_LT(f.seconds, kMuchLessThanAStack) << c.what;
  }
}

TEST_F(RefusalTest, MissingFilesAndDirectories) {
  std::filesystem::copy(Sample("bn128", "multiplier.zkey"), Path("key.zkey"));
  ExpectRefused(Prove(), "no witness", {"witness.wtns", "no such file"});
  ExpectRefused(Run({"prove", "/", Sample("bn128", "multiplier.wtns"), Path("p"), Path("q")}), "a directory as key", {"/", "directory"});
}

TEST_F(RefusalTest, UnwritableOutputs) {
  const std::string key = Sample("bn128", "multiplier.zkey"), witness = Sample("bn128", "multiplier.wtns");
  Finished f = Run({"prove", key, witness, Path("no/such/proof.json"), Path("public.json")});
  ExpectRefused(f, "no such folder", {"no/such/proof.json"});
  EXPECT_LT(f.seconds, kMuchLessThanAStack);
  ExpectRefused(Run({"prove", key, witness, Path("proof.json"), "/proc/nothing"}), "a folder nobody can write", {"/proc/nothing"});
  ExpectRefused(Run({"prove", key, witness, Path("rt"), Path("public.json")}), "a folder as output", {"rt"});
  ExpectRefused(Run({"prove", key, witness, Path("proof.json"), "/dev/full"}), "a full device", {"/dev/full", "No space left"}, 3);
  ExpectRefused(Run({"prove", key, witness, "/dev/full", Path("public.json")}), "a full device first", {"/dev/full", "No space left"}, 3);
}

TEST_F(RefusalTest, Usage) {
  const std::string key = Sample("bn128", "multiplier.zkey"), witness = Sample("bn128", "multiplier.wtns");
  const std::vector<std::vector<std::string>> cases = {
      {"prove"},
      {"prove", key, witness, Path("p")},
      {"prove", key, witness, Path("p"), Path("q"), "fifth"},
      {"prove", key, witness, Path("p"), Path("p")},
      {"prove", key, witness, Path("p"), Path("q"), "--calldata", Path("q")},
      {"prove", key, witness, "P.json", "./P.json"},
      {"prove", key, witness, "P.json", "Q.json", "--calldata", ".//P.json"},
      {"prove", key, witness, Path("p"), Path("q"), "--nonsense"},
      {"prove", key, witness, Path("p"), Path("q"), "--device", "gpu"},
      {"prove", key, witness, Path("p"), Path("q"), "--device", "cuda:x"},
      {"prove", key, witness, key, Path("q")},
      {"wait"},
      {"wait", "job", "--timeout", "soon"},
      {"submit", "--circuit", "x"},
      {"submit", "--circuit", "x", "--witness", witness, "--priority", "urgent"},
      {"submit", "--circuit", "x", "--witness", witness, "--deadline", "0s"},
      {"submit", "--circuit", "x", "--witness", witness, "--id", "../x"},
      {"circuit"},
      {"circuit", "add", "../x", "--key", key},
      {"up", "--synth", "0"},
      {"up", "--synth", "many"},
      {"nonsense"},
      {"--nonsense"},
  };
  for (const auto& args : cases) ExpectRefused(Run(args), ::testing::PrintToString(args), {}, 2);
  EXPECT_EQ(Run({}).exit_code, 2);
  EXPECT_TRUE(testing::ReadAll(key) == testing::ReadAll(key));
}

TEST_F(RefusalTest, HelpAndVersion) {
  EXPECT_EQ(Run({"--help"}).exit_code, 0);
  EXPECT_EQ(Run({"prove", "--help"}).exit_code, 0);
  EXPECT_NE(Run({"prove", "--help"}).out.find("on their curves"), std::string::npos);
  EXPECT_EQ(Run({"--version"}).out.rfind("proofline 0.", 0), 0u);
  // Help on a full device is a failure like any other.
  for (const std::vector<std::string>& args : {std::vector<std::string>{"inspect", Sample("bn128", "multiplier.zkey")}, {"--help"}, {"prove", "--help"}, {"--version"}}) {
    Process::Spec spec = Spec(args);
    spec.stdout_file = "/dev/full";
    const Finished f = Process(spec).Wait();
    EXPECT_EQ(f.exit_code, 3) << args[0] << f;
    EXPECT_NE(f.err.find("No space left"), std::string::npos) << args[0] << f;
  }
}

// Too few descriptors, too small files: the machine is at fault, with words that name the limit, and nothing is left.
TEST_F(RefusalTest, TightLimits) {
  const std::string prove = "exec \"$PROOFLINE\" prove " + Sample("bn128", "multiplier.zkey") + " " + Sample("bn128", "multiplier.wtns") + " " + Path("proof.json") + " " + Path("public.json");
  int refused = 0;
  for (int files = 6; files <= 64; files += 2) {
    const std::string what = "ulimit -n " + std::to_string(files);
    const Finished f = Shell(what + "; " + prove);
    EXPECT_TRUE(Eventually([&] { return OurProcesses().empty() && RuntimeEntries().empty(); })) << what << " left " << ::testing::PrintToString(RuntimeEntries());
    if (f.exit_code == 0) {
      std::filesystem::remove(Path("proof.json"));
      std::filesystem::remove(Path("public.json"));
      continue;
    }
    ++refused;
    ExpectRefused(f, what, {"iles"}, 3);  // "too many open files", "the limit of open files"
  }
  EXPECT_GT(refused, 3);
  ExpectRefused(Shell("ulimit -f 1; " + prove), "ulimit -f", {"ile"}, 3);
}

TEST_F(RefusalTest, ADeviceThatIsNotThere) {
  if (std::filesystem::exists("/dev/nvidia7")) GTEST_SKIP();
  ExpectRefused(Run({"prove", Sample("bn128", "multiplier.zkey"), Sample("bn128", "multiplier.wtns"), Path("p"), Path("q"), "--device", "cuda:7"}), "no device", {"cuda:7", "no such CUDA device"}, 3);
}

TEST_F(RefusalTest, NoStackIsRunning) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"status"}, {"wait", "x"}, {"cancel", "x"}, {"circuit", "list"}, {"status", "--state", Path("nowhere")}})
    ExpectRefused(Run(args), args[0], {"no stack is running", "proofline up"}, 3);
}

}  // namespace
}  // namespace proofline::e2e
