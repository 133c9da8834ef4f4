#include "gpu_worker/prove_pipeline.h"

#include <cstring>

#include "core/base/clock.h"
#include "core/base/text.h"

namespace proofline::gpu_worker {

Result<ProvedPartition> ProvePipeline::Run() {
  const ProvingKeyView& view = input_.key.zkey.view;
  publics_.resize(view.n_public);
  for (uint32_t i = 0; i < view.n_public; ++i)
    std::memcpy(publics_[i].data(), input_.witness.data() + (size_t{i} + 1) * kFrBytes, kFrBytes);
  PL_RETURN_IF_ERROR(CheckKeyOnce());
  PL_RETURN_IF_ERROR(PrepareVerificationKey());

  constexpr int kTries = 2;
  for (int attempt = 1; attempt <= kTries; ++attempt) {
    if (input_.cancelled()) return Status(ErrorCode::kCancelled, "cancelled before proving");
    PL_ASSIGN_OR_RETURN(Blinding blinding, backend_.RandomBlinding());
    PL_ASSIGN_OR_RETURN(Proof proof, ProveOnce(blinding));
    Status verified = Verify(proof);
    if (verified.ok()) return ProvedPartition{proof, std::move(publics_)};
    if (input_.cancelled()) return Status(ErrorCode::kCancelled, "cancelled before the proof was computed again");
    PL_ASSIGN_OR_RETURN(Proof reference, ProveByReference(blinding));
    if (reference == proof) return BlameInput();
    input_.device_fault(
        StrCat("proof ", attempt, " of ", kTries, " differs from the reference's: ", verified.error().fact));
  }
  return Status(ErrorCode::kDeviceFault, StrCat("device ", device_.name(), " gave ", kTries, " wrong proofs in a row"),
                "", "The partition goes to another device.");
}

Status ProvePipeline::CheckKeyOnce() {
  CachedKey& key = input_.key;
  if (key.points_on_curve) return OkStatus();
  uint64_t start = MonotonicNs();
  Status status = backend_.CheckPoints(key.zkey.view, Backend::PointCheck::kOnCurve,
                                       [&](ByteSpan section) { key.file.DropPages(section); });
  AddStage("check_key", start, MonotonicNs() - start);
  if (!status.ok()) return std::move(status).WithContext(input_.key_name);
  key.points_on_curve = true;
  return OkStatus();
}

Status ProvePipeline::PrepareVerificationKey() {
  if (input_.key.verification_key) return OkStatus();
  auto vk = backend_.ExtractVerificationKey(input_.key.zkey.view);
  if (!vk.ok()) return std::move(vk).status().WithContext(input_.key_name);
  input_.key.verification_key = *std::move(vk);
  return OkStatus();
}

Result<Proof> ProvePipeline::ProveOnce(const Blinding& blinding) {
  uint64_t now = MonotonicNs();
  StageObserver observer = [&](std::string_view stage, uint64_t nanoseconds) {
    uint64_t end = MonotonicNs();
    AddStage(stage, end - std::min(end, nanoseconds), nanoseconds);
    DropKeyPages(stage);
  };
  auto proof = device_.Prove({input_.key.zkey.view, input_.key.id, input_.witness, input_.rows_a, input_.rows_b, blinding, observer, input_.input_id,
                              input_.next ? &input_.next : nullptr});
  if (!proof.ok()) AddStage("prove", now, MonotonicNs() - now);
  return proof;
}

Result<Proof> ProvePipeline::ProveByReference(const Blinding& blinding) {
  uint64_t start = MonotonicNs();
  StageObserver observer = [&](std::string_view stage, uint64_t) { DropKeyPages(stage); };
  auto proof = GetBackend(backend_.curve(), ArithPath::kPortable)
                   .Prove(input_.key.zkey.view, input_.witness, input_.rows_a, input_.rows_b, blinding, observer);
  AddStage("reference", start, MonotonicNs() - start);
  return proof;
}

Status ProvePipeline::Verify(const Proof& proof) {
  uint64_t start = MonotonicNs();
  Status status = backend_.Verify(*input_.key.verification_key, publics_, proof);
  AddStage("verify", start, MonotonicNs() - start);
  return status;
}

Status ProvePipeline::BlameInput() const {
  return Status(ErrorCode::kUnsatisfied, StrCat("the witness does not satisfy the circuit of ", input_.key_name, ", or the key is damaged"),
                "two independent computations gave the same proof, and it does not verify",
                "`proofline check` with the circuit's .r1cs names the constraint; if it says OK, the key is at fault: compare its hash");
}

void ProvePipeline::AddStage(std::string_view name, uint64_t start_ns, uint64_t work_ns) {
  wire::StageTime time;
  time.set_stage(std::string(name));
  time.set_start_mono_ns(start_ns);
  time.set_work_ns(work_ns);
  stages_.push_back(std::move(time));
}

// A section that has been used is not used again for this proof; its pages stay in the page cache, not in this process.
void ProvePipeline::DropKeyPages(std::string_view stage) {
  const ProvingKeyView& view = input_.key.zkey.view;
  const MappedFile& file = input_.key.file;
  if (stage == "msm_h") file.DropPages(view.h);
  if (stage == "msm_a") file.DropPages(view.a);
  if (stage == "msm_b1") file.DropPages(view.b1);
  if (stage == "msm_b2") file.DropPages(view.b2);
  if (stage == "msm_c") file.DropPages(view.c);
}

}  // namespace proofline::gpu_worker
