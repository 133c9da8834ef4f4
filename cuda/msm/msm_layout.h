// Inside cuda/msm: where a plan's buffers lie in its workspace, and the constants that the plan and the kernels share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/msm/msm.h"
#include "cuda/msm/msm_tree.h"

namespace proofline::cuda {

inline constexpr int kMaxWindowBits = 24;
inline constexpr int kMsmThreads = 128;  // of a block
inline constexpr uint32_t kMaxWindowsAtOnce = 60;  // a sort key has room for 64
// Chunks of the digit list: eight times what one large card holds at once (132 multiprocessors of 384 threads), so that an uneven end
// costs little; a chunk of fewer points would spend its time on leftovers.
inline constexpr uint64_t kTargetThreads = 8 * 132 * 384;
inline constexpr uint32_t kMinChunk = 16;
// Leftovers a thread merges, and sums a thread folds: few, since the last levels are as long as one thread's additions in a row.
inline constexpr uint32_t kMergeChunk = 8;
// A turn of the bucket reduction: the threads that a large card holds at once (132 multiprocessors of 256), less a few so that blocks that
// are not full still fit. Threads do the same work each, so a turn begun costs a whole one.
inline constexpr uint32_t kReduceTurn = 31400;
// Buckets a thread weighs, at least, where that leaves more than one turn: a chunk's offset costs about 30 additions whatever its length. And
// at least, however few there are.
inline constexpr uint32_t kBucketChunk = 192, kFewestBuckets = 8;

struct MsmLayout {
  // Of the list that is summed into buckets: all digits sorted together, or what the tree leaves of a group of windows.
  uint64_t entries = 0;
  uint32_t chunk = 0;
  uint32_t bucket_chunk = 0;
  size_t keys[2] = {}, values[2] = {};
  size_t sort = 0, sort_bytes = 0;
  size_t buckets = 0;
  struct Leftovers {
    uint32_t count;
    size_t keys, sums;
  };
  std::vector<Leftovers> leftovers;
  struct Fold {
    uint32_t stride;
    size_t sums;
  };
  std::vector<Fold> folds;  // of all windows; the last has stride 1
  MsmTreeLayout tree;
  size_t total_bytes = 0;
};

// In the workspace; keys, values and sort only where digits are not apart.
MsmLayout LayOutMsm(const MsmPlan& plan);

// In the digits' own workspace. Window 0 has n + ones digits, the others n; they lie one behind the other.
struct MsmDigitsLayout {
  uint64_t entries = 0;
  size_t keys[2] = {}, values[2] = {};
  size_t sort = 0, sort_bytes = 0;
  size_t total_bytes = 0;
};
MsmDigitsLayout LayOutMsmDigits(const MsmPlan& plan);

// An upper bound of what the library's sort of n pairs wants, computed on the host: CUB itself answers 0 bytes where there is no device.
size_t MsmSortBytes(uint32_t n);

}  // namespace proofline::cuda
