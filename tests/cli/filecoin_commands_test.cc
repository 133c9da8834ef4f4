// verify, inspect and setup with Filecoin's files, as a person uses them.
#include <filesystem>

#include "core/formats/public_json.h"
#include "tests/cli/run_program.h"
#include "tests/core/formats/vector_file.h"

namespace proofline {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;
using testing::RunResult;

class FilecoinCommands : public ::testing::Test {
 protected:
  FilecoinCommands() {
    std::string pattern = (fs::temp_directory_path() / "proofline-filecoin-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    setenv("XDG_CACHE_HOME", Out("cache").c_str(), 1);
  }
  ~FilecoinCommands() override { fs::remove_all(folder_); }

  static RunResult Run(std::vector<std::string> args) {
    args.insert(args.begin(), PROOFLINE_PROGRAM);
    return testing::RunProgram(std::move(args));
  }
  static std::string In(const std::string& name) { return std::string(PROOFLINE_TEST_DATA) + "/filecoin/" + name; }
  std::string Out(const std::string& name) const { return folder_ + "/" + name; }
  std::string Write(const std::string& name, const Bytes& bytes) const {
    std::ofstream(Out(name), std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return Out(name);
  }
  std::string Write(const std::string& name, const std::string& text) const { return Write(name, Bytes(text.begin(), text.end())); }
  void ExpectFails(const RunResult& run, int code, const std::vector<std::string>& words) const {
    EXPECT_EQ(run.exit_code, code) << run.out << run.err;
    for (const std::string& word : words) EXPECT_NE(run.err.find(word), std::string::npos) << "\"" << word << "\" is not in: " << run.err;
  }

  // A third party's key, inputs and proof.
  struct Known {
    std::string vk, publics;
    Bytes proof;
  };
  Known ThirdParty(const std::string& kind) const {
    const auto line = FindVector("third-party.jsonl", "kind", kind);
    return {Write("vk", FromHex(line["vk"])), PublicToJson(FrsFromHex(line["public_inputs_le"])), FromHex(line["proof"])};
  }

  std::string folder_;
};

TEST_F(FilecoinCommands, VerifyTakesOthersProofs) {
  for (const char* kind : {"porep", "window"}) {
    const Known known = ThirdParty(kind);
    const std::string publics = Write("p.json", known.publics), proof = Write("proof.bin", known.proof);
    RunResult run = Run({"verify", "--filecoin", kind, known.vk, publics, proof});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, "OK\n");
    EXPECT_EQ(Run({"verify", "--filecoin", kind, "--sector-size", "2KiB", known.vk, publics, proof}).exit_code, 0);
    run = Run({"verify", "--filecoin", kind, known.vk, publics, proof, "--json"});
    EXPECT_NE(run.out.find("\"valid\": true"), std::string::npos) << run.out;
    ExpectFails(Run({"verify", "--filecoin", kind, "--sector-size", "32GiB", known.vk, publics, proof}), 1, {"expected"});
    // The same proof twice, of two partitions.
    Bytes twice = known.proof;
    twice.insert(twice.end(), known.proof.begin(), known.proof.end());
    const std::string both = Write("both.json", "[" + known.publics + "," + known.publics + "]");
    run = Run({"verify", "--filecoin", kind, known.vk, both, Write("both.bin", twice)});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    ExpectFails(Run({"verify", "--filecoin", kind, known.vk, publics, Out("both.bin")}), 1, {"has 2 proofs", "1 partitions"});
    // C of the second one negated.
    twice[192 + 144] ^= 0x20;
    ExpectFails(Run({"verify", "--filecoin", kind, known.vk, both, Write("both.bin", twice)}), 1, {"both.bin: proof 1 of 2", "not valid"});
  }
}

TEST_F(FilecoinCommands, VerifyRefuses) {
  const Known known = ThirdParty("porep"), window = ThirdParty("window");
  const std::string vk = Write("vk", FromHex(FindVector("third-party.jsonl", "kind", "porep")["vk"]));
  const std::string publics = Write("p.json", known.publics), proof = Write("proof.bin", known.proof);
  ExpectFails(Run({"verify", "--filecoin", "porep", vk, Write("q.json", window.publics), proof}), 1, {"22 public values", "39"});
  ExpectFails(Run({"verify", "--filecoin", "porep", vk, publics, Write("w.bin", window.proof)}), 1, {"w.bin", "not valid"});
  ExpectFails(Run({"verify", "--filecoin", "porep", vk, publics, Write("cut.bin", Bytes(known.proof.begin(), known.proof.end() - 1))}), 1,
              {"cut.bin: has 191 bytes"});
  ExpectFails(Run({"verify", "--filecoin", "porep", vk, Write("q.json", "[[1]]"), proof}), 1, {"partition 0: public signal 0"});
  ExpectFails(Run({"verify", "--filecoin", "porep", Write("k.vk", Bytes(900)), publics, proof}), 1, {"k.vk"});
  ExpectFails(Run({"verify", "--filecoin", "seal", vk, publics, proof}), 2, {});
  ExpectFails(Run({"verify", "--sector-size", "2KiB", vk, publics, proof}), 2, {});
  ExpectFails(Run({"verify", "--filecoin", "porep", "--sector-size", "3KiB", vk, publics, proof}), 1, {"sector"});
}

TEST_F(FilecoinCommands, InspectKnowsTheFiles) {
  RunResult run = Run({"inspect", In("silly-mul.params"), "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  auto report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report["kind"], "params");
  EXPECT_EQ(report["variables"], 4);
  EXPECT_EQ(report["public_inputs"], 1);
  EXPECT_EQ(report["domain"], 4);
  EXPECT_EQ(report["points"]["b_g2"], 1);
  run = Run({"inspect", In("porep-2KiB.fil2k-v1_1-a.vk"), "--json"});
  report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report["kind"], "vk");
  EXPECT_EQ(report["public_inputs"], 39);
  run = Run({"inspect", In("two.proof.bin"), "--json"});
  report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report["kind"], "proof bytes");
  EXPECT_EQ(report["partitions"], 2);
  EXPECT_TRUE(report["odd"].empty());
  run = Run({"inspect", In("parameters.json"), "--json"});
  EXPECT_EQ(nlohmann::json::parse(run.out)["files"], 44);
  Bytes cut = ReadVector("silly-mul.params");
  cut.resize(2000);
  ExpectFails(Run({"inspect", Write("c.params", cut)}), 1, {"c.params: b_g2", "left in the file"});
  ExpectFails(Run({"inspect", Write("x", Bytes(100, 1))}), 1, {"unknown kind of file"});
}

TEST_F(FilecoinCommands, PointsAreCheckedOnce) {
  const std::string key = Write("k.params", ReadVector("silly-mul.params"));
  for (bool before : {false, true}) {
    RunResult run = Run({"inspect", key, "--check-points", "--json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(nlohmann::json::parse(run.out)["points_checked_before"], before);
  }
  // (0, 2) in the place of the first point of h.
  Bytes bad = ReadVector("silly-mul.params");
  std::fill_n(bad.begin() + 1064, 96, 0);
  bad[1064 + 95] = 2;
  for (int i = 0; i < 2; ++i)
    ExpectFails(Run({"inspect", Write("k.params", bad), "--check-points"}), 1, {"h: point 0 of 3", "not in the subgroup"});
}

TEST_F(FilecoinCommands, TheManifestIsHeldAgainstTheFile) {
  const std::string key = Write("k.params", ReadVector("silly-mul.params"));
  auto manifest = [&](const std::string& name, const std::string& digest) {
    return Write("m.json", "{\"" + name + R"(": {"cid": "x", "digest": ")" + digest + R"(", "sector_size": 2048}})");
  };
  EXPECT_EQ(Run({"inspect", key, "--manifest", manifest("k.params", "b0134794711dc52daa23b9ff9025a996")}).exit_code, 0);
  ExpectFails(Run({"inspect", key, "--manifest", manifest("k.params", "b0134794711dc52daa23b9ff9025a997")}), 1, {"the manifest says"});
  ExpectFails(Run({"inspect", key, "--manifest", manifest("j.params", "b0134794711dc52daa23b9ff9025a996")}), 1, {"not in the manifest"});
}

TEST_F(FilecoinCommands, SetupMakesTheKnownKeyAndSaysSo) {
  auto setup = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {PROOFLINE_BENCH_PROGRAM, "setup"});
    return testing::RunProgram(std::move(args));
  };
  RunResult run = setup({"--circuit", "poseidon8-preimage", "--seed", "", "--out", Out("k.params"), "--vkey", Out("k.vk")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::ifstream vk(Out("k.vk"), std::ios::binary);
  EXPECT_EQ(Bytes(std::istreambuf_iterator<char>(vk), {}), ReadVector("poseidon8-preimage.vk"));
  run = Run({"inspect", Out("k.params"), "--json"});
  EXPECT_EQ(nlohmann::json::parse(run.out)["known_secret"], true);
  const auto line = FindVector("groth16.jsonl", "groth16", "poseidon8-preimage");
  run = Run({"verify", "--filecoin", "porep", Out("k.params"), Write("p", PublicToJson(FrsFromHex(line["inputs_le"]))),
             Write("proof", FromHex(line["proof_r_s"]))});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("a test key whose secret is known"), std::string::npos) << run.err;
  EXPECT_EQ(setup({"--circuit", "poseidon8-preimage", "--seed", "s", "--out", Out("k.zkey")}).exit_code, 2);
  EXPECT_EQ(setup({"--seed", "s", "--out", Out("j.params")}).exit_code, 2);
  EXPECT_EQ(setup({"--circuit", "no-such", "--seed", "s", "--out", Out("j.params")}).exit_code, 1);
  EXPECT_FALSE(fs::exists(Out("j.params")));
}

}  // namespace
}  // namespace proofline
