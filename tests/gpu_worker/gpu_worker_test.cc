#include <fstream>
#include <set>

#include "core/formats/vkey_json.h"
#include "core/formats/wtns.h"
#include "core/groth16/backend.h"
#include "core/groth16/result.h"
#include "tests/synth_worker/fake_coordinator.h"

namespace proofline::testing {
namespace {

const shm::SlotAssignment kAssignment{77, 3, 1, 1};

class GpuWorkerTest : public ::testing::Test {
 protected:
  GpuWorkerTest() : coordinator_(64, 64, 16 + 8 * 48 + 42 * 32) {}

  std::vector<std::string> Args() {
    return {"--run-dir", coordinator_.dir(), "--ordinal", "1", "--device", "cpu", "--threads", "2"};
  }
  void StartWorker() {
    worker_.emplace(PROOFLINE_GPU_WORKER, Args());
    ASSERT_TRUE(coordinator_.PumpUntil([&] { return !coordinator_.peer.empty(); })) << "no Hello";
  }
  // What a synthesis worker would have left in slot 0, READY. `change` may spoil the witness before the rows are
  // computed.
  void Synthesise(const std::string& key_path, const std::string& wtns_path,
                  const std::function<void(MutableByteSpan)>& change = {}) {
    auto key_file = MappedFile::Open(key_path);
    auto key = ReadZkey(key_file->bytes(), key_path);
    ASSERT_TRUE(key.ok()) << key.status().ToString();
    auto wtns_file = MappedFile::Open(wtns_path);
    auto wtns = ReadWtns(wtns_file->bytes(), wtns_path);
    ASSERT_TRUE(wtns.ok());
    auto plan = *shm::PlanPayload(key->view.n_vars, key->view.domain(), coordinator_.table().layout());
    SlotWord granted = coordinator_.Assign(0, SlotState::kGrant, kAssignment);
    ASSERT_TRUE(coordinator_.table().WriteSections(0, plan).ok());
    uint8_t* slot = coordinator_.slot(0);
    MutableByteSpan witness = shm::SectionBytes(slot, plan[0]);
    std::copy(wtns->values.begin(), wtns->values.end(), witness.begin());
    if (change) change(witness);
    ASSERT_TRUE(GetBackend(key->view.curve)
                    .ComputeRows(key->view, witness, shm::SectionBytes(slot, plan[1]), shm::SectionBytes(slot, plan[2]))
                    .ok());
    for (const auto& entry : plan) shm::SealSection(slot, entry);
    ASSERT_TRUE(coordinator_.table().TryTransition(0, granted, {SlotState::kReady, 0, granted.epoch}));
  }
  SlotWord Lease(const wire::Circuit& circuit) {
    SlotWord word = coordinator_.Assign(0, SlotState::kLease, kAssignment);
    coordinator_.Send(coordinator_.Describe<wire::GpuLease>(0, kAssignment, circuit));
    return word;
  }
  void ExpectFailure(const wire::Circuit& circuit, ErrorCode code, std::vector<std::string> words) {
    coordinator_.Forget();
    SlotWord leased = Lease(circuit);
    auto failed = coordinator_.Expect<wire::Failed>();
    ASSERT_TRUE(failed);
    SlotWord now = coordinator_.table().Load(0);
    EXPECT_EQ(now, (SlotWord{SlotState::kFailed, 0, leased.epoch}));
    Status error = coordinator_.table().Snapshot(0, now)->error;
    EXPECT_EQ(error.code(), code) << error.ToString();
    EXPECT_EQ(wire::ToStatus(failed->error()).code(), code);
    for (const std::string& word : words)
      EXPECT_NE(error.ToString().find(word), std::string::npos) << word << " not in: " << error.ToString();
    ASSERT_TRUE(coordinator_.table().TryTransition(0, now, {SlotState::kFree, 0, now.epoch + 1}));
  }

  FakeCoordinator coordinator_;
  std::optional<WorkerProcess> worker_;
};

TEST_F(GpuWorkerTest, ProvesEverySample) {
  StartWorker();
  auto hello = coordinator_.Last<wire::Hello>();
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->role(), wire::ROLE_GPU);
  EXPECT_EQ(hello->device(), "cpu");
  uint64_t id = 1;
  for (const char* curve : {"bn128", "bls12381"}) {
    for (const char* name : {"multiplier", "nopublic", "manypublic"}) {
      std::string sample = std::string(curve) + "/" + name;
      Synthesise(SamplePath(sample + ".zkey"), SamplePath(sample + ".wtns"));
      coordinator_.Forget();
      SlotWord leased = Lease(CircuitOf(SamplePath(sample + ".zkey"), id++));
      auto done = coordinator_.Expect<wire::Done>();
      ASSERT_TRUE(done) << sample;
      SlotWord result{SlotState::kResult, 0, leased.epoch};
      ASSERT_EQ(coordinator_.table().Load(0), result);
      auto header = coordinator_.table().Snapshot(0, result);
      ASSERT_TRUE(header.ok());
      auto bytes = shm::CopyResult(coordinator_.slot(0), header->result, coordinator_.table().layout());
      ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
      auto proved = DecodeResult(*bytes);
      ASSERT_TRUE(proved.ok()) << proved.status().ToString();
      // snarkjs's own verification key judges, not the one inside the key.
      std::ifstream vk_file(SamplePath(sample + ".vk.json"));
      std::string vk_text((std::istreambuf_iterator<char>(vk_file)), {});
      auto vk = VerificationKeyFromJson(vk_text, sample);
      ASSERT_TRUE(vk.ok()) << vk.status().ToString();
      EXPECT_TRUE(GetBackend(vk->curve).Verify(*vk, proved->publics, proved->proof).ok()) << sample;
      std::set<std::string> stages;
      for (const auto& stage : done->stages()) stages.insert(stage.stage());
      for (const char* stage : {"load", "ntt", "msm_h", "msm_a", "msm_b1", "msm_b2", "msm_c", "assemble", "verify"})
        EXPECT_TRUE(stages.count(stage)) << stage;
      ASSERT_TRUE(coordinator_.table().TryTransition(0, result, {SlotState::kFree, 0, result.epoch + 1}));
    }
  }
}

TEST_F(GpuWorkerTest, TwoProofsOfOnePartitionDiffer) {
  StartWorker();
  std::vector<std::vector<uint8_t>> proofs;
  for (int i = 0; i < 2; ++i) {
    Synthesise(SamplePath("bn128/multiplier.zkey"), SamplePath("bn128/multiplier.wtns"));
    coordinator_.Forget();
    Lease(CircuitOf(SamplePath("bn128/multiplier.zkey")));
    ASSERT_TRUE(coordinator_.Expect<wire::Done>());
    SlotWord now = coordinator_.table().Load(0);
    proofs.push_back(*shm::CopyResult(coordinator_.slot(0), coordinator_.table().Snapshot(0, now)->result,
                                      coordinator_.table().layout()));
    ASSERT_TRUE(coordinator_.table().TryTransition(0, now, {SlotState::kFree, 0, now.epoch + 1}));
  }
  EXPECT_NE(proofs[0], proofs[1]) << "fresh r and s for each attempt";
}

TEST_F(GpuWorkerTest, UnsatisfyingWitnessIsTheInputsFault) {
  StartWorker();
  for (const char* curve : {"bn128/", "bls12381/"}) {
    std::string key = SamplePath(curve + std::string("multiplier.zkey"));
    Synthesise(key, SamplePath(curve + std::string("multiplier.wtns")),
               [](MutableByteSpan witness) { witness[2 * 32] ^= 1; });
    ExpectFailure(CircuitOf(key, curve[1] == 'n' ? 1 : 2), ErrorCode::kUnsatisfied,
                  {"does not satisfy", "multiplier.zkey"});
  }
}

TEST_F(GpuWorkerTest, TornPayloadIsFoundAndMayBeRetried) {
  StartWorker();
  for (int section = 0; section < 3; ++section) {
    Synthesise(SamplePath("bn128/multiplier.zkey"), SamplePath("bn128/multiplier.wtns"));
    auto header = coordinator_.table().Snapshot(0, coordinator_.table().Load(0));
    shm::SectionBytes(coordinator_.slot(0), header->sections[section])[40] ^= 1;
    ExpectFailure(CircuitOf(SamplePath("bn128/multiplier.zkey")), ErrorCode::kCrashed, {"checksum"});
  }
  EXPECT_TRUE(IsRetryable(ErrorCode::kCrashed));
}

TEST_F(GpuWorkerTest, SlotOfAnotherCircuitIsRefused) {
  StartWorker();
  Synthesise(SamplePath("bn128/multiplier.zkey"), SamplePath("bn128/multiplier.wtns"));
  ExpectFailure(CircuitOf(SamplePath("bn128/manypublic.zkey")), ErrorCode::kMismatch, {"manypublic.zkey"});
}

TEST_F(GpuWorkerTest, PointOffItsCurveIsNamed) {
  StartWorker();
  std::string copy = coordinator_.dir() + "/copy.zkey";
  auto bytes = FileBytes(SamplePath("bn128/multiplier.zkey"));
  auto key = ReadZkey(bytes, copy);
  ASSERT_TRUE(key.ok());
  // The last point of section 5: a signal that is not 0 in this witness.
  size_t at = static_cast<size_t>(key->view.a.data() - bytes.data()) + 3 * 64;
  for (size_t i = 1; i < 4; ++i) {
    size_t p = static_cast<size_t>(key->view.a.data() - bytes.data()) + i * 64;
    if (std::any_of(bytes.begin() + p, bytes.begin() + p + 64, [](uint8_t b) { return b != 0; })) at = p;
  }
  bytes[at] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(copy, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}).ok());
  Synthesise(copy, SamplePath("bn128/multiplier.wtns"));
  ExpectFailure(CircuitOf(copy), ErrorCode::kInvalidFile, {"copy.zkey"});
}

TEST_F(GpuWorkerTest, SpoiledHeaderIsARetry) {
  StartWorker();
  Synthesise(SamplePath("bn128/multiplier.zkey"), SamplePath("bn128/multiplier.wtns"));
  auto raw =
      std::move(shm::Mapping::Map(coordinator_.table().fd(), 4096 * 2, shm::Mapping::Access::kReadWrite)).value();
  auto& header = *reinterpret_cast<shm::SlotHeader*>(raw.data() + 4096);
  header.sections[0].offset = UINT64_MAX & ~63ull;
  coordinator_.Forget();
  SlotWord leased = Lease(CircuitOf(SamplePath("bn128/multiplier.zkey")));
  auto failed = coordinator_.Expect<wire::Failed>();
  ASSERT_TRUE(failed);
  EXPECT_EQ(wire::ToStatus(failed->error()).code(), ErrorCode::kCrashed);
  EXPECT_EQ(coordinator_.table().Load(0), (SlotWord{SlotState::kFailed, 0, leased.epoch}));
}

TEST_F(GpuWorkerTest, LostLeaseIsAskedFor) {
  StartWorker();
  Synthesise(SamplePath("bn128/multiplier.zkey"), SamplePath("bn128/multiplier.wtns"));
  SlotWord leased = coordinator_.Assign(0, SlotState::kLease, kAssignment);
  ASSERT_TRUE(coordinator_.PumpUntil([&] {
    auto beat = coordinator_.Last<wire::Heartbeat>();
    return beat && beat->held_size() == 1 && beat->held(0).word() == leased.Pack() && beat->held(0).progress() == 0;
  }));
  coordinator_.Send(
      coordinator_.Describe<wire::GpuLease>(0, kAssignment, CircuitOf(SamplePath("bn128/multiplier.zkey"))));
  EXPECT_TRUE(coordinator_.PumpUntil([&] { return coordinator_.table().Load(0).state == SlotState::kResult; }));
}

TEST_F(GpuWorkerTest, SealedSlotOutlivesItsOwner) {
  StartWorker();
  Synthesise(SamplePath("bn128/multiplier.zkey"), SamplePath("bn128/multiplier.wtns"));
  coordinator_.Assign(0, SlotState::kLease, kAssignment);  // never rung
  ASSERT_TRUE(shm::KillByPidfd(coordinator_.pidfd.get()).ok());
  EXPECT_EQ(worker_->WaitExit(milliseconds(5000)), -SIGKILL);
  SlotWord dead = coordinator_.table().Load(0);
  ASSERT_TRUE(coordinator_.table().TryTransition(0, dead, {SlotState::kReady, 0, dead.epoch + 1}));
  coordinator_.peer.clear();
  StartWorker();  // the same ordinal: its lock went with its owner
  Lease(CircuitOf(SamplePath("bn128/multiplier.zkey")));
  EXPECT_TRUE(coordinator_.PumpUntil([&] { return coordinator_.table().Load(0).state == SlotState::kResult; }));
}

TEST_F(GpuWorkerTest, OneOwnerForEachDevice) {
  StartWorker();
  WorkerProcess second(PROOFLINE_GPU_WORKER, Args());
  EXPECT_EQ(second.WaitExit(milliseconds(15000)), 3);
  kill(worker_->pid(), SIGTERM);
  EXPECT_EQ(worker_->WaitExit(milliseconds(5000)), 0);
}

TEST_F(GpuWorkerTest, DevicesThatAreNotThere) {
  WorkerProcess cuda(PROOFLINE_GPU_WORKER, {"--run-dir", coordinator_.dir(), "--device", "cuda:99"});
  EXPECT_EQ(cuda.WaitExit(milliseconds(5000)), 72);
  WorkerProcess nonsense(PROOFLINE_GPU_WORKER, {"--run-dir", coordinator_.dir(), "--device", "abacus"});
  EXPECT_EQ(nonsense.WaitExit(milliseconds(5000)), 64);
}

}  // namespace
}  // namespace proofline::testing
