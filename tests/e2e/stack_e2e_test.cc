// A running stack: circuits, jobs of several partitions, ids, priorities, deadlines, cancelling, restarts.
#include <csignal>
#include <fstream>

#include "core/formats/curve_prime.h"
#include "tests/core/formats/forge.h"
#include "tests/e2e/harness.h"

namespace proofline::e2e {
namespace {

using nlohmann::json;
using testing::Bytes;
using testing::Forge;

class RunningStackTest : public StackTest {
 protected:
  void Add(const std::string& name, const std::string& key, std::vector<std::string> extra = {}) const {
    std::vector<std::string> args{"circuit", "add", name, "--key", key};
    args.insert(args.end(), extra.begin(), extra.end());
    const Finished f = Cli(args);
    ASSERT_EQ(f.exit_code, 0) << f;
  }
  void AddMultiplier() const { Add("mul", Sample("bn128", "multiplier.zkey")); }
  std::string Witness() const { return Sample("bn128", "multiplier.wtns"); }
  void ExpectProof(const std::string& folder, const std::string& curve, const std::string& circuit) const {
    const Finished f = Run({"verify", Sample(curve, circuit + ".vk.json"), Path(folder + "/public.json"), Path(folder + "/proof.json")});
    EXPECT_EQ(f.exit_code, 0) << folder << f;
  }
  void ExpectBalance() const {
    json status = Status();
    for (const char* what : {"jobs", "partitions"}) {
      const json& c = status[what];
      EXPECT_EQ(c["accepted"].get<uint64_t>(), c["finished"].get<uint64_t>() + c["failed"].get<uint64_t>() + c["cancelled"].get<uint64_t>() + c["live"].get<uint64_t>()) << status;
    }
  }
  void ExpectAllSlotsFree() const {
    EXPECT_TRUE(Eventually([&] {
      json status = Status();
      for (const auto& slot : status["slots"])
        if (slot["state"] != "free") return false;
      return true;
    })) << Status();
  }
  std::string BadWitness() const {
    Forge witness = Forge::Of(testing::ReadAll(Witness()));
    witness[2][2 * 32] ^= 1;
    Write("bad.wtns", witness.Build());
    return Path("bad.wtns");
  }
};

TEST_F(RunningStackTest, JobsOfSeveralPartitionsOnBothCurves) {
  ASSERT_NO_FATAL_FAILURE(Up({"--synth", "2"}));
  Add("mul", Sample("bn128", "multiplier.zkey"));
  Add("many", Sample("bls12381", "manypublic.zkey"), {"--r1cs", Sample("bls12381", "manypublic.r1cs")});
  const std::string a = Submit({"--circuit", "mul", "--witness", Witness(), Witness(), Witness()});
  const std::string many = Sample("bls12381", "manypublic.wtns");
  const std::string b = Submit({"--circuit", "many", "--witness", many, "--witness", many, "--priority", "high"});
  EXPECT_NE(a, b);
  Finished f = Cli({"wait", a, "--out", Path("a"), "--timeout", "60s"});
  ASSERT_EQ(f.exit_code, 0) << f;
  EXPECT_NE(f.out.find("partition 2: done"), std::string::npos) << f;
  EXPECT_NE(f.out.find("wait "), std::string::npos) << f;
  EXPECT_NE(f.out.find("work "), std::string::npos) << f;
  f = Cli({"wait", b, "--out", Path("b"), "--json"});
  ASSERT_EQ(f.exit_code, 0) << f;
  const json job = json::parse(f.out);
  EXPECT_EQ(job["state"], "done");
  EXPECT_EQ(job["priority"], "high");
  ASSERT_EQ(job["partitions"].size(), 2u);
  EXPECT_GE(job["partitions"][0]["stages"].size(), 2u);
  EXPECT_TRUE(job["partitions"][0]["error"].is_null());
  for (int i = 0; i < 3; ++i) ExpectProof("a/" + std::to_string(i), "bn128", "multiplier");
  for (int i = 0; i < 2; ++i) ExpectProof("b/" + std::to_string(i), "bls12381", "manypublic");
  ExpectBalance();
  json status = Status();
  EXPECT_EQ(status["jobs"]["finished"], 2);
  EXPECT_EQ(status["partitions"]["finished"], 5);
  EXPECT_EQ(status["workers"].size(), 3u);
  ExpectAllSlotsFree();
  // Waiting again gives the same proofs.
  const std::string first = Read("a/0/proof.json");
  ASSERT_EQ(Cli({"wait", a, "--out", Path("again")}).exit_code, 0);
  EXPECT_EQ(Read("again/0/proof.json"), first);
}

TEST_F(RunningStackTest, CircuitsAreListedShownAndRemoved) {
  ASSERT_NO_FATAL_FAILURE(Up());
  EXPECT_NE(Cli({"circuit", "list"}).out.find("no circuits"), std::string::npos);
  AddMultiplier();
  Add("copied", Sample("bls12381", "manypublic.zkey"), {"--copy"});
  const json list = json::parse(Cli({"circuit", "list", "--json"}).out);
  ASSERT_EQ(list.size(), 2u);
  const json copied = json::parse(Cli({"circuit", "show", "copied", "--json"}).out);
  EXPECT_EQ(copied["curve"], "bls12381");
  EXPECT_EQ(copied["domain"], 64);
  EXPECT_EQ(copied["public"], 42);
  const json plan = json::parse(Cli({"circuit", "show", "copied", "--plan", "--vram", "16GiB", "--json"}).out);
  EXPECT_EQ(plan["prestage"]["planned"], true);
  EXPECT_EQ(plan["capacity_bytes"], 16178604933ull);
  EXPECT_NE(Cli({"circuit", "show", "copied", "--plan", "--vram", "24GB"}).out.find("all of the key is resident"), std::string::npos);
  EXPECT_EQ(Cli({"circuit", "show", "copied", "--plan", "--vram", "64KiB"}).exit_code, 1);
  EXPECT_EQ(Cli({"circuit", "show", "copied", "--plan", "--device", "cpu"}).exit_code, 1);
  EXPECT_EQ(Cli({"circuit", "show", "copied", "--vram", "16GiB"}).exit_code, 2);
  EXPECT_EQ(Cli({"circuit", "show", "copied", "--plan", "--vram", "16"}).exit_code, 2);
  const std::string copy = copied["key"];
  EXPECT_EQ(copy.rfind(State() + "/keys/", 0), 0u) << copy;
  EXPECT_TRUE(std::filesystem::exists(copy));
  EXPECT_EQ(Cli({"circuit", "remove", "copied"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_EQ(Cli({"circuit", "show", "copied"}).exit_code, 1);
  EXPECT_EQ(Cli({"circuit", "remove", "copied"}).exit_code, 1);
  // The same again is fine, another key or other constraints under the name are not.
  EXPECT_EQ(Cli({"circuit", "add", "mul", "--key", Sample("bn128", "multiplier.zkey")}).out.rfind("unchanged circuit mul", 0), 0u);
  Finished f = Cli({"circuit", "add", "mul", "--key", Sample("bn128", "manypublic.zkey")});
  EXPECT_EQ(f.exit_code, 1) << f;
  EXPECT_NE(f.err.find("\"mul\" is known with another key"), std::string::npos) << f;
  f = Cli({"circuit", "add", "mul", "--key", Sample("bn128", "multiplier.zkey"), "--r1cs", Sample("bn128", "multiplier.r1cs")});
  EXPECT_EQ(f.exit_code, 1) << f;
  EXPECT_NE(f.err.find("another .r1cs"), std::string::npos) << f;
  EXPECT_NE(f.err.find("known: none; now: /"), std::string::npos) << f;
}

TEST_F(RunningStackTest, AKeyThatMovedIsUpdated) {
  namespace fs = std::filesystem;
  ASSERT_NO_FATAL_FAILURE(Up());
  fs::copy(Sample("bn128", "multiplier.zkey"), Path("a.zkey"));
  Add("mul", Path("a.zkey"));
  const auto fails = [&] { return Cli({"wait", Submit({"--circuit", "mul", "--witness", Witness()})}).exit_code != 0; };
  const auto updated = [&](const std::string& key, std::vector<std::string> extra = {}) {
    std::vector<std::string> args{"circuit", "add", "mul", "--key", key};
    args.insert(args.end(), extra.begin(), extra.end());
    const Finished f = Cli(args);
    EXPECT_EQ(f.exit_code, 0) << f;
    EXPECT_EQ(f.out.rfind("updated circuit mul", 0), 0u) << f;
    EXPECT_FALSE(fails()) << key;
  };
  EXPECT_FALSE(fails());
  // Another time.
  fs::last_write_time(Path("a.zkey"), fs::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_TRUE(fails());
  updated(Path("a.zkey"));
  // Another place, which the journal keeps.
  fs::rename(Path("a.zkey"), Path("b.zkey"));
  updated(Path("b.zkey"));
  EXPECT_EQ(Down().signal, 0);
  ASSERT_NO_FATAL_FAILURE(Up());
  EXPECT_EQ(json::parse(Cli({"circuit", "show", "mul", "--json"}).out)["key"], fs::canonical(Path("b.zkey")).string());
  EXPECT_FALSE(fails());
  // The stack's own copy, and away from it: it goes with the circuit all the same.
  updated(Path("b.zkey"), {"--copy"});
  EXPECT_FALSE(fs::is_empty(State() + "/keys"));
  updated(Path("b.zkey"));
  // A proof with the same key takes the circuit with it.
  fs::rename(Path("b.zkey"), Path("c.zkey"));
  const Finished f = Cli({"prove", Path("c.zkey"), Witness(), Path("p"), Path("q")});
  EXPECT_EQ(f.exit_code, 0) << f;
  EXPECT_FALSE(fails());
  EXPECT_EQ(json::parse(Cli({"circuit", "list", "--json"}).out).size(), 1u);
  EXPECT_EQ(Cli({"circuit", "remove", "mul"}).exit_code, 0);
  EXPECT_TRUE(fs::is_empty(State() + "/keys"));
}

TEST_F(RunningStackTest, AddRefusesWhatProveMayTake) {
  ASSERT_NO_FATAL_FAILURE(Up());
  // On BLS12-381 a point of the curve outside the subgroup: (x, y) with y found for a small x would need a square root; the
  // point (0, 2) is on y^2 = x^3 + 4 and has order 3.
  for (const uint32_t section : {5u, 6u, 8u, 9u}) {
    Forge key = Forge::Of(testing::ReadAll(Sample("bls12381", "multiplier.zkey")));
    // 2 * 2^384 mod q, Montgomery form, little-endian.
    static constexpr uint64_t kTwo[6] = {0x321300000006554f, 0xb93c0018d6c40005, 0x57605e0db0ddbb51, 0x8b256521ed1f9bcb, 0x6cf28d7901622c03, 0x11ebab9dbb81e28c};
    Bytes& points = key[section];
    std::fill_n(points.begin(), 96, 0);
    std::memcpy(points.data() + 48, kTwo, 48);
    Write("key.zkey", key.Build());
    const Finished f = Cli({"circuit", "add", "x", "--key", Path("key.zkey")});
    EXPECT_EQ(f.exit_code, 1) << section << f;
    EXPECT_NE(f.err.find("subgroup"), std::string::npos) << f;
    EXPECT_NE(f.err.find("section " + std::to_string(section)), std::string::npos) << f;
  }
  Forge key = Forge::Of(testing::ReadAll(Sample("bn128", "multiplier.zkey")));
  key[9][0] ^= 1;
  Write("key.zkey", key.Build());
  EXPECT_EQ(Cli({"circuit", "add", "x", "--key", Path("key.zkey")}).exit_code, 1);
  EXPECT_EQ(Cli({"circuit", "add", "x", "--key", Witness()}).exit_code, 1);
  EXPECT_EQ(Cli({"circuit", "add", "x", "--key", Sample("bn128", "multiplier.zkey"), "--r1cs", Sample("bn128", "manypublic.r1cs")}).exit_code, 1);
  EXPECT_EQ(json::parse(Cli({"circuit", "list", "--json"}).out).size(), 0u);
}

TEST_F(RunningStackTest, ABadPartitionFailsTheJobAndTheOthersFinish) {
  ASSERT_NO_FATAL_FAILURE(Up());
  AddMultiplier();
  const std::string job = Submit({"--circuit", "mul", "--witness", Witness(), BadWitness(), Witness()});
  const Finished f = Cli({"wait", job, "--out", Path("out")});
  EXPECT_EQ(f.exit_code, 1) << f;
  EXPECT_NE(f.err.find("satisf"), std::string::npos) << f;
  ExpectProof("out/0", "bn128", "multiplier");
  ExpectProof("out/2", "bn128", "multiplier");
  EXPECT_FALSE(Exists("out/1"));
  const json view = Job(job);
  EXPECT_EQ(view["state"], "failed");
  for (const auto& p : view["partitions"]) {
    EXPECT_EQ(p["attempt"], 1) << view;  // wrong input is never tried again
    if (p["partition"] == 1) {
      EXPECT_EQ(p["error"]["code"], "unsatisfied") << view;
    }
  }
  ExpectBalance();
  ExpectAllSlotsFree();
}

TEST_F(RunningStackTest, WithConstraintsTheBadOneIsNamed) {
  ASSERT_NO_FATAL_FAILURE(Up());
  Add("mul", Sample("bn128", "multiplier.zkey"), {"--r1cs", Sample("bn128", "multiplier.r1cs")});
  const std::string job = Submit({"--circuit", "mul", "--witness", BadWitness()});
  const Finished f = Cli({"wait", job});
  EXPECT_EQ(f.exit_code, 1) << f;
  EXPECT_NE(f.err.find("constraint 0"), std::string::npos) << f;
}

TEST_F(RunningStackTest, TheSameIdJoinsAndOtherContentConflicts) {
  ASSERT_NO_FATAL_FAILURE(Up());
  AddMultiplier();
  EXPECT_EQ(Submit({"--circuit", "mul", "--witness", Witness(), "--id", "mine"}), "mine");
  ASSERT_EQ(Cli({"wait", "mine", "--out", Path("first")}).exit_code, 0);
  EXPECT_EQ(Submit({"--circuit", "mul", "--witness", Witness(), "--id", "mine"}), "mine");
  ASSERT_EQ(Cli({"wait", "mine", "--out", Path("second")}).exit_code, 0);
  EXPECT_EQ(Read("first/0/proof.json"), Read("second/0/proof.json"));
  EXPECT_EQ(Status()["jobs"]["accepted"], 1);
  const Finished f = Cli({"submit", "--circuit", "mul", "--witness", Witness(), Witness(), "--id", "mine"});
  EXPECT_EQ(f.exit_code, 1) << f;
  EXPECT_NE(f.err.find("mine"), std::string::npos);
  EXPECT_EQ(Cli({"submit", "--circuit", "mul", "--witness", BadWitness(), "--id", "mine"}).exit_code, 1);
  EXPECT_EQ(Status()["jobs"]["accepted"], 1);
}

TEST_F(RunningStackTest, SubmitRefusesBeforeAnythingIsQueued) {
  ASSERT_NO_FATAL_FAILURE(Up());
  AddMultiplier();
  EXPECT_EQ(Cli({"submit", "--circuit", "none", "--witness", Witness()}).exit_code, 1);
  EXPECT_EQ(Cli({"submit", "--circuit", "mul", "--witness", Sample("bn128", "manypublic.wtns")}).exit_code, 1);
  EXPECT_EQ(Cli({"submit", "--circuit", "mul", "--witness", Sample("bls12381", "multiplier.wtns")}).exit_code, 1);
  EXPECT_EQ(Cli({"submit", "--circuit", "mul", "--witness", Path("missing")}).exit_code, 1);
  EXPECT_EQ(Cli({"wait", "nobody"}).exit_code, 1);
  EXPECT_EQ(Cli({"status", "nobody"}).exit_code, 1);
  EXPECT_EQ(Cli({"cancel", "nobody"}).exit_code, 1);
  EXPECT_EQ(Status()["jobs"]["accepted"], 0);
  EXPECT_TRUE(std::filesystem::is_empty(State() + "/spool"));
}

TEST_F(RunningStackTest, TimeoutsDeadlinesAndCancelling) {
  ASSERT_NO_FATAL_FAILURE(Up());
  AddMultiplier();
  const pid_t gpu = WorkerPid("gpu");
  ASSERT_GT(gpu, 0);
  SendSignal(gpu, SIGSTOP);
  const std::string slow = Submit({"--circuit", "mul", "--witness", Witness()});
  Finished f = Cli({"wait", slow, "--timeout", "300ms", "--out", Path("slow")});
  EXPECT_EQ(f.exit_code, 3) << f;
  EXPECT_GE(f.seconds, 0.25);
  EXPECT_FALSE(Exists("slow/0"));
  const std::string late = Submit({"--circuit", "mul", "--witness", Witness(), "--deadline", "200ms"});
  const std::string dropped = Submit({"--circuit", "mul", "--witness", Witness()});
  EXPECT_EQ(Cli({"cancel", dropped}).exit_code, 0);
  f = Cli({"wait", late, "--timeout", "20s"});
  EXPECT_EQ(f.exit_code, 1) << f;
  EXPECT_NE(f.err.find("deadline"), std::string::npos) << f;
  f = Cli({"wait", dropped, "--timeout", "20s"});
  EXPECT_EQ(f.exit_code, 1) << f;
  EXPECT_NE(f.err.find("cancelled"), std::string::npos) << f;
  SendSignal(gpu, SIGCONT);
  EXPECT_EQ(Cli({"wait", slow, "--timeout", "30s"}).exit_code, 0);
  const json jobs = Status()["jobs"];
  EXPECT_EQ(jobs["accepted"], 3);
  EXPECT_EQ(jobs["finished"], 1);
  EXPECT_EQ(jobs["cancelled"], 1);
  EXPECT_EQ(jobs["failed"], 1);
  ExpectAllSlotsFree();
}

TEST_F(RunningStackTest, HigherPrioritiesOvertakeInTheQueue) {
  ASSERT_NO_FATAL_FAILURE(Up());
  AddMultiplier();
  const pid_t synth = WorkerPid("synth");
  SendSignal(synth, SIGSTOP);
  std::vector<std::string> witnesses{"--circuit", "mul", "--witness"};
  for (int i = 0; i < 12; ++i) witnesses.push_back(Witness());
  auto low = witnesses, critical = witnesses;
  low.insert(low.end(), {"--priority", "low"});
  critical.insert(critical.end(), {"--priority", "critical"});
  const std::string first = Submit(low), second = Submit(critical);
  SendSignal(synth, SIGCONT);
  ASSERT_EQ(Cli({"wait", second, "--timeout", "60s"}).exit_code, 0);
  ASSERT_EQ(Cli({"wait", first, "--timeout", "60s"}).exit_code, 0);
  EXPECT_LE(Job(second)["ended"].get<std::string>(), Job(first)["ended"].get<std::string>());
}

TEST_F(RunningStackTest, ProveUsesAStackAndLearnsTheKeyOnce) {
  ASSERT_NO_FATAL_FAILURE(Up());
  const auto prove = [&](const std::string& curve) {
    return Cli({"prove", Sample(curve, "manypublic.zkey"), Sample(curve, "manypublic.wtns"), Path("proof.json"), Path("public.json")});
  };
  for (const std::string curve : {"bn128", "bls12381", "bn128"}) {
    const Finished f = prove(curve);
    ASSERT_EQ(f.exit_code, 0) << f;
    EXPECT_EQ(Run({"verify", Sample(curve, "manypublic.vk.json"), Path("public.json"), Path("proof.json")}).exit_code, 0);
  }
  EXPECT_EQ(json::parse(Cli({"circuit", "list", "--json"}).out).size(), 2u);
  EXPECT_EQ(Cli({"prove", "a", "b", "c", "d", "--device", "cpu"}).exit_code, 2);
}

TEST_F(RunningStackTest, ASecondStackOnTheSameStateIsRefusedAndNamesTheFirst) {
  ASSERT_NO_FATAL_FAILURE(Up());
  const Finished f = Run({"up", "--state", State()});
  EXPECT_EQ(f.exit_code, 1) << f;
  EXPECT_NE(f.err.find("process " + std::to_string(up_->pid())), std::string::npos) << f;
  AddMultiplier();  // the first one is unharmed
}

TEST_F(RunningStackTest, TwoStacksSideBySide) {
  ASSERT_NO_FATAL_FAILURE(Up());
  Process other(Spec({"up", "--state", Path("t"), "--log", Path("log2")}));
  ASSERT_TRUE(other.WaitForLine("ready:"));
  AddMultiplier();
  EXPECT_EQ(json::parse(Run({"circuit", "list", "--json", "--state", Path("t")}).out).size(), 0u);
  const std::string job = Submit({"--circuit", "mul", "--witness", Witness()});
  EXPECT_EQ(Cli({"wait", job}).exit_code, 0);
  other.Signal(SIGINT);
  const Finished f = other.Wait();
  EXPECT_EQ(f.exit_code, 0) << f;
}

TEST_F(RunningStackTest, JobsAndResultsSurviveARestartOfTheStack) {
  ASSERT_NO_FATAL_FAILURE(Up());
  AddMultiplier();
  const std::string done = Submit({"--circuit", "mul", "--witness", Witness()});
  ASSERT_EQ(Cli({"wait", done, "--out", Path("before")}).exit_code, 0);
  const pid_t gpu = WorkerPid("gpu");
  SendSignal(gpu, SIGSTOP);
  const std::string waiting = Submit({"--circuit", "mul", "--witness", Witness(), Witness()});
  SendSignal(gpu, SIGCONT);
  ASSERT_EQ(Down().exit_code, 0);
  EXPECT_EQ(Cli({"status"}).exit_code, 3);
  ASSERT_NO_FATAL_FAILURE(Up());
  ASSERT_EQ(Cli({"wait", done, "--out", Path("after")}).exit_code, 0);
  EXPECT_EQ(Read("before/0/proof.json"), Read("after/0/proof.json"));
  EXPECT_EQ(Cli({"wait", waiting, "--timeout", "60s"}).exit_code, 0);
  ExpectBalance();
}

TEST_F(RunningStackTest, TheSpoolIsEmptyWhenJobsHaveEnded) {
  ASSERT_NO_FATAL_FAILURE(Up());
  AddMultiplier();
  const std::string job = Submit({"--circuit", "mul", "--witness", Witness(), Witness()});
  ASSERT_EQ(Cli({"wait", job}).exit_code, 0);
  EXPECT_TRUE(Eventually([&] { return std::filesystem::is_empty(State() + "/spool"); }));
  // Nothing in the state directory is for others' eyes.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(State()))
    EXPECT_EQ(entry.status().permissions() & (std::filesystem::perms::others_all | std::filesystem::perms::group_all), std::filesystem::perms::none) << entry.path();
}

}  // namespace
}  // namespace proofline::e2e
