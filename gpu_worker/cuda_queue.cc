#include "gpu_worker/cuda_queue.h"

#include <cstring>

#include "core/base/text.h"
#include "core/curve/curve.h"
#include "cuda/msm/msm_present.h"
#include "cuda/ntt/ntt.h"
#include "cuda/qap/qap.h"

namespace proofline::gpu_worker {

namespace {

// B2 takes longest; each list's two queries follow each other, since without lanes their digits share a place.
constexpr Query kQueueOrder[] = {kQueryB2, kQueryB1, kQueryA, kQueryC};
// B2 takes longest and H waits for the transforms: theirs are the lanes of the highest priority.
constexpr int kLaneOf[kQueryCount] = {3, 2, 0, 4, 1};
// Where in the card's memory for downloads the classes and the sums arrive.
constexpr size_t kClassesAt = 0, kSumsAt = 256;

struct FieldCode {
  Status (*build_roots)(void*, int, cuda::StreamHandle);
  Status (*scalars_of_h)(void*, void*, void*, const void*, int, cuda::StreamHandle);
};
template <class M>
constexpr FieldCode kCodeOf = {cuda::NttBuildTable<M>, cuda::QapScalarsOfH<M>};
const FieldCode& CodeOf(CurveId curve) {
  return curve == CurveId::kBn254 ? kCodeOf<Bn254FrModulus> : kCodeOf<Bls12381FrModulus>;
}

ByteSpan SectionOf(const ProvingKeyView& key, int query) {
  const ByteSpan sections[kQueryCount] = {key.h, key.a, key.b1, key.b2, key.c};
  return sections[query];
}

// Affine sums of pieces into one.
template <class Point>
std::vector<uint8_t> AddPieces(const cuda::MsmRun& run, ByteSpan downloaded) {
  auto sum = Xyzz<typename Point::Field>::Infinity();
  for (uint32_t i = 0; i < run.piece_count; ++i) {
    const cuda::MsmPlan piece = cuda::PieceOf(run, i);
    sum.AddMixed(Point::Load(cuda::MsmFinish(piece, downloaded.subspan(i * run.sums_stride, piece.result_bytes)).data()));
  }
  std::vector<uint8_t> bytes(Point::kBytes);
  sum.ToAffine().Store(bytes.data());
  return bytes;
}
std::vector<uint8_t> SumOfRun(const cuda::MsmRun& run, ByteSpan downloaded) {
  switch (run.group) {
    case cuda::MsmGroup::kBn254G1: return AddPieces<Bn254<PortableArith>::G1>(run, downloaded);
    case cuda::MsmGroup::kBn254G2: return AddPieces<Bn254<PortableArith>::G2>(run, downloaded);
    case cuda::MsmGroup::kBls12381G1: return AddPieces<Bls12381<PortableArith>::G1>(run, downloaded);
    case cuda::MsmGroup::kBls12381G2: return AddPieces<Bls12381<PortableArith>::G2>(run, downloaded);
  }
  return {};
}

}  // namespace

cuda::StreamHandle CudaQueue::LaneOf(int query) const { return card_.compute(layout_.lanes() ? kLaneOf[query] : 0); }

// H's of the second input behind all others.
size_t CudaQueue::SumsAt(int query, int input) const {
  const uint64_t first = layout_.sums[kQueryH].offset;
  if (query == kQueryH && input == 1) return kSumsAt + (layout_.sums[kQueryC].offset + layout_.sums[kQueryC].bytes - first);
  return kSumsAt + (layout_.sums[query].offset - first);
}

size_t CudaQueue::SumsBytes(int query) const {
  if (query != kQueryH && use_lists_) return listed_[query].result_bytes;
  return RunOf(query).sums_stride * RunOf(query).piece_count;
}

Status CudaQueue::BuildRoots() {
  const auto log2_n = static_cast<int>(layout_.plan.shape.log2_domain);
  return log2_n == 0 ? OkStatus() : CodeOf(layout_.plan.shape.curve).build_roots(At(layout_.roots), log2_n, LaneOf(kQueryH));
}

// In an honest key B1 and B2 have the same points at infinity; nothing here depends on it.
Status CudaQueue::MarkPresent() {
  if (!layout_.lists()) return OkStatus();
  for (const Query q : {kQueryB1, kQueryB2})
    PL_RETURN_IF_ERROR(cuda::MsmMarkPresent(RunOf(q).group, At(layout_.points[q]), n_vars(), q == kQueryB2, At(layout_.present), card_.compute()));
  return OkStatus();
}

bool CudaQueue::WitnessIsLate() const { return layout_.plan.Find(cuda::buffer::kWitness)->first != cuda::PlanPhase::kUpload; }

// ---- pieces of a key that is streamed ----

std::vector<CudaQueue::StreamedPiece> CudaQueue::StreamedPieces() const {
  std::vector<StreamedPiece> pieces;
  const auto add = [&](int q) {
    for (uint32_t i = 0; RunOf(q).streamed && i < RunOf(q).piece_count; ++i) pieces.push_back({q, i});
  };
  add(kQueryH);
  for (const Query q : kQueueOrder) add(q);
  return pieces;
}

Status CudaQueue::FeedPiece(const ProvingKeyView& key, int query, uint32_t piece, int half) {
  const cuda::MsmRun& run = RunOf(query);
  const size_t point = cuda::MsmPointBytes(run.group);
  const size_t infinities = query == kQueryC ? layout_.public_points : 0;
  const size_t first = size_t{piece} * run.piece_points, count = cuda::PieceOf(run, piece).n;
  const size_t absent = first < infinities ? std::min(infinities - first, count) : 0;
  uint8_t* at = At(layout_.chunks) + static_cast<size_t>(half) * (layout_.chunks.bytes / 2);
  PL_RETURN_IF_ERROR(card_.Clear(at, absent * point, card_.copy()));
  const ByteSpan section = SectionOf(key, query);
  if (section.empty()) return OkStatus();  // when kernels are warmed up
  return card_.Upload(at + absent * point, section.subspan((first + absent - infinities) * point, (count - absent) * point));
}

// In their order, each into the half that the one before the last has left.
Status CudaQueue::FeedChunk(const ProvingKeyView& key, size_t number) {
  for (; chunks_fed_ <= number && chunks_fed_ < streamed_.size(); ++chunks_fed_) {
    const int half = static_cast<int>(chunks_fed_ % 2);
    if (chunks_fed_ >= 2) PL_RETURN_IF_ERROR(card_.Order(card_.copy(), kHalfUsed + half));
    PL_RETURN_IF_ERROR(FeedPiece(key, streamed_[chunks_fed_].query, streamed_[chunks_fed_].piece, half));
    PL_RETURN_IF_ERROR(card_.Record(kHalfFilled + half, card_.copy()));
  }
  return OkStatus();
}

// ---- one query ----

Status CudaQueue::QueueRun(int query, int input, const ProvingKeyView& key) {
  cuda::StreamHandle stream = LaneOf(query);
  const cuda::MsmRun& run = RunOf(query);
  const uint8_t* scalars = At(query == kQueryH ? layout_.a : layout_.witness);
  if (query != kQueryH) PL_RETURN_IF_ERROR(card_.Record(kQueryBegins + query, stream));
  for (uint32_t i = 0; i < run.piece_count; ++i) {
    const size_t first = size_t{i} * run.piece_points;
    const uint8_t* points = At(layout_.points[query]) + first * cuda::MsmPointBytes(run.group);
    const int half = static_cast<int>(chunks_used_ % 2);
    if (run.streamed) {
      PL_RETURN_IF_ERROR(FeedChunk(key, chunks_used_));
      PL_RETURN_IF_ERROR(card_.Order(stream, kHalfFilled + half));
      points = At(layout_.chunks) + static_cast<size_t>(half) * (layout_.chunks.bytes / 2);
    }
    PL_RETURN_IF_ERROR(cuda::MsmQueue(cuda::PieceOf(run, i), points, scalars + first * kFrBytes, At(layout_.work[query]),
                                      At(layout_.sums[query]) + i * run.sums_stride, stream));
    if (run.streamed) {
      PL_RETURN_IF_ERROR(card_.Record(kHalfUsed + half, stream));
      // While this piece is computed, the next one comes.
      PL_RETURN_IF_ERROR(FeedChunk(key, ++chunks_used_));
    }
  }
  PL_RETURN_IF_ERROR(card_.Download(SumsAt(query, query == kQueryH ? input : 0), At(layout_.sums[query]), SumsBytes(query), stream));
  return card_.Record(EndOf(query, input), stream);
}

Status CudaQueue::QueueListed(int query) {
  cuda::StreamHandle stream = LaneOf(query);
  if (layout_.lanes()) PL_RETURN_IF_ERROR(card_.Order(stream, kDigitsReady + ListOf(query)));
  PL_RETURN_IF_ERROR(card_.Record(kQueryBegins + query, stream));
  PL_RETURN_IF_ERROR(cuda::MsmQueueSums(listed_[query], At(layout_.points[query]), At(layout_.digits[ListOf(query)]), At(layout_.work[query]),
                                        At(layout_.sums[query]), stream));
  PL_RETURN_IF_ERROR(card_.Download(SumsAt(query, 0), At(layout_.sums[query]), SumsBytes(query), stream));
  return card_.Record(kQueryEnds + query, stream);
}

// ---- lists of the witness ----

Status CudaQueue::QueueClasses(int list, int input) {
  cuda::StreamHandle stream = LaneOf(FirstOf(list));
  const size_t at = static_cast<size_t>(list) * sizeof(cuda::MsmClasses);
  uint8_t* classes = At(layout_.classes) + at;
  PL_RETURN_IF_ERROR(card_.Order(stream, kWitnessThere + input));
  if (list == kListB) PL_RETURN_IF_ERROR(card_.Record(kListsBegin, stream));
  PL_RETURN_IF_ERROR(cuda::MsmClassifyPresent(At(layout_.witness), list == kListB ? At(layout_.present) : nullptr, n_vars(),
                                              At(layout_.indices[list]), classes, stream));
  PL_RETURN_IF_ERROR(card_.Download(kClassesAt + at, classes, sizeof(cuda::MsmClasses), stream));
  return card_.Record(kClassified + list, stream);
}

Result<cuda::MsmClasses> CudaQueue::ReadClasses(int list) {
  PL_RETURN_IF_ERROR(card_.Wait(kClassified + list));
  cuda::MsmClasses classes;
  std::memcpy(&classes, card_.downloaded(kClassesAt + static_cast<size_t>(list) * sizeof classes, sizeof classes).data(), sizeof classes);
  if (uint64_t{classes.wide} + classes.ones <= n_vars()) return classes;
  return Status(ErrorCode::kDeviceFault, StrCat(classes.wide, " wide values and ", classes.ones, " ones among ", n_vars()));
}

Status CudaQueue::QueueDigits(int list) {
  cuda::StreamHandle stream = LaneOf(FirstOf(list));
  PL_RETURN_IF_ERROR(cuda::MsmQueueDigits(listed_[FirstOf(list)], At(layout_.witness), At(layout_.indices[list]), n_vars(),
                                          At(layout_.digits[list]), stream));
  return card_.Record(kDigitsReady + list, stream);
}

// ---- all of it ----

Status CudaQueue::QueueTransforms(int input) {
  cuda::StreamHandle stream = LaneOf(kQueryH);
  PL_RETURN_IF_ERROR(card_.Order(stream, kInputThere + input));
  PL_RETURN_IF_ERROR(card_.Order(stream, kRowsTaken));
  PL_RETURN_IF_ERROR(card_.Record(kTransformBegins + input, stream));
  if (!layout_.plan.Find(cuda::buffer::kTwiddles)->resident) PL_RETURN_IF_ERROR(BuildRoots());
  const cuda::CircuitShape& shape = layout_.plan.shape;
  PL_RETURN_IF_ERROR(CodeOf(shape.curve).scalars_of_h(At(layout_.a), At(layout_.b), At(layout_.c), At(layout_.roots),
                                                       static_cast<int>(shape.log2_domain), stream));
  return card_.Record(kTransformed + input, stream);
}

Status CudaQueue::TakeRows(int input) {
  cuda::StreamHandle stream = LaneOf(kQueryH);
  PL_RETURN_IF_ERROR(card_.Order(stream, kInputThere + input));
  PL_RETURN_IF_ERROR(card_.Copy(At(layout_.a), At(layout_.next_a), layout_.a.bytes, stream));
  PL_RETURN_IF_ERROR(card_.Copy(At(layout_.b), At(layout_.next_b), layout_.b.bytes, stream));
  return card_.Record(kRowsTaken, stream);
}

// All that these touch is used on H's lane alone, so its order is enough.
Status CudaQueue::QueueFront(int input) {
  PL_RETURN_IF_ERROR(TakeRows(input));
  PL_RETURN_IF_ERROR(QueueTransforms(input));
  PL_RETURN_IF_ERROR(QueueRun(kQueryH, input, ProvingKeyView()));
  front_queued_ = true;
  return OkStatus();
}

// What the witness is made of decides the plans: the host waits for that, while H is queued already.
Status CudaQueue::QueueWitness(const ProvingKeyView& key, int input) {
  if (layout_.lists()) {
    PL_ASSIGN_OR_RETURN(const cuda::MsmClasses all, ReadClasses(kListAll));
    PL_ASSIGN_OR_RETURN(const cuda::MsmClasses in_b, ReadClasses(kListB));
    use_lists_ = PlanWitness(layout_, {all, in_b}, listed_);
    // The workspaces of lanes are for lists alone.
    if (!use_lists_ && layout_.lanes()) return Status(ErrorCode::kInternal, StrCat("no room for a list of ", all.wide, " and ", all.ones, " of ", n_vars()));
  }
  for (const Query q : kQueueOrder) {
    if (use_lists_ && q == FirstOf(ListOf(q))) PL_RETURN_IF_ERROR(QueueDigits(ListOf(q)));
    PL_RETURN_IF_ERROR(use_lists_ ? QueueListed(q) : QueueRun(q, input, key));
  }
  return OkStatus();
}

Status CudaQueue::QueueProof(const ProvingKeyView& key, int input, const std::function<Status()>& upload_witness) {
  use_lists_ = false;
  chunks_fed_ = chunks_used_ = 0;
  streamed_ = StreamedPieces();
  for (int lane = 0; lane < cuda::Card::kLaneCount; ++lane) PL_RETURN_IF_ERROR(card_.Order(card_.compute(lane), kCleared));
  if (const auto* chunks = layout_.plan.Find(cuda::buffer::kPointChunks); chunks && chunks->first < cuda::PlanPhase::kMsmH)
    PL_RETURN_IF_ERROR(FeedChunk(key, 1));
  if (layout_.lists())
    for (const List list : {kListB, kListAll}) PL_RETURN_IF_ERROR(QueueClasses(list, input));
  if (!front_queued_) PL_RETURN_IF_ERROR(QueueTransforms(input));
  if (WitnessIsLate()) {
    PL_RETURN_IF_ERROR(card_.Order(card_.copy(), kTransformed + input));
    PL_RETURN_IF_ERROR(upload_witness());
    PL_RETURN_IF_ERROR(card_.Order(LaneOf(kQueryH), kWitnessThere + input));
  }
  // Chunks that come late go where the transforms' vectors were.
  if (!streamed_.empty() && chunks_fed_ == 0) PL_RETURN_IF_ERROR(card_.Order(card_.copy(), kTransformed + input));
  if (!front_queued_) PL_RETURN_IF_ERROR(QueueRun(kQueryH, input, key));
  front_queued_ = false;
  PL_RETURN_IF_ERROR(QueueWitness(key, input));
  for (int q = 0; q < kQueryCount; ++q) PL_RETURN_IF_ERROR(card_.Order(card_.compute(), EndOf(q, input)));
  return card_.Record(kWorkEnds + input, card_.compute());
}

Status CudaQueue::QueueClear() {
  cuda::StreamHandle stream = card_.compute();
  for (const int input : {0, 1})
    for (int q = 0; q < kQueryCount; ++q) PL_RETURN_IF_ERROR(card_.Order(stream, EndOf(q, input)));
  PL_RETURN_IF_ERROR(card_.Clear(card_.arena() + layout_.resident_end, layout_.plan.peak_bytes - layout_.resident_end, stream));
  return card_.Record(kCleared, stream);
}

std::vector<uint8_t> CudaQueue::Sum(int query, int input) const {
  const ByteSpan sums = card_.downloaded(SumsAt(query, query == kQueryH ? input : 0), SumsBytes(query));
  return query != kQueryH && use_lists_ ? cuda::MsmFinish(listed_[query], sums) : SumOfRun(RunOf(query), sums);
}

// Points at infinity times zeros: it is the launches that count.
Status CudaQueue::WarmUp() {
  const cuda::CircuitShape& shape = layout_.plan.shape;
  const ProvingKeyView no_key;
  use_lists_ = false;
  chunks_fed_ = chunks_used_ = 0;
  streamed_ = StreamedPieces();
  PL_RETURN_IF_ERROR(card_.Clear(card_.arena(), layout_.plan.peak_bytes, card_.compute()));
  PL_RETURN_IF_ERROR(card_.Sync());
  PL_RETURN_IF_ERROR(BuildRoots());
  for (const int log2_n : {1, static_cast<int>(shape.log2_domain)})
    PL_RETURN_IF_ERROR(CodeOf(shape.curve).scalars_of_h(At(layout_.a), At(layout_.b), At(layout_.c), At(layout_.roots), log2_n, LaneOf(kQueryH)));
  PL_RETURN_IF_ERROR(QueueRun(kQueryH, 0, no_key));
  PL_RETURN_IF_ERROR(card_.Sync());
  if (layout_.lists()) {
    PL_RETURN_IF_ERROR(MarkPresent());
    PL_RETURN_IF_ERROR(card_.Sync());
    const cuda::MsmClasses half{layout_.plan.list_room / 2, layout_.plan.list_room / 2};
    if (!PlanWitness(layout_, {half, half}, listed_)) return Status(ErrorCode::kInternal, "a witness of half the room has no room");
    for (const List list : {kListB, kListAll}) PL_RETURN_IF_ERROR(QueueClasses(list, 0));
  }
  use_lists_ = layout_.lists();
  for (const Query q : kQueueOrder) {
    // The list of indices is all zeros: the same scalar over and over.
    if (use_lists_ && q == FirstOf(ListOf(q))) PL_RETURN_IF_ERROR(QueueDigits(ListOf(q)));
    PL_RETURN_IF_ERROR(use_lists_ ? QueueListed(q) : QueueRun(q, 0, no_key));
  }
  return card_.Sync();
}

}  // namespace proofline::gpu_worker
