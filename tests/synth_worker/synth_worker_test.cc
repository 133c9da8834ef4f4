#include <fstream>

#include "core/field/fp.h"
#include "core/formats/r1cs.h"
#include "core/formats/wtns.h"
#include "core/groth16/r1cs_check.h"
#include "tests/synth_worker/fake_coordinator.h"

namespace proofline::testing {
namespace {

const shm::SlotAssignment kAssignment{77, 3, 1, 1};

class SynthWorkerTest : public ::testing::Test {
 protected:
  // Large enough for every sample.
  SynthWorkerTest() : coordinator_(64, 64, 16 + 8 * 48 + 42 * 32) {}

  void StartWorker() {
    worker_.emplace(PROOFLINE_SYNTH_WORKER,
                    std::vector<std::string>{"--run-dir", coordinator_.dir(), "--ordinal", "2", "--threads", "2"});
    ASSERT_TRUE(coordinator_.PumpUntil([&] { return !coordinator_.peer.empty(); })) << "no Hello";
  }
  void InputIs(const std::string& path) {
    coordinator_.input = [path](const wire::GetInput&) { return OpenFile(path); };
  }
  void InputIsBytes(const std::vector<uint8_t>& bytes) {
    std::string path = coordinator_.dir() + "/input.wtns";
    ASSERT_TRUE(WriteFileAtomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}).ok());
    InputIs(path);
  }
  SlotWord Grant(uint32_t slot, const wire::Circuit& circuit) {
    SlotWord word = coordinator_.Assign(slot, SlotState::kGrant, kAssignment);
    coordinator_.Send(coordinator_.Describe<wire::SynthGrant>(slot, kAssignment, circuit));
    return word;
  }
  bool WaitState(uint32_t slot, SlotState state) {
    return coordinator_.PumpUntil([&] { return coordinator_.table().Load(slot).state == state; });
  }
  // Grants slot 0 and expects the owner to give up with this code and these words in its text.
  void ExpectRefusal(const wire::Circuit& circuit, ErrorCode code, std::vector<std::string> words) {
    coordinator_.Forget();
    SlotWord granted = Grant(0, circuit);
    auto failed = coordinator_.Expect<wire::Failed>();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->job(), kAssignment.job);
    EXPECT_EQ(failed->epoch(), granted.epoch);
    SlotWord now = coordinator_.table().Load(0);
    EXPECT_EQ(now, (SlotWord{SlotState::kFailed, 0, granted.epoch}));
    auto header = coordinator_.table().Snapshot(0, now);
    ASSERT_TRUE(header.ok());
    EXPECT_EQ(header->error.code(), code) << header->error.ToString();
    EXPECT_EQ(wire::ToStatus(failed->error()).code(), code);
    for (const std::string& word : words) {
      EXPECT_NE(header->error.ToString().find(word), std::string::npos)
          << word << " not in: " << header->error.ToString();
      EXPECT_NE(wire::ToStatus(failed->error()).ToString().find(word), std::string::npos) << word;
    }
    const uint8_t* p = coordinator_.slot(0);
    EXPECT_TRUE(std::all_of(p, p + coordinator_.table().layout().slot_bytes, [](uint8_t b) { return b == 0; }))
        << "not wiped";
    EXPECT_TRUE(coordinator_.table().TryTransition(0, now, {SlotState::kFree, 0, now.epoch + 1}));
  }

  FakeCoordinator coordinator_;
  std::optional<WorkerProcess> worker_;
};

// Row i of A and B must be what the constraint system, which the key's maker read apart from the key, says of
// constraint i.
void ExpectRows(const std::string& sample, uint8_t* slot, const shm::SlotSnapshot& header) {
  auto file = MappedFile::Open(SamplePath(sample + ".r1cs"));
  auto r1cs = ReadR1cs(file->bytes(), sample);
  ASSERT_TRUE(r1cs.ok());
  ByteSpan witness = shm::SectionBytes(slot, *header.Find(shm::SectionKind::kWitness));
  EXPECT_EQ(CheckR1cs(r1cs->view, witness).unsatisfied_count, 0u);
  auto mont = [&](const FrCanonical& canonical) {
    FrCanonical out;
    if (r1cs->view.curve == CurveId::kBn254)
      Fp<Bn254FrModulus>::LoadCanon(canonical.data()).StoreMont(out.data());
    else
      Fp<Bls12381FrModulus>::LoadCanon(canonical.data()).StoreMont(out.data());
    return out;
  };
  const uint8_t* a = shm::SectionBytes(slot, *header.Find(shm::SectionKind::kRowsA)).data();
  const uint8_t* b = shm::SectionBytes(slot, *header.Find(shm::SectionKind::kRowsB)).data();
  for (uint32_t i = 0; i < r1cs->view.n_constraints; ++i) {
    ConstraintValues expected = EvaluateConstraint(r1cs->view, i, witness);
    EXPECT_EQ(memcmp(a + 32 * i, mont(expected.a).data(), 32), 0) << sample << " A row " << i;
    EXPECT_EQ(memcmp(b + 32 * i, mont(expected.b).data(), 32), 0) << sample << " B row " << i;
  }
}

TEST_F(SynthWorkerTest, AttachesAndGreets) {
  StartWorker();
  auto hello = coordinator_.Last<wire::Hello>();
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->role(), wire::ROLE_SYNTH);
  EXPECT_EQ(hello->ordinal(), 2u);
  EXPECT_EQ(hello->pid(), worker_->pid());
  EXPECT_EQ(hello->instance(), coordinator_.instance);
  EXPECT_EQ(hello->generation(), coordinator_.table().generation());
  EXPECT_EQ(coordinator_.peer, wire::WorkerRoutingId(wire::ROLE_SYNTH, 2, coordinator_.instance));
  auto beat = coordinator_.Expect<wire::Heartbeat>();
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->instance(), coordinator_.instance);
  EXPECT_EQ(beat->held_size(), 0);
}

TEST_F(SynthWorkerTest, FillsAndSealsEverySample) {
  StartWorker();
  uint64_t id = 1;
  for (const char* curve : {"bn128", "bls12381"}) {
    for (const char* name : {"multiplier", "nopublic", "manypublic"}) {
      std::string sample = std::string(curve) + "/" + name;
      InputIs(SamplePath(sample + ".wtns"));
      wire::Circuit circuit = CircuitOf(SamplePath(sample + ".zkey"), id++);
      if (sample != "bn128/multiplier") SetR1cs(circuit, SamplePath(sample + ".r1cs"));
      coordinator_.Forget();
      SlotWord granted = Grant(1, circuit);
      auto done = coordinator_.Expect<wire::Done>();
      ASSERT_TRUE(done) << sample;
      SlotWord ready{SlotState::kReady, 0, granted.epoch};
      ASSERT_EQ(coordinator_.table().Load(1), ready);
      auto header = coordinator_.table().Snapshot(1, ready);
      ASSERT_TRUE(header.ok()) << header.status().ToString();
      ASSERT_EQ(header->sections.size(), 3u);
      for (const auto& entry : header->sections) EXPECT_TRUE(shm::VerifySection(coordinator_.slot(1), entry).ok());
      auto wtns_file = MappedFile::Open(SamplePath(sample + ".wtns"));
      auto wtns = ReadWtns(wtns_file->bytes(), sample);
      ByteSpan witness = shm::SectionBytes(coordinator_.slot(1), *header->Find(shm::SectionKind::kWitness));
      EXPECT_TRUE(std::equal(witness.begin(), witness.end(), wtns->values.begin(), wtns->values.end()));
      ExpectRows(sample, coordinator_.slot(1), *header);
      EXPECT_EQ(done->job(), kAssignment.job);
      EXPECT_EQ(done->partition(), kAssignment.partition);
      EXPECT_EQ(done->attempt(), kAssignment.attempt);
      std::vector<std::string> stages;
      for (const auto& stage : done->stages()) stages.push_back(stage.stage());
      std::vector<std::string> expected{"key", "input", "rows", "seal"};
      if (!circuit.r1cs_path().empty()) expected.insert(expected.begin() + 2, "constraints");
      EXPECT_EQ(stages, expected);
      EXPECT_GT(done->wide_fraction_ppm(), 0u);
      EXPECT_LT(done->wide_fraction_ppm(), 1000000u);
      ASSERT_TRUE(coordinator_.table().TryTransition(1, ready, {SlotState::kFree, 0, ready.epoch + 1}));
    }
  }
}

TEST_F(SynthWorkerTest, RefusesWrongInputs) {
  StartWorker();
  wire::Circuit circuit = CircuitOf(SamplePath("bn128/multiplier.zkey"));
  const auto good = FileBytes(SamplePath("bn128/multiplier.wtns"));

  InputIsBytes({});
  ExpectRefusal(circuit, ErrorCode::kInvalidFile, {"input.wtns"});
  InputIsBytes({good.begin(), good.end() - 5});
  ExpectRefusal(circuit, ErrorCode::kInvalidFile, {"input.wtns"});
  InputIs(SamplePath("bn128/multiplier.zkey"));
  ExpectRefusal(circuit, ErrorCode::kInvalidFile, {"multiplier.zkey"});
  InputIs(SamplePath("bn128/manypublic.wtns"));
  ExpectRefusal(circuit, ErrorCode::kMismatch, {"manypublic.wtns", "59", "4"});
  InputIs(SamplePath("bls12381/multiplier.wtns"));
  ExpectRefusal(circuit, ErrorCode::kMismatch, {"multiplier.wtns"});

  // The values are the last 4 * 32 bytes.
  auto changed = good;
  std::fill(changed.end() - 32, changed.end(), uint8_t{0xff});
  InputIsBytes(changed);
  ExpectRefusal(circuit, ErrorCode::kInvalidFile, {"input.wtns", "3"});
  changed = good;
  changed[good.size() - 4 * 32] = 2;
  InputIsBytes(changed);
  ExpectRefusal(circuit, ErrorCode::kInvalidFile, {"input.wtns"});

  changed = good;
  changed[good.size() - 32] ^= 1;
  InputIsBytes(changed);
  SetR1cs(circuit, SamplePath("bn128/multiplier.r1cs"));
  ExpectRefusal(circuit, ErrorCode::kUnsatisfied, {"constraint 0", "multiplier.r1cs"});
  InputIs(SamplePath("bn128/multiplier.wtns"));
  circuit.set_r1cs_mtime_ns(circuit.r1cs_mtime_ns() + 1);
  ExpectRefusal(circuit, ErrorCode::kMismatch, {"multiplier.r1cs", "has changed"});
  SetR1cs(circuit, SamplePath("bn128/multiplier.r1cs"));
  circuit.set_r1cs_bytes(circuit.r1cs_bytes() - 1);
  ExpectRefusal(circuit, ErrorCode::kMismatch, {"multiplier.r1cs", "has changed"});
  circuit.set_r1cs_path("");

  // And after all of that it still works.
  coordinator_.Forget();
  Grant(0, circuit);
  EXPECT_TRUE(coordinator_.Expect<wire::Done>());
}

TEST_F(SynthWorkerTest, RefusesKeysThatChanged) {
  StartWorker();
  InputIs(SamplePath("bn128/multiplier.wtns"));
  wire::Circuit missing = CircuitOf(SamplePath("bn128/multiplier.zkey"));
  missing.set_key_path("/nowhere/at/all.zkey");
  ExpectRefusal(missing, ErrorCode::kNotFound, {"/nowhere/at/all.zkey"});

  std::string copy = coordinator_.dir() + "/copy.zkey";
  auto bytes = FileBytes(SamplePath("bn128/multiplier.zkey"));
  auto write = [&] {
    ASSERT_TRUE(WriteFileAtomically(copy, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}).ok());
  };
  write();
  wire::Circuit circuit = CircuitOf(copy, 9);
  Grant(0, circuit);
  ASSERT_TRUE(coordinator_.Expect<wire::Done>());
  SlotWord ready = coordinator_.table().Load(0);
  auto header = coordinator_.table().Snapshot(0, ready);
  for (const auto& entry : header->sections) shm::WipeSection(coordinator_.slot(0), entry);
  ASSERT_TRUE(coordinator_.table().TryTransition(0, ready, {SlotState::kFree, 0, ready.epoch + 1}));
  usleep(10000);
  bytes.push_back(0);
  write();
  ExpectRefusal(circuit, ErrorCode::kMismatch,
                {"copy.zkey", std::to_string(bytes.size()), std::to_string(bytes.size() - 1)});
}

TEST_F(SynthWorkerTest, CancelEndsTheGrant) {
  StartWorker();
  bool asked = false;
  coordinator_.input = [&](const wire::GetInput& get) -> std::optional<UniqueFd> {
    asked = true;
    EXPECT_EQ(get.job(), kAssignment.job);
    EXPECT_EQ(get.partition(), kAssignment.partition);
    wire::CancelSlot cancel;
    cancel.set_slot(get.slot());
    cancel.set_epoch(get.epoch());
    coordinator_.Send(cancel);
    usleep(200000);
    return OpenFile(SamplePath("bn128/multiplier.wtns"));
  };
  ExpectRefusal(CircuitOf(SamplePath("bn128/multiplier.zkey")), ErrorCode::kCancelled, {"cancelled"});
  EXPECT_TRUE(asked);
}

TEST_F(SynthWorkerTest, LostGrantIsAskedFor) {
  StartWorker();
  InputIs(SamplePath("bn128/multiplier.wtns"));
  SlotWord granted = coordinator_.Assign(0, SlotState::kGrant, kAssignment);
  ASSERT_TRUE(coordinator_.PumpUntil([&] {
    auto beat = coordinator_.Last<wire::Heartbeat>();
    return beat && beat->held_size() == 1 && beat->held(0).word() == granted.Pack() && beat->held(0).progress() == 0;
  }));
  coordinator_.Send(
      coordinator_.Describe<wire::SynthGrant>(0, kAssignment, CircuitOf(SamplePath("bn128/multiplier.zkey"))));
  EXPECT_TRUE(WaitState(0, SlotState::kReady));
}

TEST_F(SynthWorkerTest, StaleAndDoubleOrdersDoNothing) {
  StartWorker();
  InputIs(SamplePath("bn128/multiplier.wtns"));
  wire::Circuit circuit = CircuitOf(SamplePath("bn128/multiplier.zkey"));
  SlotWord granted = coordinator_.Assign(0, SlotState::kGrant, kAssignment);
  auto order = coordinator_.Describe<wire::SynthGrant>(0, kAssignment, circuit);
  auto stale = order;
  stale.set_epoch(granted.epoch - 1);
  coordinator_.Send(stale);
  auto foreign = order;
  foreign.set_job(1);  // not what the header says
  coordinator_.Send(foreign);
  auto outside = order;
  outside.set_slot(1000);
  coordinator_.Send(outside);
  coordinator_.SendWithTerm(order, coordinator_.term - 1);  // a dead coordinator's
  for (int i = 0; i < 20; ++i) coordinator_.Pump();
  EXPECT_EQ(coordinator_.table().Load(0), granted);
  coordinator_.Send(order);
  coordinator_.Send(order);
  ASSERT_TRUE(WaitState(0, SlotState::kReady));
  coordinator_.Send(order);
  for (int i = 0; i < 10; ++i) coordinator_.Pump();
  EXPECT_EQ(coordinator_.table().Load(0).state, SlotState::kReady);
}

TEST_F(SynthWorkerTest, WipesOnOrderAndFromTheTable) {
  StartWorker();
  auto plan = *shm::PlanPayload(4, 4, coordinator_.table().layout());
  for (bool ring : {true, false}) {
    coordinator_.table().WriteAssignment(0, kAssignment);
    ASSERT_TRUE(coordinator_.table().WriteSections(0, plan).ok());
    for (const auto& entry : plan)
      memset(shm::SectionBytes(coordinator_.slot(0), entry).data(), 0xaa, entry.length_bytes);
    SlotWord word = coordinator_.Assign(0, SlotState::kWipe, kAssignment);
    if (ring) {
      wire::WipeOrder order;
      order.set_slot(0);
      order.set_epoch(word.epoch);
      coordinator_.Send(order);
    }
    ASSERT_TRUE(WaitState(0, SlotState::kFree)) << ring;
    EXPECT_EQ(coordinator_.table().Load(0), (SlotWord{SlotState::kFree, 0, word.epoch}));
    const uint8_t* p = coordinator_.slot(0);
    EXPECT_TRUE(std::all_of(p, p + coordinator_.table().layout().slot_bytes, [](uint8_t b) { return b == 0; }));
  }
}

TEST_F(SynthWorkerTest, SpoiledHeaderWipesTheWholeSlot) {
  StartWorker();
  auto raw =
      std::move(shm::Mapping::Map(coordinator_.table().fd(), 4096 * 2, shm::Mapping::Access::kReadWrite)).value();
  reinterpret_cast<shm::SlotHeader*>(raw.data() + 4096)->section_count = 99;
  memset(coordinator_.slot(0), 0xaa, coordinator_.table().layout().slot_bytes);
  coordinator_.Assign(0, SlotState::kWipe, kAssignment);
  ASSERT_TRUE(WaitState(0, SlotState::kFree));
  const uint8_t* p = coordinator_.slot(0);
  EXPECT_TRUE(std::all_of(p, p + coordinator_.table().layout().slot_bytes, [](uint8_t b) { return b == 0; }));
}

TEST_F(SynthWorkerTest, OutlivesItsCoordinator) {
  StartWorker();
  uint32_t instance = coordinator_.instance;
  InputIs(SamplePath("bn128/multiplier.wtns"));
  wire::Circuit circuit = CircuitOf(SamplePath("bn128/multiplier.zkey"));
  coordinator_.Hangup();
  usleep(150000);
  coordinator_.peer.clear();
  coordinator_.attach_hello.reset();
  coordinator_.Listen();
  ASSERT_TRUE(coordinator_.PumpUntil([&] { return coordinator_.attach_hello && !coordinator_.peer.empty(); }));
  EXPECT_EQ(coordinator_.attach_hello->instance(), instance);
  EXPECT_EQ(coordinator_.instance, instance);
  Grant(0, circuit);
  EXPECT_TRUE(WaitState(0, SlotState::kReady));
}

TEST_F(SynthWorkerTest, FinishesWhileTheCoordinatorIsAway) {
  StartWorker();
  bool asked = false;
  coordinator_.input = [&](const wire::GetInput&) -> std::optional<UniqueFd> {
    asked = true;
    return OpenFile(SamplePath("bn128/multiplier.wtns"));
  };
  SlotWord granted = Grant(0, CircuitOf(SamplePath("bn128/multiplier.zkey")));
  ASSERT_TRUE(coordinator_.PumpUntil([&] { return asked; }));
  coordinator_.Hangup();
  for (int i = 0; i < 500 && coordinator_.table().Load(0).state == SlotState::kGrant; ++i) usleep(10000);
  EXPECT_EQ(coordinator_.table().Load(0), (SlotWord{SlotState::kReady, 0, granted.epoch})) << "the table is the truth";
}

TEST_F(SynthWorkerTest, EndsWhenTheStackHasAnotherTable) {
  StartWorker();
  coordinator_.Hangup();
  coordinator_.NewTable(64, 64, 500, 2);
  coordinator_.Listen();
  std::optional<int> code;
  EXPECT_TRUE(coordinator_.PumpUntil([&] { return (code = worker_->WaitExit(milliseconds(0))).has_value(); }));
  EXPECT_EQ(code, 3);
}

TEST_F(SynthWorkerTest, StopsWhenAsked) {
  StartWorker();
  kill(worker_->pid(), SIGTERM);
  EXPECT_EQ(worker_->WaitExit(milliseconds(5000)), 0);
  EXPECT_TRUE(shm::HasExited(coordinator_.pidfd.get()));
}

// A process does so once it has taken its stop signals; before, they end it as they end any program.
bool BlocksSigterm(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("SigBlk:", 0) == 0) return std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1) & 1;
  return false;
}

TEST_F(SynthWorkerTest, StopsWhileItWaitsForACoordinator) {
  WorkerProcess lonely(PROOFLINE_SYNTH_WORKER, {"--run-dir", coordinator_.dir()});
  for (int i = 0; i < 1000 && !BlocksSigterm(lonely.pid()); ++i) usleep(10000);
  usleep(100000);  // attached to the listening socket, unanswered
  kill(lonely.pid(), SIGTERM);
  EXPECT_EQ(lonely.WaitExit(milliseconds(5000)), 0);
}

TEST_F(SynthWorkerTest, DrainsWhenAsked) {
  StartWorker();
  InputIs(SamplePath("bn128/multiplier.wtns"));
  Grant(0, CircuitOf(SamplePath("bn128/multiplier.zkey")));
  coordinator_.Send(wire::Drain());
  std::optional<int> code;
  EXPECT_TRUE(coordinator_.PumpUntil([&] { return (code = worker_->WaitExit(milliseconds(0))).has_value(); }));
  EXPECT_EQ(code, 0);
  EXPECT_EQ(coordinator_.table().Load(0).state, SlotState::kReady) << "what was granted is finished first";
}

TEST_F(SynthWorkerTest, DeathIsSeenThroughThePidfd) {
  StartWorker();
  bool asked = false;
  coordinator_.input = [&](const wire::GetInput&) -> std::optional<UniqueFd> {
    asked = true;
    return std::nullopt;
  };
  SlotWord granted = Grant(0, CircuitOf(SamplePath("bn128/multiplier.zkey")));
  ASSERT_TRUE(coordinator_.PumpUntil([&] { return asked; }));
  EXPECT_FALSE(shm::HasExited(coordinator_.pidfd.get()));
  ASSERT_TRUE(shm::KillByPidfd(coordinator_.pidfd.get()).ok());
  EXPECT_EQ(worker_->WaitExit(milliseconds(5000)), -SIGKILL);
  EXPECT_TRUE(shm::HasExited(coordinator_.pidfd.get()));
  EXPECT_EQ(coordinator_.table().Load(0), granted);
  // The next one gets another instance number and the slot, after the coordinator took it back.
  ASSERT_TRUE(coordinator_.table().TryTransition(0, granted, {SlotState::kFree, 0, granted.epoch + 1}));
  uint32_t dead = coordinator_.instance;
  coordinator_.peer.clear();
  StartWorker();
  EXPECT_NE(coordinator_.instance, dead);
  InputIs(SamplePath("bn128/multiplier.wtns"));
  Grant(0, CircuitOf(SamplePath("bn128/multiplier.zkey")));
  EXPECT_TRUE(WaitState(0, SlotState::kReady));
}

TEST_F(SynthWorkerTest, LeavesNoCore) {
  StartWorker();
  std::ifstream limits("/proc/" + std::to_string(worker_->pid()) + "/limits");
  std::string line;
  bool found = false;
  while (std::getline(limits, line))
    if (line.rfind("Max core file size", 0) == 0) found = line.find(" 0                    0 ") != std::string::npos;
  EXPECT_TRUE(found);
}

TEST(SynthWorkerArguments, AreRefusedOnce) {
  for (std::vector<std::string> args : {std::vector<std::string>{"--ordinal", "x"},
                                        {"--ordinal"},
                                        {"--nonsense"},
                                        {"more"},
                                        {"--device", "cpu"},
                                        {"--run-dir", "/tmp/" + std::string(120, 'x')}}) {
    WorkerProcess worker(PROOFLINE_SYNTH_WORKER, args);
    EXPECT_EQ(worker.WaitExit(milliseconds(5000)), 64) << args[0];
  }
}

}  // namespace
}  // namespace proofline::testing
