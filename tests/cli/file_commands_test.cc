// verify, inspect and check as a person uses them: the program, its exit codes, its words.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/decimal.h"
#include "core/formats/curve_prime.h"
#include "tests/cli/run_program.h"
#include "tests/core/formats/forge.h"

namespace proofline {
namespace {

using namespace testing;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class FileCommands : public ::testing::TestWithParam<CurveId> {
 protected:
  FileCommands() {
    std::string pattern = (fs::temp_directory_path() / "proofline-commands-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FileCommands() override { fs::remove_all(folder_); }

  static RunResult Run(std::vector<std::string> args) {
    args.insert(args.begin(), PROOFLINE_PROGRAM);
    return RunProgram(std::move(args));
  }
  std::string In(const std::string& file) const { return SamplePath(GetParam(), file); }
  std::string Out(const std::string& name) const { return folder_ + "/" + name; }
  std::string Write(const std::string& name, const Bytes& bytes) const {
    std::ofstream(Out(name), std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return Out(name);
  }
  std::string Write(const std::string& name, const std::string& text) const { return Write(name, Bytes(text.begin(), text.end())); }
  Json ReadJson(const std::string& file) const { return Json::parse(Text(ReadAll(In(file)))); }

  void ExpectFails(const RunResult& run, int code, const std::vector<std::string>& words) const {
    EXPECT_EQ(run.exit_code, code) << run.out << run.err;
    for (const std::string& word : words) EXPECT_NE(run.err.find(word), std::string::npos) << "\"" << word << "\" is not in: " << run.err;
  }
  std::string folder_;
};

std::string CurveCase(const ::testing::TestParamInfo<CurveId>& info) { return std::string(CurveJsonName(info.param)); }
INSTANTIATE_TEST_SUITE_P(Curves, FileCommands, ::testing::ValuesIn(kCurves), CurveCase);

TEST_P(FileCommands, VerifyTakesSnarkjssProofs) {
  for (std::string circuit : kCircuits) {
    RunResult run = Run({"verify", In(circuit + ".vk.json"), In(circuit + ".public.json"), In(circuit + ".proof.json")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, "OK\n");
    EXPECT_EQ(run.err, "");
    // The key's own file does as well.
    run = Run({"verify", In(circuit + ".zkey"), In(circuit + ".public.json"), In(circuit + ".proof.json"), "--json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    Json report = Json::parse(run.out);
    EXPECT_EQ(report["valid"], true);
    EXPECT_EQ(report["curve"], CurveJsonName(GetParam()));
  }
}

TEST_P(FileCommands, VerifyWritesCalldata) {
  RunResult run = Run({"verify", In("manypublic.vk.json"), In("manypublic.public.json"), In("manypublic.proof.json"), "--calldata", Out("c")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(ReadAll(Out("c")), ReadAll(DataPath("snarkjs/manypublic." + std::string(CurveJsonName(GetParam())) + ".calldata.txt")));
}

TEST_P(FileCommands, VerifyRefuses) {
  const std::string vk = In("multiplier.vk.json"), publics = In("multiplier.public.json"), proof = In("multiplier.proof.json");
  const CurveId other = GetParam() == CurveId::kBn254 ? CurveId::kBls12381 : CurveId::kBn254;
  // Another statement, another proof.
  ExpectFails(Run({"verify", vk, Write("p", R"(["34"])"), proof}), 1, {"multiplier.proof.json"});
  ExpectFails(Run({"verify", In("nopublic.vk.json"), In("nopublic.public.json"), proof}), 1, {"multiplier.proof.json"});
  // Wrong numbers.
  ExpectFails(Run({"verify", vk, Write("p", "[]"), proof}), 1, {"/p:", "has 0 public signals, expected 1"});
  ExpectFails(Run({"verify", vk, Write("p", R"(["33", "33"])"), proof}), 1, {"/p:", "has 2 public signals, expected 1"});
  ExpectFails(Run({"verify", vk, Write("p", "[\"" + ToDecimal(ScalarFieldPrime(GetParam())) + "\"]"), proof}), 1,
              {"/p: public signal 0", "expected less than r"});
  Json changed = ReadJson("multiplier.proof.json");
  changed["pi_a"][0] = ToDecimal(BaseFieldPrime(GetParam()));
  ExpectFails(Run({"verify", vk, publics, Write("q", changed.dump())}), 1, {"/q: pi_a[0]", "expected less than q"});
  // Off the curve.
  changed["pi_a"][0] = "5";
  ExpectFails(Run({"verify", vk, publics, Write("q", changed.dump())}), 1, {"/q: pi_a"});
  changed = ReadJson("multiplier.vk.json");
  changed["IC"][1][0] = "5";
  ExpectFails(Run({"verify", Write("v", changed.dump()), publics, proof}), 1, {"/v: ", "IC"});
  // Another protocol, another curve.
  changed = ReadJson("multiplier.vk.json");
  changed["protocol"] = "plonk";
  ExpectFails(Run({"verify", Write("v", changed.dump()), publics, proof}), 1, {"/v: protocol", "plonk"});
  ExpectFails(Run({"verify", vk, publics, SamplePath(other, "multiplier.proof.json")}), 1, {"multiplier.proof.json", "curve", "expected"});
  // Files that are something else or not there.
  ExpectFails(Run({"verify", In("multiplier.wtns"), publics, proof}), 1, {"multiplier.wtns: is wtns, expected json"});
  ExpectFails(Run({"verify", vk, publics, Out("none")}), 1, {"/none: no such file"});
  ExpectFails(Run({"verify", vk, Write("p", ""), proof}), 1, {"/p: is empty"});
  // Anything but white space after the one value.
  const std::string one = Text(ReadAll(publics)), zero(1, '\0');
  EXPECT_EQ(Run({"verify", vk, Write("p", one + " \t\r\n"), proof}).exit_code, 0);
  for (const std::string& tail : {zero, zero + "[\"34\"]", "\n" + zero, " \n" + zero + "\n", std::string("[\"34\"]"), std::string("x"), std::string(","), std::string("\x1a"), std::string("\xef\xbb\xbf")})
    ExpectFails(Run({"verify", vk, Write("p", one + tail), proof}), 1, {"/p: is no valid JSON"});
  for (const char* file : {"multiplier.vk.json", "multiplier.proof.json"}) {
    const std::string q = Write("q", Text(ReadAll(In(file))) + zero + "{}");
    const bool is_key = std::string(file) == "multiplier.vk.json";
    ExpectFails(Run({"verify", is_key ? q : vk, publics, is_key ? proof : q}), 1, {"/q: is no valid JSON"});
    ExpectFails(Run({"inspect", q}), 1, {"/q: is no valid JSON"});
  }
  // Nothing is written for a proof that is not valid.
  ExpectFails(Run({"verify", vk, Write("p", R"(["34"])"), proof, "--calldata", Out("c")}), 1, {});
  EXPECT_FALSE(fs::exists(Out("c")));
  RunResult run = Run({"verify", vk, Write("p", R"(["34"])"), proof, "--json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(Json::parse(run.out)["valid"], false);
  EXPECT_EQ(Json::parse(run.out)["error"]["code"], "invalid-proof");
}

TEST_P(FileCommands, VerifyRefusesAKeyWithoutContribution) {
  Json key = ReadJson("multiplier.vk.json");
  key["vk_delta_2"] = key["vk_gamma_2"];
  std::string path = Write("v", key.dump());
  ExpectFails(Run({"verify", path, In("multiplier.public.json"), In("multiplier.proof.json")}), 1,
              {"/v: is unsafe", "gamma2 and delta2", "--allow-unsafe-key"});
  // Let through, the proof is another key's.
  RunResult run = Run({"verify", path, In("multiplier.public.json"), In("multiplier.proof.json"), "--allow-unsafe-key"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("warning"), std::string::npos);
  EXPECT_EQ(run.err.find("--allow-unsafe-key"), std::string::npos);
}

TEST_P(FileCommands, UsageIsExitTwo) {
  ExpectFails(Run({"verify", In("multiplier.vk.json")}), 2, {});
  ExpectFails(Run({"inspect"}), 2, {});
  ExpectFails(Run({"check", "--r1cs", In("multiplier.r1cs")}), 2, {});
  ExpectFails(Run({"inspect", In("multiplier.wtns"), "--check-points"}), 2, {"is wtns"});
}

TEST_P(FileCommands, NothingOverwritesItsInputs) {
  const Bytes key = Sample(GetParam(), "multiplier.zkey"), publics = Sample(GetParam(), "multiplier.public.json"), proof = Sample(GetParam(), "multiplier.proof.json");
  const std::string k = Write("k", key), p = Write("p", publics), q = Write("q", proof);
  fs::create_hard_link(k, Out("l"));
  const auto other_name = [&](const std::string& name) { return folder_ + "/./" + name; };
  ExpectFails(Run({"inspect", k, "--export-vkey", other_name("k")}), 2, {"is the input"});
  ExpectFails(Run({"inspect", k, "--export-vkey", Out("l")}), 2, {"is the input"});
  for (const char* name : {"k", "l", "p", "q"}) ExpectFails(Run({"verify", k, p, q, "--calldata", other_name(name)}), 2, {"is the input"});
  EXPECT_EQ(ReadAll(k), key);
  EXPECT_EQ(ReadAll(p), publics);
  EXPECT_EQ(ReadAll(q), proof);
}

TEST_P(FileCommands, InspectTellsEachKind) {
  auto inspect = [&](const std::string& path) {
    RunResult run = Run({"inspect", path, "--json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(Run({"inspect", path}).exit_code, 0);
    return Json::parse(run.out);
  };
  const std::string curve(CurveJsonName(GetParam()));
  Json key = inspect(In("manypublic.zkey"));
  EXPECT_EQ(key["kind"], "zkey");
  EXPECT_EQ(key["curve"], curve);
  EXPECT_EQ(key["signals"], 59);
  EXPECT_EQ(key["public_signals"], 42);
  EXPECT_EQ(key["domain"], 64);
  EXPECT_EQ(key["contributions"], 1);
  EXPECT_EQ(key["unsafe"], false);
  EXPECT_EQ(key["odd"], Json::array());
  EXPECT_GT(key["points_at_infinity"]["a"], 0);
  EXPECT_EQ(key["constraints"], inspect(In("manypublic.r1cs"))["constraints"]);

  Json fresh = inspect(In("multiplier.nocontribution.zkey"));
  EXPECT_EQ(fresh["unsafe"], true);
  EXPECT_EQ(fresh["contributions"], 0);
  EXPECT_NE(fresh["odd"].dump().find("UNSAFE"), std::string::npos);
  EXPECT_NE(fresh["odd"].dump().find("order"), std::string::npos);

  Json witness = inspect(In("multiplier.wtns"));
  EXPECT_EQ(witness["kind"], "wtns");
  EXPECT_EQ(witness["values"], 4);
  EXPECT_EQ(inspect(In("multiplier.proof.json"))["kind"], "proof");
  EXPECT_EQ(inspect(In("multiplier.vk.json"))["kind"], "verification key");
  EXPECT_EQ(inspect(In("manypublic.public.json"))["public_signals"], 42);
  EXPECT_EQ(inspect(DataPath("ptau/power1." + curve + ".ptau"))["power"], 1);

  Json rapidsnark = ReadJson("multiplier.proof.json");
  rapidsnark.erase("curve");
  EXPECT_EQ(inspect(Write("q", rapidsnark.dump()))["curve"], curve);
}

TEST_P(FileCommands, InspectNamesWhatIsOdd) {
  Forge forge = Forge::Of(Sample(GetParam(), "multiplier.zkey"));
  Bytes record(8);
  Put<uint32_t>(record, 0, 1);
  Put<uint32_t>(record, 4, 1);
  for (char c : std::string("seed 7")) record.push_back(static_cast<uint8_t>(c));
  forge.Add(0x50524c4b, record);
  forge.Add(99, Bytes(3));
  forge.Remove(10);
  forge.tail = Bytes(4);
  std::string path = Write("k", forge.Build());
  RunResult run = Run({"inspect", path});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* word : {"UNSAFE: a test key whose secret is known: seed 7", "unknown section 99 of 3 bytes", "4 bytes after the last section",
                           "section 10 (contributions) is missing", "known_secret: true"})
    EXPECT_NE(run.out.find(word), std::string::npos) << word << " is not in " << run.out;
  // The fact travels to the verification key, and verify tells it.
  ASSERT_EQ(Run({"inspect", path, "--export-vkey", Out("v")}).exit_code, 0);
  for (const std::string& key : {path, Out("v")}) {
    run = Run({"verify", key, In("multiplier.public.json"), In("multiplier.proof.json")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.err.find("secret is known (seed 7)"), std::string::npos) << run.err;
  }
}

TEST_P(FileCommands, InspectPrintsNoWitnessValue) {
  Forge forge = Forge::Of(Sample(GetParam(), "multiplier.wtns"));
  std::fill_n(forge[2].begin() + 96, 31, 0x5a);
  forge[2][127] = 0xff;  // not below r
  RunResult run = Run({"inspect", Write("w", forge.Build())});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.out.find("INVALID: 1 values are not below r, the first is value 3"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find(ToDecimal(ByteSpan(forge[2]).subspan(96, 32))), std::string::npos);
}

TEST_P(FileCommands, ExportedKeyIsSnarkjssByteForByte) {
  for (std::string circuit : kCircuits) {
    RunResult run = Run({"inspect", In(circuit + ".zkey"), "--export-vkey", Out("v"), "--check-points"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(ReadAll(Out("v")), ReadAll(In(circuit + ".vk.json")));
  }
}

TEST_P(FileCommands, InspectRefusesDamage) {
  ExpectFails(Run({"inspect", Write("e", "")}), 1, {"/e: is empty, expected"});
  ExpectFails(Run({"inspect", Write("e", "hello")}), 1, {"/e: is unknown kind of file"});
  ExpectFails(Run({"inspect", Write("e", "{\"a\": 1}")}), 1, {"/e: is JSON, but neither"});
  Bytes file = Sample(GetParam(), "multiplier.zkey");
  file.resize(file.size() - 1);
  ExpectFails(Run({"inspect", Write("e", file)}), 1, {"/e: section 10", "left in the file"});
  Forge forge = Forge::Of(Sample(GetParam(), "multiplier.zkey"));
  forge[5][0] ^= 1;
  std::string path = Write("k", forge.Build());
  EXPECT_EQ(Run({"inspect", path}).exit_code, 0);
  ExpectFails(Run({"inspect", path, "--check-points"}), 1, {"/k: ", "section 5"});
}

TEST_P(FileCommands, CheckFindsTheFirstUnsatisfiedConstraint) {
  for (std::string circuit : kCircuits) {
    RunResult run = Run({"check", "--r1cs", In(circuit + ".r1cs"), "--witness", In(circuit + ".wtns")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out.substr(0, 2), "OK");
  }
  Forge forge = Forge::Of(Sample(GetParam(), "multiplier.wtns"));
  Put<uint32_t>(forge[2], 32, 1234567);
  std::string path = Write("w", forge.Build());
  RunResult run = Run({"check", "--r1cs", In("multiplier.r1cs"), "--witness", path});
  ExpectFails(run, 1, {"/w: does not satisfy", "constraint 0 is the first of 1 unsatisfied ones of 1", "-1 * w[2]", "-1 * w[1]"});
  EXPECT_EQ(run.err.find("1234567"), std::string::npos) << "a witness value was printed";
  ExpectFails(Run({"check", "--r1cs", In("multiplier.r1cs"), "--witness", path, "--show-values"}), 1, {"w[1] (1234567)"});
  run = Run({"check", "--r1cs", In("multiplier.r1cs"), "--witness", path, "--json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(Json::parse(run.out)["first_unsatisfied"], 0);
  EXPECT_EQ(Json::parse(run.out)["satisfied"], false);
}

TEST_P(FileCommands, CheckRefuses) {
  const CurveId other = GetParam() == CurveId::kBn254 ? CurveId::kBls12381 : CurveId::kBn254;
  ExpectFails(Run({"check", "--r1cs", In("manypublic.r1cs"), "--witness", In("multiplier.wtns")}), 1, {"has 4 values, expected 59"});
  ExpectFails(Run({"check", "--r1cs", In("multiplier.r1cs"), "--witness", SamplePath(other, "multiplier.wtns")}), 1, {"is for the curve"});
  ExpectFails(Run({"check", "--r1cs", In("multiplier.wtns"), "--witness", In("multiplier.r1cs")}), 1, {"is wtns, expected r1cs"});
  Forge forge = Forge::Of(Sample(GetParam(), "multiplier.wtns"));
  PutBytes(forge[2], 64, ScalarFieldPrime(GetParam()));
  ExpectFails(Run({"check", "--r1cs", In("multiplier.r1cs"), "--witness", Write("w", forge.Build())}), 1, {"/w: ", "value 2", "not below"});
  forge = Forge::Of(Sample(GetParam(), "multiplier.wtns"));
  forge[2][0] = 2;
  ExpectFails(Run({"check", "--r1cs", In("multiplier.r1cs"), "--witness", Write("w", forge.Build())}), 1, {"/w: ", "value 0 is not 1"});
}

TEST_P(FileCommands, EndlessStreamIsRefusedByItsFirstBytes) {
  const std::string vk = In("multiplier.vk.json"), publics = In("multiplier.public.json"), proof = In("multiplier.proof.json"), zero = "/dev/zero";
  const std::string r1cs = In("multiplier.r1cs"), wtns = In("multiplier.wtns"), zkey = In("multiplier.zkey");
  const auto refuses = [&](const std::vector<std::string>& args, const std::string& expected) {
    const auto start = std::chrono::steady_clock::now();
    ExpectFails(Run(args), 1, {"/dev/zero: is unknown kind of file, expected " + expected, "<0><0><0><0>"});
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << args[0];
  };
  refuses({"inspect", zero}, "zkey, wtns, r1cs, ptau, wasm or json");
  refuses({"verify", zero, publics, proof}, "json or zkey");
  refuses({"verify", vk, zero, proof}, "json");
  refuses({"verify", vk, publics, zero}, "json");
  refuses({"check", "--r1cs", zero, "--witness", wtns}, "r1cs");
  refuses({"check", "--r1cs", r1cs, "--witness", zero}, "wtns");
  refuses({"prove", zero, wtns, Out("p"), Out("q")}, "zkey");
  refuses({"prove", zkey, zero, Out("p"), Out("q")}, "wtns");
}

TEST_P(FileCommands, StreamIsReadAsTheFileItIs) {
  const auto piped = [&](const std::string& source, const std::string& args) {
    return RunProgram({"/bin/sh", "-c", "(" + source + ") 2>/dev/null | " PROOFLINE_PROGRAM " " + args});
  };
  for (const char* file : {"multiplier.zkey", "multiplier.wtns", "multiplier.r1cs", "multiplier.proof.json"}) {
    RunResult run = piped("cat " + In(file), "inspect /dev/stdin");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out.substr(run.out.find('\n')), Run({"inspect", In(file)}).out.substr(Run({"inspect", In(file)}).out.find('\n')));
  }
  const std::string check = "check --r1cs " + In("multiplier.r1cs") + " --witness /dev/stdin";
  EXPECT_EQ(piped("cat " + In("multiplier.wtns"), check).exit_code, 0);
  EXPECT_EQ(piped("printf '                  '; cat " + In("multiplier.proof.json"), "inspect /dev/stdin").exit_code, 0);
  ExpectFails(piped("true", check), 1, {"/dev/stdin: is empty, a wtns file is expected"});
  ExpectFails(piped("printf wtns", check), 1, {"/dev/stdin: has 4 bytes, expected at least 12"});
  // The right start, then without end: bounded by the header or by what the circuit can need.
  ExpectFails(piped("printf r1cs; cat /dev/zero", "inspect /dev/stdin"), 1, {"/dev/stdin: r1cs version is 0"});
  ExpectFails(piped("cat " + In("multiplier.wtns") + " /dev/zero", check), 1, {"/dev/stdin: more than 1048704 bytes came from a stream"});
  ExpectFails(piped("yes ''", "verify /dev/stdin " + In("multiplier.public.json") + " " + In("multiplier.proof.json")), 1, {"bytes came from a stream"});
}

// The program has the constraints mapped while it waits for the witness from a FIFO; there the file is cut.
TEST_P(FileCommands, FileThatBecomesShorterIsNamed) {
  for (bool json : {false, true}) {
    const std::string r1cs = Write("c", Sample(GetParam(), "multiplier.r1cs")), fifo = Out(json ? "f1" : "f2");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    std::thread writer([&] {
      std::ofstream out(fifo, std::ios::binary);  // opens when the program does
      fs::resize_file(r1cs, 5);
      const Bytes witness = Sample(GetParam(), "multiplier.wtns");
      out.write(reinterpret_cast<const char*>(witness.data()), static_cast<std::streamsize>(witness.size()));
    });
    std::vector<std::string> args = {"check", "--r1cs", r1cs, "--witness", fifo};
    if (json) args.push_back("--json");
    RunResult run = Run(args);
    writer.join();
    ExpectFails(run, 1, {"/c: became shorter while it was read"});
    if (!json) continue;
    const Json report = Json::parse(run.out);
    EXPECT_EQ(report["error"]["fact"], r1cs + ": became shorter while it was read");
    EXPECT_FALSE(report.contains("unsatisfied_count"));
  }
}

}  // namespace
}  // namespace proofline
