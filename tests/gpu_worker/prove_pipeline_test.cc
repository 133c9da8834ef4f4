// The pipeline over devices that lie.

#include "gpu_worker/prove_pipeline.h"

#include <gtest/gtest.h>

#include "core/formats/wtns.h"
#include "gpu_worker/known_answer.h"

namespace proofline::gpu_worker {
namespace {

// The CPU device, wrong on chosen calls: a valid point, but not the right one.
class LyingDevice : public Device {
 public:
  explicit LyingDevice(std::vector<bool> lies)
      : lies_(std::move(lies)), honest_(std::move(OpenDevice("cpu")).value()) {}
  std::string_view name() const override { return "liar"; }
  Result<Proof> Prove(const ProveWork& work) override {
    PL_ASSIGN_OR_RETURN(Proof proof, honest_->Prove(work));
    bool lie = calls_ < lies_.size() && lies_[calls_];
    ++calls_;
    if (lie) std::swap(proof.a, proof.c);
    blindings.push_back(work.blinding.r);
    return proof;
  }
  size_t calls() const { return calls_; }
  std::vector<FrCanonical> blindings;

 private:
  std::vector<bool> lies_;
  std::unique_ptr<Device> honest_;
  size_t calls_ = 0;
};

class ProvePipelineTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string base = std::string(PROOFLINE_SAMPLES) + "/" + GetParam() + "/multiplier";
    key_.file = std::move(MappedFile::Open(base + ".zkey")).value();
    key_.zkey = std::move(ReadZkey(key_.file.bytes(), "key")).value();
    auto file = MappedFile::Open(base + ".wtns");
    auto wtns = ReadWtns(file->bytes(), "wtns");
    witness_.assign(wtns->values.begin(), wtns->values.end());
    ComputeRows();
  }
  void ComputeRows() {
    const ProvingKeyView& view = key_.zkey.view;
    a_.assign(size_t{view.domain()} * kFrBytes, 0);
    b_ = a_;
    ASSERT_TRUE(GetBackend(view.curve).ComputeRows(view, witness_, a_, b_).ok());
  }
  Result<ProvedPartition> Run(Device& device) {
    faults_ = 0;
    ProvePipeline pipeline(device, {.key = key_,
                                    .key_name = "K.zkey",
                                    .witness = witness_,
                                    .rows_a = a_,
                                    .rows_b = b_,
                                    .cancelled = [this] { return cancelled_; },
                                    .device_fault = [this](const std::string&) { ++faults_; }});
    auto result = pipeline.Run();
    stages_.clear();
    for (const auto& stage : pipeline.stages()) stages_.push_back(stage.stage());
    return result;
  }
  long Count(const std::string& stage) { return std::count(stages_.begin(), stages_.end(), stage); }

  CachedKey key_;
  std::vector<uint8_t> witness_, a_, b_;
  bool cancelled_ = false;
  int faults_ = 0;
  std::vector<std::string> stages_;
};

TEST_P(ProvePipelineTest, HonestDeviceProvesOnce) {
  LyingDevice device({});
  auto proved = Run(device);
  ASSERT_TRUE(proved.ok()) << proved.status().ToString();
  EXPECT_EQ(proved->publics.size(), 1u);
  EXPECT_TRUE(GetBackend(key_.zkey.view.curve).Verify(*key_.verification_key, proved->publics, proved->proof).ok());
  EXPECT_EQ(device.calls(), 1u);
  EXPECT_EQ(Count("reference"), 0);
}

TEST_P(ProvePipelineTest, OneWrongProofIsProvedAgainWithFreshRandomness) {
  LyingDevice device({true});
  auto proved = Run(device);
  ASSERT_TRUE(proved.ok()) << proved.status().ToString();
  EXPECT_TRUE(GetBackend(key_.zkey.view.curve).Verify(*key_.verification_key, proved->publics, proved->proof).ok());
  EXPECT_EQ(faults_, 1);
  EXPECT_EQ(device.calls(), 2u);
  EXPECT_NE(device.blindings[0], device.blindings[1]);
}

TEST_P(ProvePipelineTest, TwoWrongProofsAreADeviceFault) {
  LyingDevice device({true, true, true});
  auto proved = Run(device);
  EXPECT_EQ(proved.status().code(), ErrorCode::kDeviceFault);
  EXPECT_EQ(faults_, 2);
  EXPECT_EQ(device.calls(), 2u);
}

TEST_P(ProvePipelineTest, BadWitnessIsNotTheDevicesFault) {
  witness_[2 * kFrBytes] ^= 1;
  ComputeRows();
  LyingDevice device({});
  auto proved = Run(device);
  EXPECT_EQ(proved.status().code(), ErrorCode::kUnsatisfied) << proved.status().ToString();
  for (const char* words : {"does not satisfy", "K.zkey, or the key is damaged", "proofline check"})
    EXPECT_NE(proved.status().ToString().find(words), std::string::npos) << proved.status().ToString();
  EXPECT_EQ(faults_, 0);
  EXPECT_EQ(device.calls(), 1u);
  EXPECT_EQ(Count("reference"), 1);
}

TEST_P(ProvePipelineTest, BadWitnessOnALyingDeviceIsFoundInTheEnd) {
  witness_[2 * kFrBytes] ^= 1;
  ComputeRows();
  LyingDevice device({true, false});
  EXPECT_EQ(Run(device).status().code(), ErrorCode::kUnsatisfied);
  EXPECT_EQ(faults_, 1);
}

TEST_P(ProvePipelineTest, Cancelled) {
  cancelled_ = true;
  LyingDevice device({});
  EXPECT_EQ(Run(device).status().code(), ErrorCode::kCancelled);
  EXPECT_EQ(device.calls(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Curves, ProvePipelineTest, ::testing::Values("bn128", "bls12381"));

TEST(KnownAnswer, HonestDevicePassesLiarFails) {
  LyingDevice honest({});
  Status s = ProveKnownAnswers(honest);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(honest.calls(), 2u) << "both curves";
  for (std::vector<bool> lies : {std::vector<bool>{true}, {false, true}}) {
    LyingDevice liar(lies);
    EXPECT_EQ(ProveKnownAnswers(liar).code(), ErrorCode::kDeviceFault);
  }
}

TEST(OpenDevice, Names) {
  EXPECT_TRUE(OpenDevice("cpu").ok());
  EXPECT_EQ(OpenDevice("cuda:99").status().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(OpenDevice("").status().code(), ErrorCode::kUsage);
}

}  // namespace
}  // namespace proofline::gpu_worker
