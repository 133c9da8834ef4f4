// What a CUDA device queues for one proof, in the order of a memory plan (cuda/plan/plan.h says what an executor does). Every call queues and
// returns, but for ReadClasses and for pieces of a key that is streamed, which come from the host's memory as the card uses up those before.
//
// Events order the streams; each stands for the proof that is under way, some for one of two proofs, `input` 0 or 1: while one is computed, the
// next one's input arrives and its first part, the transforms and H, is queued behind this one's.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "core/groth16/types.h"
#include "cuda/device/card.h"
#include "gpu_worker/cuda_layout.h"

namespace proofline::gpu_worker {

enum CudaEvent {
  kInputBegins,                          // + input
  kWitnessThere = kInputBegins + 2,      // + input
  kInputThere = kWitnessThere + 2,       // + input
  kRowsTaken = kInputThere + 2,          // from where they were staged
  kHalfFilled,                           // + half of the chunks of streamed points
  kHalfUsed = kHalfFilled + 2,           // + half
  kClassified = kHalfUsed + 2,           // + list
  kDigitsReady = kClassified + kListCount,  // + list
  kListsBegin = kDigitsReady + kListCount,
  kTransformBegins,                      // + input
  kTransformed = kTransformBegins + 2,   // + input
  kHEnds = kTransformed + 2,             // + input
  kQueryBegins = kHEnds + 2,             // + query, but H, which begins when all is transformed
  kQueryEnds = kQueryBegins + kQueryCount,  // + query, but H
  kWorkEnds = kQueryEnds + kQueryCount,  // + input
  kCleared = kWorkEnds + 2
};
static_assert(kCleared < cuda::Card::kEventCount);

class CudaQueue {
 public:
  explicit CudaQueue(cuda::Card& card) : card_(card) {}

  CudaLayout& layout() { return layout_; }
  const CudaLayout& layout() const { return layout_; }
  void SetLayout(CudaLayout layout) { layout_ = std::move(layout); }
  uint8_t* At(const CudaPlace& place) const { return card_.arena() + place.offset; }

  // Once a key whose resident points are there.
  Status BuildRoots();
  Status MarkPresent();

  // All of a proof whose input is on its way (kWitnessThere, kInputThere), to kWorkEnds. `key` for sections that are streamed. A witness
  // that comes after the transforms (WitnessIsLate) is uploaded in between by `upload_witness`. What QueueFront has queued is not queued again.
  Status QueueProof(const ProvingKeyView& key, int input, const std::function<Status()>& upload_witness);
  bool WitnessIsLate() const;
  // The transforms and H of a proof whose rows are on their way to where the next ones wait: behind all that is queued, while that is still
  // under way. Not with a key that is streamed. ForgetFront: it will not be proved.
  Status QueueFront(int input);
  void ForgetFront() { front_queued_ = false; }
  bool CanQueueFront() const { return layout_.prestages() && layout_.plan.streaming.sections.empty(); }
  // The rows from where they waited to where they are used.
  Status TakeRows(int input);
  // Zeroes all that outlasts no proof, behind all that is queued; kCleared.
  Status QueueClear();
  // Of a query, once it has ended (EndOf): an affine point.
  std::vector<uint8_t> Sum(int query, int input) const;
  static int EndOf(int query, int input) { return query == kQueryH ? kHEnds + input : kQueryEnds + query; }
  static int BeginOf(int query, int input) { return query == kQueryH ? kTransformed + input : kQueryBegins + query; }
  // Every kernel that a plan may need once more.
  Status WarmUp();

 private:
  cuda::StreamHandle LaneOf(int query) const;
  uint32_t n_vars() const { return layout_.plan.shape.n_vars; }
  const cuda::MsmRun& RunOf(int query) const { return layout_.plan.msms[static_cast<size_t>(query)]; }
  size_t SumsAt(int query, int input) const;
  size_t SumsBytes(int query) const;

  Status QueueTransforms(int input);
  Status QueueClasses(int list, int input);
  Result<cuda::MsmClasses> ReadClasses(int list);
  Status QueueDigits(int list);
  Status QueueListed(int query);
  Status QueueRun(int query, int input, const ProvingKeyView& key);
  Status QueueWitness(const ProvingKeyView& key, int input);
  Status FeedChunk(const ProvingKeyView& key, size_t number);
  Status FeedPiece(const ProvingKeyView& key, int query, uint32_t piece, int half);

  struct StreamedPiece {
    int query;
    uint32_t piece;
  };
  std::vector<StreamedPiece> StreamedPieces() const;

  cuda::Card& card_;
  CudaLayout layout_;
  // Of the proof under way.
  std::array<cuda::MsmPlan, kQueryCount> listed_;
  bool use_lists_ = false;
  bool front_queued_ = false;
  std::vector<StreamedPiece> streamed_;
  size_t chunks_fed_ = 0, chunks_used_ = 0;
};

}  // namespace proofline::gpu_worker
