// The CUDA device against the CPU device: the same proof bytes for the same r and s, whatever the key and the witness. Needs a CUDA device
// (ctest label gpu); says "skipped" without one.
//
//   device_test --break-device    opens the device, breaks its context on purpose and says by its exit code whether that was noticed
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "core/base/file.h"
#include "core/circuits/circuit.h"
#include "core/formats/wtns.h"
#include "core/formats/zkey.h"
#include "cuda/device/call_ledger.h"
#include "cuda/qap/qap.h"
#include "gpu_worker/cuda_device.h"
#include "gpu_worker/cuda_layout.h"
#include "gpu_worker/known_answer.h"
#include "gpu_worker/known_answer_data.h"
#include "tests/core/groth16/key_in_memory.h"
#include "tests/core/groth16/odd_circuits.h"
#include "tests/gpu/api_trace.h"

extern char** environ;

namespace proofline::gpu_worker {
namespace {

constexpr uint64_t kArenaBytes = uint64_t{4} << 30;
constexpr CurveId kCurves[] = {CurveId::kBn254, CurveId::kBls12381};

// One device for all tests, and memory that it may pin.
std::vector<uint8_t> g_slot(size_t{8} << 20);
Result<std::unique_ptr<Device>> g_device{Status(ErrorCode::kUnavailable, "not opened")};

class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!g_device.ok()) GTEST_SKIP() << "skipped: " << g_device.status().ToString();
    device_ = g_device->get();
  }

  // Both devices' proofs with the same r and s.
  void Compare(const ProvingKeyView& key, uint64_t key_id, ByteSpan witness, const std::string& what) {
    const Backend& backend = GetBackend(key.curve);
    std::vector<uint8_t> a(size_t{key.domain()} * kFrBytes), b(a.size());
    ASSERT_TRUE(backend.ComputeRows(key, witness, a, b).ok()) << what;
    Blinding blinding;
    blinding.r = kKnownAnswerR;
    blinding.s = kKnownAnswerS;
    const StageObserver ignore = [](std::string_view, uint64_t) {};
    auto expected = backend.Prove(key, witness, a, b, blinding, ignore);
    ASSERT_TRUE(expected.ok()) << what << ": " << expected.status().ToString();
    auto found = device_->Prove({key, key_id, witness, a, b, blinding, ignore});
    ASSERT_TRUE(found.ok()) << what << ": " << found.status().ToString();
    EXPECT_TRUE(*found == *expected) << what;
  }

  Device* device_ = nullptr;
  uint64_t came_early_ = 0;
};

struct TestKey {
  Circuit circuit;
  KeyInMemory key;
};

// On the heap: a view points into it.
std::unique_ptr<TestKey> KeyFor(Circuit circuit) {
  auto out = std::make_unique<TestKey>();
  out->circuit = std::move(circuit);
  Status status = GenerateKey(out->circuit.view(), "device test", out->key);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return out;
}
std::unique_ptr<TestKey> KeyFor(CurveId curve, CircuitKind kind, int log2) {
  return KeyFor(std::move(MakeSizedCircuit(curve, {.kind = kind, .log2 = log2})).value());
}

TEST_F(DeviceTest, KnownAnswers) {
  Status status = ProveKnownAnswers(*device_);
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST_F(DeviceTest, KeysMadeBySnarkjs) {
  for (const char* curve : {"bn128", "bls12381"})
    for (const char* name : {"multiplier", "manypublic", "nopublic"}) {
      const std::string base = std::string(PROOFLINE_SAMPLES) + "/" + curve + "/" + name;
      auto key_file = MappedFile::Open(base + ".zkey"), witness_file = MappedFile::Open(base + ".wtns");
      ASSERT_TRUE(key_file.ok() && witness_file.ok()) << base;
      auto key = ReadZkey(key_file->bytes(), base);
      auto witness = ReadWtns(witness_file->bytes(), base);
      ASSERT_TRUE(key.ok() && witness.ok()) << base;
      Compare(key->view, 0, witness->values, base);
    }
}

TEST_F(DeviceTest, OddCircuits) {
  for (CurveId curve : kCurves) {
    auto circuits = curve == CurveId::kBn254 ? OddCircuits<Bn254FrModulus>(curve) : OddCircuits<Bls12381FrModulus>(curve);
    for (NamedCircuit& named : circuits) {
      auto made = KeyFor(std::move(named.circuit));
      Compare(made->key.view(), 0, made->circuit.witness(), named.name);
    }
  }
}

TEST_F(DeviceTest, EverySizeFrom10To16) {
  constexpr CircuitKind kKinds[] = {CircuitKind::kIdentity, CircuitKind::kBits, CircuitKind::kChain};
  for (CurveId curve : kCurves)
    for (int log2 = 10; log2 <= 16; ++log2) {
      auto made = KeyFor(curve, kKinds[log2 % 3], log2);
      Compare(made->key.view(), 0, made->circuit.witness(), std::string(CurveJsonName(curve)) + " 2^" + std::to_string(log2));
    }
}

// The device computes the same function of any values below r, satisfying or not.
TEST_F(DeviceTest, HostileWitnesses) {
  for (CurveId curve : kCurves) {
    auto made = KeyFor(curve, CircuitKind::kChain, 12);
    const ProvingKeyView view = made->key.view();
    FrCanonical minus_one{};
    const auto& modulus = curve == CurveId::kBn254 ? Bn254FrModulus::kValue : Bls12381FrModulus::kValue;
    std::memcpy(minus_one.data(), modulus.data(), kFrBytes);
    minus_one[0] -= 1;  // r is odd
    FrCanonical one{}, half{};
    one[0] = 1;
    half[15] = 0x80;
    uint64_t id = 1000 + static_cast<uint64_t>(curve);
    for (const FrCanonical& value : {FrCanonical{}, one, minus_one, half}) {
      std::vector<FrCanonical> witness(view.n_vars, value);
      Compare(view, id, ByteSpan(witness[0].data(), witness.size() * kFrBytes), "all equal, value " + std::to_string(value[0]));
      for (size_t i = 0; i < witness.size(); i += 3) witness[i] = minus_one;
      for (size_t i = 1; i < witness.size(); i += 7) witness[i] = one;
      Compare(view, id, ByteSpan(witness[0].data(), witness.size() * kFrBytes), "mixed with " + std::to_string(value[0]));
    }
  }
}

TEST_F(DeviceTest, PointsAtInfinity) {
  for (CurveId curve : kCurves) {
    auto made = KeyFor(curve, CircuitKind::kBits, 11);
    const size_t g1 = 2 * FqBytes(curve);
    for (KeySink::Section section : {KeySink::kA, KeySink::kB1, KeySink::kB2, KeySink::kC, KeySink::kH}) {
      std::vector<uint8_t>& bytes = made->key.section(section);
      const size_t point = section == KeySink::kB2 ? 2 * g1 : g1;
      for (size_t i = 0; i < bytes.size() / point; i += 3) std::memset(&bytes[i * point], 0, point);
      // Neighbours that are equal, and a point and its double take.
      if (bytes.size() >= 6 * point) std::memcpy(&bytes[4 * point], &bytes[5 * point], point);
      Compare(made->key.view(), 0, made->circuit.witness(), "a third at infinity, up to section " + std::to_string(section));
      std::memset(bytes.data(), 0, bytes.size());
      Compare(made->key.view(), 0, made->circuit.witness(), "all at infinity, up to section " + std::to_string(section));
    }
  }
}

TEST_F(DeviceTest, TwoKeysInTurn) {
  auto first = KeyFor(CurveId::kBn254, CircuitKind::kBits, 12), second = KeyFor(CurveId::kBls12381, CircuitKind::kChain, 13);
  for (int i = 0; i < 3; ++i) {
    Compare(first->key.view(), 7, first->circuit.witness(), "first");
    Compare(first->key.view(), 7, first->circuit.witness(), "first again");
    Compare(second->key.view(), 8, second->circuit.witness(), "second");
  }
}

// With less and less memory: lists without lanes, whole witnesses in fewer and fewer pieces, and at last a key that is streamed.
TEST_F(DeviceTest, SmallerAndSmallerArenas) {
  auto made = KeyFor(CurveId::kBn254, CircuitKind::kIdentity, 19);
  const ProvingKeyView view = made->key.view();
  Device* const usual = device_;
  std::set<int> seen;
  uint64_t arena = kArenaBytes;
  for (auto layout = LayOutProof(view, arena); layout.ok(); layout = LayOutProof(view, arena)) {
    const int kind = layout->plan.streaming.sections.empty() ? static_cast<int>(layout->plan.witness_mode) : 10 + static_cast<int>(layout->plan.streaming.sections.size());
    arena = layout->plan.peak_bytes;
    if (seen.insert(kind).second) {
      auto small = OpenCudaDevice({.ordinal = 0, .arena_bytes = arena});
      ASSERT_TRUE(small.ok()) << small.status().ToString();
      device_ = small->get();
      const std::string what = "in " + cuda::FormatBytes(arena) + ", kind " + std::to_string(kind);
      Compare(view, 5, made->circuit.witness(), what);
      Compare(view, 5, made->circuit.witness(), what + ", again");
      EXPECT_EQ(device_->tally().plan_bytes, arena);
    }
    arena -= std::min<uint64_t>(arena, std::max<uint64_t>(arena / 64, 1));
  }
  device_ = usual;
  EXPECT_TRUE(seen.contains(static_cast<int>(cuda::WitnessMode::kLanes)));
  EXPECT_TRUE(seen.contains(static_cast<int>(cuda::WitnessMode::kListed)));
  EXPECT_TRUE(seen.contains(15)) << "all five sections streamed";
}

// More values that are neither 0 nor 1 than the lists have room for.
TEST_F(DeviceTest, AWitnessTooWideForTheLists) {
  auto made = KeyFor(CurveId::kBls12381, CircuitKind::kIdentity, 17);
  const ProvingKeyView view = made->key.view();
  uint64_t arena = kArenaBytes;
  auto layout = LayOutProof(view, arena);
  while (layout.ok() && !(layout->lists() && layout->plan.list_room <= view.n_vars / 4)) layout = LayOutProof(view, arena = layout->plan.peak_bytes - 1);
  ASSERT_TRUE(layout.ok()) << "no arena gives lists for a part of the witness";
  auto small = OpenCudaDevice({.ordinal = 0, .arena_bytes = arena});
  ASSERT_TRUE(small.ok()) << small.status().ToString();
  Device* const usual = device_;
  device_ = small->get();
  std::vector<FrCanonical> witness(view.n_vars);
  for (FrCanonical& value : witness) value[0] = 1;
  Compare(view, 5, ByteSpan(witness[0].data(), witness.size() * kFrBytes), "ones");
  Compare(view, 5, made->circuit.witness(), "wide");
  Compare(view, 5, ByteSpan(witness[0].data(), witness.size() * kFrBytes), "ones again");
  device_ = usual;
}

// Inputs that come while the proof before is computed, in lanes and, in a smaller arena, one query after the other.
TEST_F(DeviceTest, InputsThatComeEarly) {
  auto made = KeyFor(CurveId::kBn254, CircuitKind::kBits, 16);
  const ProvingKeyView view = made->key.view();
  struct Input {
    std::vector<uint8_t> witness, a, b;
    Proof expected;
  };
  const StageObserver ignore = [](std::string_view, uint64_t) {};
  Blinding blinding;
  blinding.r = kKnownAnswerR;
  blinding.s = kKnownAnswerS;
  std::vector<Input> inputs(3);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Input& input = inputs[i];
    const ByteSpan witness = made->circuit.witness();
    input.witness.assign(witness.begin(), witness.end());
    for (size_t k = 1; k < view.n_vars; k += 5 + i) input.witness[k * kFrBytes + i] ^= 1;  // satisfying nothing
    input.a.resize(size_t{view.domain()} * kFrBytes), input.b.resize(input.a.size());
    ASSERT_TRUE(GetBackend(view.curve).ComputeRows(view, input.witness, input.a, input.b).ok());
    auto proof = GetBackend(view.curve).Prove(view, input.witness, input.a, input.b, blinding, ignore);
    ASSERT_TRUE(proof.ok());
    input.expected = *proof;
  }
  uint64_t number = 0;  // of the input under way
  uint64_t key_of_next = 31;
  std::optional<size_t> next_input;
  const AskNext next = [&]() -> std::optional<NextInput> {
    if (!next_input) return std::nullopt;
    const Input& input = inputs[*next_input];
    return NextInput{key_of_next, number + 1, input.witness, input.a, input.b};
  };
  const auto prove = [&](size_t i, std::optional<size_t> after, const char* what) {
    ++number;
    next_input = after;
    const uint64_t staged = device_->tally().inputs_staged;
    auto proof = device_->Prove({view, 31, inputs[i].witness, inputs[i].a, inputs[i].b, blinding, ignore, number, &next});
    ASSERT_TRUE(proof.ok()) << proof.status().ToString();
    EXPECT_TRUE(*proof == inputs[i].expected) << what << " " << number;
    came_early_ = device_->tally().inputs_staged - staged;
  };
  const auto stream = [&](const char* what) {
    prove(0, 1, what);
    for (size_t i = 1; i < 12; ++i) {
      prove(i % 3, (i + 1) % 3, what);
      EXPECT_EQ(came_early_, 1u) << what;
    }
    ++number;  // not the one that has come
    prove(2, std::nullopt, what);
    EXPECT_EQ(came_early_, 0u);
    key_of_next = 32;
    prove(0, 1, what);
    prove(1, 2, "not for another key");
    EXPECT_EQ(came_early_, 0u);
    key_of_next = 31;
    prove(2, 0, what);
    device_->Forget();
    prove(0, std::nullopt, "forgotten");
    EXPECT_EQ(came_early_, 0u);
  };
  stream("lanes");
  uint64_t arena = kArenaBytes;
  auto layout = LayOutProof(view, arena);
  while (layout.ok() && layout->lanes()) layout = LayOutProof(view, arena = layout->plan.peak_bytes - 1);
  ASSERT_TRUE(layout.ok() && layout->prestages());
  auto small = OpenCudaDevice({.ordinal = 0, .arena_bytes = arena});
  ASSERT_TRUE(small.ok()) << small.status().ToString();
  Device* const usual = device_;
  device_ = small->get();
  stream("lists");
  device_ = usual;
}

// The key's memory is not read again while it is resident.
TEST_F(DeviceTest, AResidentKeyStays) {
  auto made = KeyFor(CurveId::kBn254, CircuitKind::kBits, 10);
  const ProvingKeyView view = made->key.view();
  int loads = 0;
  const StageObserver count = [&](std::string_view stage, uint64_t) { loads += stage == "load_key"; };
  std::vector<uint8_t> a(size_t{view.domain()} * kFrBytes), b(a.size());
  ASSERT_TRUE(GetBackend(view.curve).ComputeRows(view, made->circuit.witness(), a, b).ok());
  Blinding blinding;
  blinding.r = kKnownAnswerR;
  std::optional<Proof> first;
  for (int i = 0; i < 3; ++i) {
    auto proof = device_->Prove({view, 77, made->circuit.witness(), a, b, blinding, count});
    ASSERT_TRUE(proof.ok()) << proof.status().ToString();
    if (!first) first = *proof;
    EXPECT_TRUE(*proof == *first);
    std::memset(made->key.section(KeySink::kA).data(), 0xff, made->key.section(KeySink::kA).size());
  }
  EXPECT_EQ(loads, 1);
}

TEST_F(DeviceTest, WrongSizesAreRefused) {
  auto made = KeyFor(CurveId::kBn254, CircuitKind::kBits, 10);
  const ProvingKeyView view = made->key.view();
  std::vector<uint8_t> rows(size_t{view.domain()} * kFrBytes);
  const Blinding blinding;
  const StageObserver ignore;
  const ByteSpan witness = made->circuit.witness();
  EXPECT_EQ(device_->Prove({view, 0, witness.first(32), rows, rows, blinding, ignore}).status().code(), ErrorCode::kMismatch);
  EXPECT_EQ(device_->Prove({view, 0, witness, ByteSpan(rows).first(32), rows, blinding, ignore}).status().code(), ErrorCode::kMismatch);
  EXPECT_FALSE(device_->lost());
}

// Last, since the device stays ready: a hundred proofs in pinned memory, and what they call.
TEST_F(DeviceTest, AHundredProofsCallNothingThatIsBanned) {
  auto first = KeyFor(CurveId::kBn254, CircuitKind::kBits, 12), second = KeyFor(CurveId::kBls12381, CircuitKind::kBits, 11);
  std::vector<uint8_t>& slot = g_slot;
  ASSERT_TRUE(device_->Pin(slot).ok());
  ASSERT_TRUE(device_->BecomeReady().ok());
  cuda::CallLedger& ledger = cuda::CallLedger::Process();
  std::string why;
  auto trace = ApiTrace::Start(&why);
  for (int i = 0; i < 100; ++i) {
    TestKey& made = i % 10 == 9 ? *second : *first;
    const ByteSpan witness = made.circuit.witness();
    ByteSpan used = witness;
    if (i % 2 == 0) {  // from the slot; else through the staging ring
      std::memcpy(slot.data(), witness.data(), witness.size());
      used = ByteSpan(slot).first(witness.size());
    }
    Compare(made.key.view(), i % 10 == 9 ? 2002 : 2001, used, "proof " + std::to_string(i));
  }
  EXPECT_GT(ledger.Calls(cuda::Phase::kReady), 1000u);
  EXPECT_EQ(ledger.Refused(), 0u);
  for (const auto& [name, count] : ledger.CallsByName(cuda::Phase::kReady)) EXPECT_FALSE(cuda::IsBannedWhenReady(name)) << name << " " << count;
  if (!trace) {
    std::printf("not traced from outside: %s\n", why.c_str());
    return;
  }
  uint64_t seen = 0;
  for (const auto& [name, count] : trace->Calls()) {
    seen += count;
    EXPECT_FALSE(cuda::IsBannedWhenReady(name)) << name << " was called " << count << " times";
  }
  EXPECT_GT(seen, 1000u);
  std::printf("traced from outside: %llu calls of %zu kinds\n", static_cast<unsigned long long>(seen), trace->Calls().size());
}

TEST_F(DeviceTest, ABrokenContextIsNoticed) {
  std::string self = "/proc/self/exe", mode = "--break-device";
  char* args[] = {self.data(), mode.data(), nullptr};
  pid_t pid = 0;
  ASSERT_EQ(posix_spawn(&pid, self.c_str(), nullptr, nullptr, args, environ), 0);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace

int BreakDevice() {
  auto device = OpenCudaDevice({.ordinal = 0, .arena_bytes = uint64_t{1} << 30});
  if (!device.ok()) return 2;
  // A kernel that writes where nothing is.
  void* nowhere = reinterpret_cast<void*>(uintptr_t{0x1000});
  (void)cuda::QapMultiply<Bn254FrModulus>(nowhere, nowhere, nowhere, 1024, nullptr);
  if (ProveKnownAnswers(**device).code() != ErrorCode::kDeviceFault || !(*device)->lost()) return 3;
  if (ProveKnownAnswers(**device).code() != ErrorCode::kDeviceFault) return 4;
  return 0;
}

}  // namespace proofline::gpu_worker

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--break-device") return proofline::gpu_worker::BreakDevice();
  ::testing::InitGoogleTest(&argc, argv);
  using namespace proofline;
  gpu_worker::g_device = gpu_worker::OpenCudaDevice({.ordinal = 0, .arena_bytes = gpu_worker::kArenaBytes});
  const int failed = RUN_ALL_TESTS();
  gpu_worker::g_device = Status(ErrorCode::kUnavailable, "closed");
  return failed;
}
