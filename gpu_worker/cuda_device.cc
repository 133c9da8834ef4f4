#include "gpu_worker/cuda_device.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "cuda/device/call_ledger.h"
#include "cuda/msm/msm.h"
#include "gpu_worker/cuda_queue.h"

namespace proofline::gpu_worker {

namespace {

constexpr std::string_view kStageOf[kQueryCount] = {"msm_h", "msm_a", "msm_b1", "msm_b2", "msm_c"};
// Of all queries, and H's twice.
constexpr uint64_t kMostSumsBytes = cuda::Card::kDownloadBytes / 2 - 256;
// Between two looks at what has ended, and questions for the next input.
constexpr auto kAskAgain = std::chrono::microseconds(100);

class CudaDevice : public Device {
 public:
  CudaDevice(std::string name, std::unique_ptr<cuda::Card> card) : name_(std::move(name)), card_(std::move(card)), queue_(*card_) {}

  std::string_view name() const override { return name_; }
  Result<Proof> Prove(const ProveWork& work) override;
  void Forget() override;
  DeviceTally tally() const override;
  Status Pin(MutableByteSpan memory) override { return card_->Pin(memory); }
  Status BecomeReady() override {
    PL_RETURN_IF_ERROR(card_->Sync());
    cuda::CallLedger::Process().Enter(cuda::Phase::kReady);
    return OkStatus();
  }
  bool lost() const override { return lost_; }

  // Every kernel once, at a size that takes every path: a first launch may enlarge the card's stack memory, which waits for the device.
  Status WarmUp();

 private:
  CudaLayout& layout() { return queue_.layout(); }
  Result<Proof> ProveOnCard(const ProveWork& work);
  Status EnsureKey(const ProveWork& work);
  Status UploadKey(const ProvingKeyView& key);
  Status UploadSection(const ProvingKeyView& key, int query);
  Status BeginInput(const ProveWork& work);
  Status UploadInto(ByteSpan witness, ByteSpan rows_a, ByteSpan rows_b, const CudaPlace& witness_at, const CudaPlace& a, const CudaPlace& b, int input);
  Status StageNext(const ProveWork& work);
  Status WaitFor(const ProveWork& work, int event);
  Status ReportBusy(const ProveWork& work);
  Result<int> NextToEnd(const ProveWork& work, std::vector<int>& open);
  Result<Proof> Finish(const ProveWork& work);

  std::string name_;
  std::unique_ptr<cuda::Card> card_;
  CudaQueue queue_;
  uint64_t resident_key_ = 0;  // 0: none
  int input_ = 0;              // of the two inputs' events, those of the proof under way
  uint64_t staged_ = 0;        // the next input's number, in the other place, its first part queued; 0: none
  bool ended_before_ = false;  // kWorkEnds of the other input is that of the proof before
  uint64_t inputs_staged_ = 0;
  bool lost_ = false;
};

Status CheckVectors(const ProvingKeyView& key, ByteSpan witness, ByteSpan rows_a, ByteSpan rows_b) {
  const auto check = [](std::string_view what, size_t found, size_t expected) {
    if (found == expected) return OkStatus();
    return Status(ErrorCode::kMismatch, StrCat(what, " has ", found, " bytes, the key needs ", expected));
  };
  PL_RETURN_IF_ERROR(check("the witness", witness.size(), size_t{key.n_vars} * kFrBytes));
  PL_RETURN_IF_ERROR(check("the vector A.z", rows_a.size(), size_t{key.domain()} * kFrBytes));
  return check("the vector B.z", rows_b.size(), size_t{key.domain()} * kFrBytes);
}

Result<Proof> CudaDevice::Prove(const ProveWork& work) {
  if (lost_) return Status(ErrorCode::kDeviceFault, StrCat("device ", name_, " is lost"), "an earlier call failed", "start its owner again");
  PL_RETURN_IF_ERROR(CheckVectors(work.key, work.witness, work.rows_a, work.rows_b));
  Result<Proof> proof = ProveOnCard(work);
  // A failure says nothing about what is still queued; after it nothing may read the caller's memory. Otherwise all has been waited for but
  // what belongs to the next proof.
  Status idle = OkStatus();
  if (!proof.ok()) {
    idle = card_->Sync();
    resident_key_ = staged_ = 0;
    queue_.ForgetFront();
  } else if (staged_ == 0) {
    idle = queue_.QueueClear();
    card_->WipeStaging();
  }
  lost_ = proof.status().code() == ErrorCode::kDeviceFault || idle.code() == ErrorCode::kDeviceFault;
  if (proof.ok() && !idle.ok()) return std::move(idle).WithContext(StrCat("device ", name_));
  if (!proof.ok()) return std::move(proof).status().WithContext(StrCat("device ", name_));
  return proof;
}

void CudaDevice::Forget() {
  if (staged_ == 0 || lost_) return;
  staged_ = 0;
  queue_.ForgetFront();
  lost_ = !card_->Sync().ok() || !queue_.QueueClear().ok() || !card_->Sync().ok();
  card_->WipeStaging();
}

DeviceTally CudaDevice::tally() const {
  return {.memory = resident_key_ ? cuda::FormatPlan(queue_.layout().plan) : std::string(),
          .plan_bytes = queue_.layout().plan.peak_bytes,
          .arena_bytes = card_->arena_bytes(),
          .in_use_bytes = card_->bytes_in_use(),
          .bytes_up = card_->bytes_up(),
          .bytes_down = card_->bytes_down(),
          .inputs_staged = inputs_staged_};
}

Result<Proof> CudaDevice::ProveOnCard(const ProveWork& work) {
  PL_RETURN_IF_ERROR(EnsureKey(work));
  PL_RETURN_IF_ERROR(BeginInput(work));
  const auto upload_witness = [&]() -> Status {
    PL_RETURN_IF_ERROR(card_->Upload(queue_.At(layout().witness), work.witness));
    return card_->Record(kWitnessThere + input_, card_->copy());
  };
  PL_RETURN_IF_ERROR(queue_.QueueProof(work.key, input_, upload_witness));
  return Finish(work);
}

// ---- the key ----

Status CudaDevice::UploadSection(const ProvingKeyView& key, int query) {
  if (layout().plan.msms[static_cast<size_t>(query)].streamed) return OkStatus();
  const ByteSpan sections[kQueryCount] = {key.h, key.a, key.b1, key.b2, key.c};
  const CudaPlace& place = layout().points[query];
  const size_t infinities = query == kQueryC ? layout().public_points * cuda::MsmPointBytes(layout().plan.msms[kQueryC].group) : 0;
  if (infinities + sections[query].size() != place.bytes)
    return Status(ErrorCode::kMismatch, StrCat("the key's section for ", kStageOf[query], " has ", sections[query].size(), " bytes, ",
                                               place.bytes - infinities, " were expected"));
  PL_RETURN_IF_ERROR(card_->Clear(queue_.At(place), infinities, card_->copy()));
  return card_->Upload(queue_.At(place) + infinities, sections[query]);
}

Status CudaDevice::UploadKey(const ProvingKeyView& key) {
  PL_RETURN_IF_ERROR(card_->Sync());
  for (int q = 0; q < kQueryCount; ++q) PL_RETURN_IF_ERROR(UploadSection(key, q));
  if (layout().plan.Find(cuda::buffer::kTwiddles)->resident) PL_RETURN_IF_ERROR(queue_.BuildRoots());
  PL_RETURN_IF_ERROR(card_->Sync());
  PL_RETURN_IF_ERROR(queue_.MarkPresent());
  return card_->Sync();
}

Status CudaDevice::EnsureKey(const ProveWork& work) {
  if (work.key_id != 0 && work.key_id == resident_key_) return OkStatus();
  const uint64_t start = MonotonicNs();
  Forget();
  resident_key_ = 0;
  ended_before_ = false;
  PL_ASSIGN_OR_RETURN(CudaLayout layout, LayOutProof(work.key, card_->arena_bytes(), kMostSumsBytes));
  queue_.SetLayout(std::move(layout));
  PL_RETURN_IF_ERROR(UploadKey(work.key));
  resident_key_ = work.key_id;
  const cuda::VramPlan& plan = queue_.layout().plan;
  if (work.key_id != 0)
    LogInfo("memory plan", {{"device", name_}, {"domain_log2", plan.shape.log2_domain}, {"plan_bytes", plan.peak_bytes}, {"arena_bytes", plan.capacity_bytes},
                            {"prestaging", plan.prestage.text}, {"key", plan.streaming.text}});
  if (work.observer) work.observer("load_key", MonotonicNs() - start);
  return OkStatus();
}

// ---- the input ----

Status CudaDevice::UploadInto(ByteSpan witness, ByteSpan rows_a, ByteSpan rows_b, const CudaPlace& witness_at, const CudaPlace& a, const CudaPlace& b, int input) {
  PL_RETURN_IF_ERROR(card_->Record(kInputBegins + input, card_->copy()));
  PL_RETURN_IF_ERROR(card_->Upload(queue_.At(witness_at), witness));
  PL_RETURN_IF_ERROR(card_->Record(kWitnessThere + input, card_->copy()));
  PL_RETURN_IF_ERROR(card_->Upload(queue_.At(a), rows_a));
  PL_RETURN_IF_ERROR(card_->Upload(queue_.At(b), rows_b));
  return card_->Record(kInputThere + input, card_->copy());
}

// A staged witness stays where it came to. Without one, what was queued for an input that has not come to its turn is in the way of this one's.
Status CudaDevice::BeginInput(const ProveWork& work) {
  const bool staged = staged_ != 0 && staged_ == work.input_id;
  if (staged_ != 0 && !staged) Forget();
  staged_ = 0;
  input_ ^= 1;
  PL_RETURN_IF_ERROR(card_->Order(card_->copy(), kCleared));
  if (staged) {
    ++inputs_staged_;
    std::swap(layout().witness, layout().next_witness);
    return queue_.CanQueueFront() ? OkStatus() : queue_.TakeRows(input_);
  }
  const ByteSpan witness = queue_.WitnessIsLate() ? ByteSpan() : work.witness;
  return UploadInto(witness, work.rows_a, work.rows_b, layout().witness, layout().a, layout().b, input_);
}

Status CudaDevice::StageNext(const ProveWork& work) {
  if (staged_ != 0 || work.next == nullptr || !layout().prestages() || work.key_id == 0) return OkStatus();
  const std::optional<NextInput> next = (*work.next)();
  if (!next || next->input_id == 0 || next->key_id != work.key_id || !CheckVectors(work.key, next->witness, next->rows_a, next->rows_b).ok()) return OkStatus();
  PL_RETURN_IF_ERROR(card_->Order(card_->copy(), kRowsTaken));
  PL_RETURN_IF_ERROR(UploadInto(next->witness, next->rows_a, next->rows_b, layout().next_witness, layout().next_a, layout().next_b, input_ ^ 1));
  staged_ = next->input_id;
  return queue_.CanQueueFront() ? queue_.QueueFront(input_ ^ 1) : OkStatus();
}

// ---- the end of a proof ----

Status CudaDevice::WaitFor(const ProveWork& work, int event) {
  while (staged_ == 0 && work.next != nullptr && layout().prestages()) {
    PL_ASSIGN_OR_RETURN(const bool reached, card_->Reached(event));
    if (reached) return OkStatus();
    PL_RETURN_IF_ERROR(StageNext(work));
    if (staged_ == 0) std::this_thread::sleep_for(kAskAgain);
  }
  return card_->Wait(event);
}

// Takes out of `open` a query that has ended, or the last one: lanes are done in another order than they were begun.
Result<int> CudaDevice::NextToEnd(const ProveWork& work, std::vector<int>& open) {
  for (;; std::this_thread::sleep_for(kAskAgain)) {
    for (size_t i = 0; i < open.size(); ++i) {
      const int q = open[i];
      PL_ASSIGN_OR_RETURN(const bool ended, card_->Reached(CudaQueue::EndOf(q, input_)));
      if (!ended && open.size() > 1) continue;
      open.erase(open.begin() + static_cast<ptrdiff_t>(i));
      return q;
    }
    PL_RETURN_IF_ERROR(StageNext(work));
  }
}

Result<Proof> CudaDevice::Finish(const ProveWork& work) {
  PL_RETURN_IF_ERROR(StageNext(work));
  const auto report = [&](std::string_view stage, int first, int last) -> Status {
    PL_RETURN_IF_ERROR(WaitFor(work, last));
    PL_ASSIGN_OR_RETURN(const int64_t nanoseconds, card_->NanosecondsBetween(first, last));
    if (work.observer) work.observer(stage, static_cast<uint64_t>(std::max<int64_t>(nanoseconds, 0)));
    return OkStatus();
  };
  PL_RETURN_IF_ERROR(report("upload", kInputBegins + input_, kInputThere + input_));
  PL_RETURN_IF_ERROR(report("ntt", kTransformBegins + input_, kTransformed + input_));
  std::array<std::vector<uint8_t>, kQueryCount> points;
  for (std::vector<int> open = {kQueryH, kQueryA, kQueryC, kQueryB2, kQueryB1}; !open.empty();) {
    PL_ASSIGN_OR_RETURN(const int q, NextToEnd(work, open));
    PL_RETURN_IF_ERROR(report(kStageOf[q], CudaQueue::BeginOf(q, input_), CudaQueue::EndOf(q, input_)));
    points[static_cast<size_t>(q)] = queue_.Sum(q, input_);
  }
  PL_RETURN_IF_ERROR(ReportBusy(work));
  const uint64_t start = MonotonicNs();
  const QuerySums sums{.h = points[kQueryH], .a = points[kQueryA], .b1 = points[kQueryB1], .b2 = points[kQueryB2], .c = points[kQueryC]};
  Result<Proof> proof = GetBackend(work.key.curve).Assemble(work.key, sums, work.blinding);
  if (work.observer) work.observer("assemble", MonotonicNs() - start);
  return proof;
}

// From the first kernel, or the end of the proof before where that came later, to the last.
Status CudaDevice::ReportBusy(const ProveWork& work) {
  PL_RETURN_IF_ERROR(WaitFor(work, kWorkEnds + input_));
  int64_t busy = 0;
  PL_ASSIGN_OR_RETURN(busy, card_->NanosecondsBetween(kTransformBegins + input_, kWorkEnds + input_));
  if (layout().lists()) {
    PL_ASSIGN_OR_RETURN(const int64_t with_lists, card_->NanosecondsBetween(kListsBegin, kWorkEnds + input_));
    busy = std::max(busy, with_lists);
  }
  if (ended_before_) {
    PL_ASSIGN_OR_RETURN(const int64_t since, card_->NanosecondsBetween(kWorkEnds + (input_ ^ 1), kWorkEnds + input_));
    busy = std::min(busy, since);
  }
  ended_before_ = true;
  if (work.observer) work.observer("device", static_cast<uint64_t>(std::max<int64_t>(busy, 0)));
  return OkStatus();
}

Status CudaDevice::WarmUp() {
  for (CurveId curve : {CurveId::kBn254, CurveId::kBls12381}) {
    // A domain of more than one tile and, for G1 and G2, lists of more than one chunk and sort tile.
    ProvingKeyView shape;
    shape.curve = curve;
    shape.log2_domain = 14;
    shape.n_vars = uint32_t{1} << 16;
    PL_ASSIGN_OR_RETURN(CudaLayout layout, LayOutProof(shape, card_->arena_bytes(), kMostSumsBytes));
    queue_.SetLayout(std::move(layout));
    PL_RETURN_IF_ERROR(queue_.WarmUp());
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<Device>> OpenCudaDevice(const CudaOptions& options) {
  PL_ASSIGN_OR_RETURN(std::unique_ptr<cuda::Card> card, cuda::Card::Open({options.ordinal, options.arena_bytes}));
  auto device = std::make_unique<CudaDevice>(StrCat("cuda:", options.ordinal), std::move(card));
  PL_RETURN_IF_ERROR(device->WarmUp());
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace proofline::gpu_worker
