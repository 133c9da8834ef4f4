// `proofline prove` through its private stack of real processes: what must work.
#include <csignal>
#include <fcntl.h>
#include <fstream>

#include "core/formats/vkey_json.h"
#include "core/formats/zkey.h"
#include "core/groth16/backend.h"
#include "tests/core/formats/forge.h"
#include "tests/e2e/harness.h"

namespace proofline::e2e {
namespace {

using testing::Bytes;
using testing::Forge;

class ProveTest : public E2eTest {
 protected:
  Finished Prove(const std::string& key, const std::string& witness, std::vector<std::string> extra = {}) const {
    std::vector<std::string> args{"prove", key, witness, Path("proof.json"), Path("public.json")};
    args.insert(args.end(), extra.begin(), extra.end());
    return Run(args);
  }
  void ExpectVerifies(const std::string& vk) const {
    const Finished f = Run({"verify", vk, Path("public.json"), Path("proof.json")});
    EXPECT_EQ(f.exit_code, 0) << f;
  }
  // The verification key inside a proving key, as a file.
  std::string ExportVkey(const std::string& zkey_path) const {
    const Bytes file = testing::ReadAll(zkey_path);
    auto key = ReadZkey(file, zkey_path);
    EXPECT_TRUE(key.ok());
    const Backend& backend = GetBackend(key->view.curve);
    auto vk = backend.ExtractVerificationKey(key->view);
    EXPECT_TRUE(vk.ok());
    std::ofstream(Path("vk.json")) << VerificationKeyToJson(*vk, backend.AlphaBeta(*vk));
    return Path("vk.json");
  }
};

TEST_F(ProveTest, EverySampleVerifiesAndHasSnarkjssPublicSignals) {
  for (const std::string curve : {"bn128", "bls12381"}) {
    for (const std::string circuit : {"multiplier", "nopublic", "manypublic"}) {
      const Finished f = Prove(Sample(curve, circuit + ".zkey"), Sample(curve, circuit + ".wtns"));
      ASSERT_EQ(f.exit_code, 0) << curve << " " << circuit << f;
      EXPECT_EQ(f.out, "");
      EXPECT_EQ(f.err, "");
      ExpectVerifies(Sample(curve, circuit + ".vk.json"));
      EXPECT_EQ(nlohmann::json::parse(Read("public.json")), nlohmann::json::parse(Read(Sample(curve, circuit + ".public.json"))));
    }
  }
}

TEST_F(ProveTest, ProofsAreBlindedAfresh) {
  ASSERT_EQ(Prove(Sample("bn128", "multiplier.zkey"), Sample("bn128", "multiplier.wtns")).exit_code, 0);
  const std::string first = Read("proof.json");
  ASSERT_EQ(Prove(Sample("bn128", "multiplier.zkey"), Sample("bn128", "multiplier.wtns")).exit_code, 0);
  EXPECT_NE(first, Read("proof.json"));
}

TEST_F(ProveTest, CalldataAndVerbose) {
  const Finished f = Prove(Sample("bn128", "multiplier.zkey"), Sample("bn128", "multiplier.wtns"), {"--calldata", Path("calldata"), "--verbose", "--device", "cpu"});
  ASSERT_EQ(f.exit_code, 0) << f;
  EXPECT_NE(f.err.find("device cpu"), std::string::npos) << f;
  const std::string calldata = Read("calldata");
  EXPECT_EQ(calldata.rfind("[\"0x", 0), 0u) << calldata;
  EXPECT_EQ(nlohmann::json::parse("[" + calldata + "]").size(), 4u);
}

TEST_F(ProveTest, AnUnsafeKeyIsProvedWithALoudWarningAndNotVerified) {
  for (const std::string curve : {"bn128", "bls12381"}) {
    const std::string key = Sample(curve, "multiplier.nocontribution.zkey");
    const Finished f = Prove(key, Sample(curve, "multiplier.wtns"));
    ASSERT_EQ(f.exit_code, 0) << f;
    EXPECT_NE(f.err.find("UNSAFE KEY"), std::string::npos) << f;
    const std::string vk = ExportVkey(key);
    EXPECT_EQ(Run({"verify", vk, Path("public.json"), Path("proof.json")}).exit_code, 1);
    EXPECT_EQ(Run({"verify", "--allow-unsafe-key", vk, Path("public.json"), Path("proof.json")}).exit_code, 0);
  }
}

TEST_F(ProveTest, AKeyThatSaysItsSecretIsKnownIsWarnedAbout) {
  Forge forge = Forge::Of(testing::ReadAll(Sample("bn128", "multiplier.zkey")));
  Bytes record(8);
  testing::Put<uint32_t>(record, 0, zkey::kRecordVersion);
  testing::Put<uint32_t>(record, 4, zkey::kFlagKnownSecret);
  forge.Add(zkey::kProofline, record);
  Write("test.zkey", forge.Build());
  const Finished f = Prove(Path("test.zkey"), Sample("bn128", "multiplier.wtns"));
  ASSERT_EQ(f.exit_code, 0) << f;
  EXPECT_NE(f.err.find("TEST KEY"), std::string::npos) << f;
  ExpectVerifies(Sample("bn128", "multiplier.vk.json"));
}

TEST_F(ProveTest, SectionsInAnyOrderAndUnknownOnes) {
  Forge forge = Forge::Of(testing::ReadAll(Sample("bn128", "manypublic.zkey")));
  std::reverse(forge.parts.begin(), forge.parts.end());
  forge.parts.insert(forge.parts.begin() + 2, {77, Bytes(5)});
  Write("odd.zkey", forge.Build());
  ASSERT_EQ(Prove(Path("odd.zkey"), Sample("bn128", "manypublic.wtns")).exit_code, 0);
  ExpectVerifies(Sample("bn128", "manypublic.vk.json"));
}

TEST_F(ProveTest, InputsFromStdinAndFromPipes) {
  const std::string key = Sample("bn128", "manypublic.zkey"), witness = Sample("bn128", "manypublic.wtns"), vk = Sample("bn128", "manypublic.vk.json");
  const std::string outputs = " " + Path("proof.json") + " " + Path("public.json");
  for (const std::string& script :
       {"$PROOFLINE prove /dev/stdin " + witness + outputs + " < " + key, "cat " + key + " | $PROOFLINE prove /dev/stdin " + witness + outputs,
        "$PROOFLINE prove " + key + " <(cat " + witness + ")" + outputs, "$PROOFLINE prove <(cat " + key + ") <(cat " + witness + ")" + outputs,
        "cd /; $PROOFLINE prove /proc/self/fd/3 /dev/fd/4" + outputs + " 3<" + key + " 4<" + witness}) {
    std::filesystem::remove(Path("proof.json"));
    const Finished f = Shell(script);
    ASSERT_EQ(f.exit_code, 0) << script << f;
    ExpectVerifies(vk);
  }
}

TEST_F(ProveTest, OutputsToPipes) {
  const Finished f = Shell("$PROOFLINE prove " + Sample("bn128", "multiplier.zkey") + " " + Sample("bn128", "multiplier.wtns") + " /dev/stdout " + Path("public.json"));
  ASSERT_EQ(f.exit_code, 0) << f;
  EXPECT_EQ(nlohmann::json::parse(f.out)["protocol"], "groth16");
}

TEST_F(ProveTest, RelativePathsAndNamesWithSpaces) {
  std::filesystem::create_directory(Path("a b"));
  std::filesystem::copy(Sample("bn128", "multiplier.zkey"), Path("a b/k y.zkey"));
  std::filesystem::copy(Sample("bn128", "multiplier.wtns"), Path("a b/w.wtns"));
  const Finished f = Shell("cd '" + Path("a b") + "' && $PROOFLINE prove './k y.zkey' w.wtns p.json ../public.json");
  ASSERT_EQ(f.exit_code, 0) << f;
  EXPECT_TRUE(Exists("a b/p.json") && Exists("public.json"));
}

TEST_F(ProveTest, ReplacesOldOutputsAndFollowsLinks) {
  std::ofstream(Path("proof.json")) << "old";
  std::filesystem::create_directory(Path("elsewhere"));
  std::ofstream(Path("elsewhere/public.json")) << "old";
  std::filesystem::create_symlink(Path("elsewhere/public.json"), Path("public.json"));
  ASSERT_EQ(Prove(Sample("bn128", "multiplier.zkey"), Sample("bn128", "multiplier.wtns")).exit_code, 0);
  EXPECT_NE(Read("proof.json"), "old");
  EXPECT_NE(Read("elsewhere/public.json"), "old");
  EXPECT_TRUE(std::filesystem::is_symlink(Path("public.json")));
}

TEST_F(ProveTest, ManyPrivateStacksSideBySide) {
  std::vector<std::unique_ptr<Process>> all;
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    all.push_back(std::make_unique<Process>(Spec({"prove", Sample("bn128", "manypublic.zkey"), Sample("bn128", "manypublic.wtns"), Path("p" + n), Path("q" + n)})));
  }
  for (int i = 0; i < 4; ++i) {
    const Finished f = all[i]->Wait();
    EXPECT_EQ(f.exit_code, 0) << f;
    EXPECT_EQ(Run({"verify", Sample("bn128", "manypublic.vk.json"), Path("q" + std::to_string(i)), Path("p" + std::to_string(i))}).exit_code, 0);
  }
}

TEST_F(ProveTest, ANonDefaultUmaskAndAReadOnlyInputFolder) {
  const Finished f = Shell("umask 077; $PROOFLINE prove " + Sample("bn128", "multiplier.zkey") + " " + Sample("bn128", "multiplier.wtns") + " " + Path("proof.json") + " " + Path("public.json"));
  ASSERT_EQ(f.exit_code, 0) << f;
  EXPECT_EQ(std::filesystem::status(Path("proof.json")).permissions(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace
}  // namespace proofline::e2e
