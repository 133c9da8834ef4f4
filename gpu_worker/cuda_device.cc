#include "gpu_worker/cuda_device.h"

#include <array>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "cuda/device/call_ledger.h"
#include "cuda/device/card.h"
#include "cuda/msm/msm_present.h"
#include "cuda/ntt/ntt.h"
#include "cuda/qap/qap.h"
#include "gpu_worker/cuda_layout.h"

namespace proofline::gpu_worker {

namespace {

// Events of one proof. kQueryBegins + q and kQueryEnds + q enclose query q.
enum Event {
  kUploadBegins,
  kWitnessUploaded,
  kUploaded,
  kClassified,                              // + list
  kDigitsReady = kClassified + kListCount,  // + list
  kTransformBegins = kDigitsReady + kListCount,
  kTransformed,
  kQueryBegins,
  kQueryEnds = kQueryBegins + kQueryCount,
  kCleared = kQueryEnds + kQueryCount
};
static_assert(kCleared < cuda::Card::kEventCount);
// The longest first.
constexpr Query kQueueOrder[] = {kQueryB2, kQueryA, kQueryC, kQueryB1};
// B2 takes longest and H waits for the transforms: theirs are the lanes of the highest priority.
constexpr int kLaneOf[kQueryCount] = {3, 2, 0, 4, 1};
// Where in the card's memory for downloads the classes and the sums arrive.
constexpr size_t kClassesAt = 0, kSumsAt = 256;
constexpr std::string_view kStageOf[kQueryCount] = {"msm_h", "msm_a", "msm_b1", "msm_b2", "msm_c"};

struct FieldCode {
  Status (*build_roots)(void*, int, cuda::StreamHandle);
  Status (*scalars_of_h)(void*, void*, void*, const void*, int, cuda::StreamHandle);
};
template <class M>
constexpr FieldCode kCodeOf = {cuda::NttBuildTable<M>, cuda::QapScalarsOfH<M>};
const FieldCode& CodeOf(CurveId curve) {
  return curve == CurveId::kBn254 ? kCodeOf<Bn254FrModulus> : kCodeOf<Bls12381FrModulus>;
}

class CudaDevice : public Device {
 public:
  CudaDevice(std::string name, std::unique_ptr<cuda::Card> card) : name_(std::move(name)), card_(std::move(card)) {}

  std::string_view name() const override { return name_; }
  Result<Proof> Prove(const ProveWork& work) override;
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
  Result<Proof> ProveOnCard(const ProveWork& work);
  Status EnsureKey(const ProveWork& work);
  Status UploadWitness(const ProveWork& work);
  Status QueueTransforms(const ProvingKeyView& key);
  Status QueueProof(const ProveWork& work);
  Status QueuePresentInB(uint32_t n_vars);
  int FirstOf(int list) const;  // the query on whose lane a list is made
  Status QueueClasses(int list, uint32_t n_vars);
  Result<cuda::MsmClasses> ReadClasses(int list, uint32_t n_vars);
  Status QueueDigits(int list, uint32_t n_vars);
  Status PlanAndQueueDigits(uint32_t n_vars);
  Status QueueSums(int query);
  Result<Proof> Finish(const ProveWork& work);
  Status WarmUpCurve(CurveId curve);

  cuda::StreamHandle LaneOf(int query) const;
  size_t SumsAt(int query) const;
  uint8_t* At(const CudaPlace& place) const { return card_->arena() + place.offset; }

  std::string name_;
  std::unique_ptr<cuda::Card> card_;
  uint64_t resident_key_ = 0;  // 0: none
  CudaLayout layout_;          // of the key that is there
  std::array<cuda::MsmPlan, kQueryCount> plans_;  // of the proof under way
  bool lost_ = false;
};

Status CheckSizes(const ProveWork& work) {
  const ProvingKeyView& key = work.key;
  const auto check = [](std::string_view what, size_t found, size_t expected) {
    if (found == expected) return OkStatus();
    return Status(ErrorCode::kMismatch, StrCat(what, " has ", found, " bytes, the key needs ", expected));
  };
  PL_RETURN_IF_ERROR(check("the witness", work.witness.size(), size_t{key.n_vars} * kFrBytes));
  PL_RETURN_IF_ERROR(check("the vector A.z", work.rows_a.size(), size_t{key.domain()} * kFrBytes));
  return check("the vector B.z", work.rows_b.size(), size_t{key.domain()} * kFrBytes);
}

Result<Proof> CudaDevice::Prove(const ProveWork& work) {
  if (lost_) return Status(ErrorCode::kDeviceFault, StrCat("device ", name_, " is lost"), "an earlier call failed", "start its owner again");
  PL_RETURN_IF_ERROR(CheckSizes(work));
  Result<Proof> proof = ProveOnCard(work);
  // What is queued may still read the caller's memory.
  Status idle = card_->Sync();
  card_->WipeStaging();
  if (!proof.ok()) resident_key_ = 0;
  lost_ = proof.status().code() == ErrorCode::kDeviceFault || idle.code() == ErrorCode::kDeviceFault;
  if (proof.ok() && !idle.ok()) return std::move(idle).WithContext(StrCat("device ", name_));
  if (!proof.ok()) return std::move(proof).status().WithContext(StrCat("device ", name_));
  return proof;
}

Result<Proof> CudaDevice::ProveOnCard(const ProveWork& work) {
  PL_RETURN_IF_ERROR(EnsureKey(work));
  PL_RETURN_IF_ERROR(UploadWitness(work));
  PL_RETURN_IF_ERROR(QueueProof(work));
  return Finish(work);
}

Status CudaDevice::EnsureKey(const ProveWork& work) {
  if (work.key_id != 0 && work.key_id == resident_key_) return OkStatus();
  const uint64_t start = MonotonicNs();
  resident_key_ = 0;
  const ProvingKeyView& key = work.key;
  PL_ASSIGN_OR_RETURN(layout_, LayOutProof(key, card_->arena_bytes()));
  plans_ = layout_.plans;
  const ByteSpan sections[kQueryCount] = {key.h, key.a, key.b1, key.b2, key.c};
  for (int q = 0; q < kQueryCount; ++q) {
    uint8_t* at = At(layout_.points[q]);
    const size_t infinities = q == kQueryC ? layout_.public_points * cuda::MsmPointBytes(layout_.plans[q].group) : 0;
    if (infinities + sections[q].size() != layout_.points[q].bytes)
      return Status(ErrorCode::kMismatch, StrCat("the key's section for ", kStageOf[q], " has ", sections[q].size(), " bytes, ",
                                                 layout_.points[q].bytes - infinities, " were expected"));
    PL_RETURN_IF_ERROR(card_->Clear(at, infinities, card_->copy()));
    PL_RETURN_IF_ERROR(card_->Upload(at + infinities, sections[q]));
  }
  if (key.log2_domain > 0)
    PL_RETURN_IF_ERROR(CodeOf(key.curve).build_roots(At(layout_.roots), static_cast<int>(key.log2_domain), card_->compute()));
  PL_RETURN_IF_ERROR(card_->Sync());
  if (layout_.side_by_side) {
    PL_RETURN_IF_ERROR(QueuePresentInB(key.n_vars));
    PL_RETURN_IF_ERROR(card_->Sync());
  }
  resident_key_ = work.key_id;
  if (work.observer) work.observer("load_key", MonotonicNs() - start);
  return OkStatus();
}

Status CudaDevice::UploadWitness(const ProveWork& work) {
  PL_RETURN_IF_ERROR(card_->Record(kUploadBegins, card_->copy()));
  PL_RETURN_IF_ERROR(card_->Upload(At(layout_.witness), work.witness));
  PL_RETURN_IF_ERROR(card_->Record(kWitnessUploaded, card_->copy()));
  PL_RETURN_IF_ERROR(card_->Upload(At(layout_.a), work.rows_a));
  PL_RETURN_IF_ERROR(card_->Upload(At(layout_.b), work.rows_b));
  return card_->Record(kUploaded, card_->copy());
}

cuda::StreamHandle CudaDevice::LaneOf(int query) const { return card_->compute(layout_.side_by_side ? kLaneOf[query] : 0); }

size_t CudaDevice::SumsAt(int query) const { return kSumsAt + (layout_.sums[query].offset - layout_.sums[0].offset); }

Status CudaDevice::QueueSums(int query) {
  cuda::StreamHandle stream = LaneOf(query);
  const cuda::MsmPlan& plan = plans_[query];
  uint8_t* sums = At(layout_.sums[query]);
  PL_RETURN_IF_ERROR(card_->Record(kQueryBegins + query, stream));
  if (plan.digits_apart) {
    PL_RETURN_IF_ERROR(cuda::MsmQueueSums(plan, At(layout_.points[query]), At(layout_.digits[ListOf(query)]), At(layout_.work[query]), sums, stream));
  } else {
    const void* scalars = At(query == kQueryH ? layout_.a : layout_.witness);
    PL_RETURN_IF_ERROR(cuda::MsmQueue(plan, At(layout_.points[query]), scalars, At(layout_.work[query]), sums, stream));
  }
  PL_RETURN_IF_ERROR(card_->Download(SumsAt(query), sums, plan.result_bytes, stream));
  return card_->Record(kQueryEnds + query, stream);
}

// In an honest key B1 and B2 have the same points at infinity; nothing here depends on it.
Status CudaDevice::QueuePresentInB(uint32_t n_vars) {
  for (const Query q : {kQueryB1, kQueryB2})
    PL_RETURN_IF_ERROR(cuda::MsmMarkPresent(layout_.plans[q].group, At(layout_.points[q]), n_vars, q == kQueryB2, At(layout_.present), card_->compute()));
  return OkStatus();
}

int CudaDevice::FirstOf(int list) const { return list == kListB ? kQueryB2 : kQueryA; }

Status CudaDevice::QueueClasses(int list, uint32_t n_vars) {
  cuda::StreamHandle stream = LaneOf(FirstOf(list));
  const size_t at = list * sizeof(cuda::MsmClasses);
  uint8_t* classes = At(layout_.classes) + at;
  PL_RETURN_IF_ERROR(card_->Order(stream, kWitnessUploaded));
  PL_RETURN_IF_ERROR(cuda::MsmClassifyPresent(At(layout_.witness), list == kListB ? At(layout_.present) : nullptr, n_vars,
                                              At(layout_.indices[list]), classes, stream));
  PL_RETURN_IF_ERROR(card_->Download(kClassesAt + at, classes, sizeof(cuda::MsmClasses), stream));
  return card_->Record(kClassified + list, stream);
}

Result<cuda::MsmClasses> CudaDevice::ReadClasses(int list, uint32_t n_vars) {
  PL_RETURN_IF_ERROR(card_->Wait(kClassified + list));
  cuda::MsmClasses classes;
  std::memcpy(&classes, card_->downloaded(kClassesAt + list * sizeof classes, sizeof classes).data(), sizeof classes);
  if (uint64_t{classes.wide} + classes.ones <= n_vars) return classes;
  return Status(ErrorCode::kDeviceFault, StrCat(classes.wide, " wide values and ", classes.ones, " ones among ", n_vars));
}

Status CudaDevice::QueueDigits(int list, uint32_t n_vars) {
  cuda::StreamHandle stream = LaneOf(FirstOf(list));
  PL_RETURN_IF_ERROR(cuda::MsmQueueDigits(plans_[FirstOf(list)], At(layout_.witness), At(layout_.indices[list]), n_vars,
                                          At(layout_.digits[list]), stream));
  return card_->Record(kDigitsReady + list, stream);
}

// What the witness is made of decides the plans: the host waits for that, while H is queued already.
Status CudaDevice::PlanAndQueueDigits(uint32_t n_vars) {
  PL_ASSIGN_OR_RETURN(const cuda::MsmClasses all, ReadClasses(kListAll, n_vars));
  PL_ASSIGN_OR_RETURN(const cuda::MsmClasses in_b, ReadClasses(kListB, n_vars));
  plans_ = PlanWitness(layout_, {all, in_b});
  PL_RETURN_IF_ERROR(QueueDigits(kListB, n_vars));
  return QueueDigits(kListAll, n_vars);
}

Status CudaDevice::QueueTransforms(const ProvingKeyView& key) {
  cuda::StreamHandle stream = LaneOf(kQueryH);
  PL_RETURN_IF_ERROR(card_->Order(stream, kUploaded));  // the witness is there too by then
  PL_RETURN_IF_ERROR(card_->Record(kTransformBegins, stream));
  PL_RETURN_IF_ERROR(CodeOf(key.curve).scalars_of_h(At(layout_.a), At(layout_.b), At(layout_.work[kQueryH]), At(layout_.roots),
                                                     static_cast<int>(key.log2_domain), stream));
  return card_->Record(kTransformed, stream);
}

Status CudaDevice::QueueProof(const ProveWork& work) {
  const uint32_t n_vars = work.key.n_vars;
  if (layout_.side_by_side)
    for (const List list : {kListB, kListAll}) PL_RETURN_IF_ERROR(QueueClasses(list, n_vars));
  PL_RETURN_IF_ERROR(QueueTransforms(work.key));
  PL_RETURN_IF_ERROR(QueueSums(kQueryH));
  if (layout_.side_by_side) PL_RETURN_IF_ERROR(PlanAndQueueDigits(n_vars));
  for (const Query q : kQueueOrder) {
    if (layout_.side_by_side) PL_RETURN_IF_ERROR(card_->Order(LaneOf(q), kDigitsReady + ListOf(q)));
    PL_RETURN_IF_ERROR(QueueSums(q));
  }
  // From the witness to the end of the arena's used part: all that was made of a witness.
  cuda::StreamHandle stream = card_->compute();
  for (int q = 0; q < kQueryCount; ++q) PL_RETURN_IF_ERROR(card_->Order(stream, kQueryEnds + q));
  PL_RETURN_IF_ERROR(card_->Clear(At(layout_.witness), layout_.total_bytes - layout_.witness.offset, stream));
  return card_->Record(kCleared, stream);
}

Result<Proof> CudaDevice::Finish(const ProveWork& work) {
  const auto report = [&](std::string_view stage, int first, int last) -> Status {
    PL_RETURN_IF_ERROR(card_->Wait(last));
    PL_ASSIGN_OR_RETURN(uint64_t nanoseconds, card_->NanosecondsBetween(first, last));
    if (work.observer) work.observer(stage, nanoseconds);
    return OkStatus();
  };
  PL_RETURN_IF_ERROR(report("upload", kUploadBegins, kUploaded));
  PL_RETURN_IF_ERROR(report("ntt", kTransformBegins, kTransformed));
  std::array<std::vector<uint8_t>, kQueryCount> points;
  for (int q : {kQueryH, kQueryA, kQueryB1, kQueryC, kQueryB2}) {
    PL_RETURN_IF_ERROR(report(kStageOf[q], kQueryBegins + q, kQueryEnds + q));
    points[q] = cuda::MsmFinish(plans_[q], card_->downloaded(SumsAt(q), plans_[q].result_bytes));
  }
  const uint64_t start = MonotonicNs();
  const QuerySums sums{.h = points[kQueryH], .a = points[kQueryA], .b1 = points[kQueryB1], .b2 = points[kQueryB2], .c = points[kQueryC]};
  Result<Proof> proof = GetBackend(work.key.curve).Assemble(work.key, sums, work.blinding);
  if (work.observer) work.observer("assemble", MonotonicNs() - start);
  PL_RETURN_IF_ERROR(report("device", kUploadBegins, kCleared));
  return proof;
}

Status CudaDevice::WarmUp() {
  for (CurveId curve : {CurveId::kBn254, CurveId::kBls12381}) PL_RETURN_IF_ERROR(WarmUpCurve(curve));
  return OkStatus();
}

// Points at infinity times zeros, on a domain of more than one tile and, for G1 and G2, lists of more than one chunk and sort tile.
Status CudaDevice::WarmUpCurve(CurveId curve) {
  ProvingKeyView shape;
  shape.curve = curve;
  shape.log2_domain = 14;
  shape.n_vars = uint32_t{1} << 16;
  PL_ASSIGN_OR_RETURN(layout_, LayOutProof(shape, card_->arena_bytes()));
  plans_ = layout_.plans;
  PL_RETURN_IF_ERROR(card_->Clear(card_->arena(), layout_.total_bytes, card_->compute()));
  PL_RETURN_IF_ERROR(CodeOf(curve).build_roots(At(layout_.roots), static_cast<int>(shape.log2_domain), card_->compute()));
  for (int log2_n : {1, 14})
    PL_RETURN_IF_ERROR(CodeOf(curve).scalars_of_h(At(layout_.a), At(layout_.b), At(layout_.work[kQueryH]), At(layout_.roots), log2_n, card_->compute()));
  PL_RETURN_IF_ERROR(card_->Sync());
  PL_RETURN_IF_ERROR(QueueSums(kQueryH));
  if (layout_.side_by_side) {
    PL_RETURN_IF_ERROR(QueuePresentInB(shape.n_vars));
    PL_RETURN_IF_ERROR(card_->Sync());
    const cuda::MsmClasses half{shape.n_vars / 2, shape.n_vars / 2};
    plans_ = PlanWitness(layout_, {half, half});
    for (const List list : {kListB, kListAll}) {
      PL_RETURN_IF_ERROR(QueueClasses(list, shape.n_vars));
      // The list of indices is all zeros: the same scalar over and over.
      PL_RETURN_IF_ERROR(QueueDigits(list, shape.n_vars));
    }
    PL_RETURN_IF_ERROR(card_->Sync());
  }
  for (const Query q : kQueueOrder) PL_RETURN_IF_ERROR(QueueSums(q));
  return card_->Sync();
}

}  // namespace

Result<std::unique_ptr<Device>> OpenCudaDevice(const CudaOptions& options) {
  PL_ASSIGN_OR_RETURN(std::unique_ptr<cuda::Card> card, cuda::Card::Open({options.ordinal, options.arena_bytes}));
  auto device = std::make_unique<CudaDevice>(StrCat("cuda:", options.ordinal), std::move(card));
  PL_RETURN_IF_ERROR(device->WarmUp());
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace proofline::gpu_worker
