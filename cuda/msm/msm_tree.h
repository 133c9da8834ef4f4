// Inside cuda/msm: sums of neighbours, for cards whose memory is fast enough.
//
// In a sorted list of digits neighbours mostly have the same bucket. A round adds the two of each pair (2 j, 2 j + 1) of one bucket and leaves the
// others alone, so a bucket of L digits has at most L / 2 + 1 entries behind it. The additions are affine, 5 multiplications and a squaring
// each against XYZZ's 8 and 2, since all of a round are independent and share their inversions: each thread multiplies the differences of its
// pairs up, one kernel inverts the products of many threads together, and the threads go back through their pairs. What a few rounds leave, one
// or two points a bucket, is summed as any list of points is (msm_kernels.cuh), which is also what sums buckets of any length right.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/status.h"
#include "cuda/msm/msm.h"

namespace proofline::cuda {

inline constexpr int kMostTreeRounds = 6;
// Lists shorter than this, or of fewer digits a bucket, are not worth the launches.
inline constexpr uint64_t kFewestTreeItems = uint64_t{1} << 22;
inline constexpr double kFewestTreeDigits = 5;
// Longer ones of G1 have no second window in a group, and their buckets are too many for the lists between.
inline constexpr uint32_t kMostTreeScalarsG1 = uint32_t{1} << 25;
// A group of windows goes through the rounds together: as many as have about this many digits, so that the lists behind the rounds stay small.
inline constexpr uint64_t kTreeGroup = uint64_t{1} << 26;
// Pairs a thread, at most, and threads that fill a large card twice.
inline constexpr uint32_t kMostPairsEach = 32;
inline constexpr uint64_t kTreeThreads = uint64_t{2} * 132 * 512;
// Threads of the shared inversions.
inline constexpr uint64_t kInverters = uint64_t{1} << 14;

struct MsmTreeRound {
  uint64_t capacity = 0;  // of the list before it
  uint64_t pairs = 0;
  uint32_t pairs_each = 0;
  uint64_t threads = 0;
  uint32_t totals_each = 0;  // of an inverter
};

// In a plan's workspace; the list behind round r is in keys[r % 2], points[r % 2].
struct MsmTreeLayout {
  int rounds = 0;  // 0: none
  uint32_t windows = 0;  // of a group
  uint64_t capacity[kMostTreeRounds + 1] = {};  // of the list before each round, and behind the last
  size_t keys[2] = {}, points[2] = {};
  size_t offsets = 0, scan = 0, scan_bytes = 0, lengths = 0;
  size_t products = 0, totals = 0, prefixes = 0;
};
MsmTreeRound TreeRound(const MsmTreeLayout& tree, int round);

// An upper bound of what the library's scan of n words wants.
size_t MsmScanBytes(uint64_t n);

// offsets[j] = how many entries the pairs before j leave, for j up to `pairs`, which is at least that of the list; offsets[pairs] is their number,
// which goes to *next_length as well. The list has *length entries.
Status MsmQueuePairOffsets(const uint32_t* keys, const uint32_t* length, uint64_t pairs, uint32_t* offsets, uint32_t* next_length, void* scan,
                           size_t scan_bytes, StreamHandle stream);
// *length = n.
Status MsmQueueLength(uint32_t* length, uint32_t n, StreamHandle stream);

}  // namespace proofline::cuda
