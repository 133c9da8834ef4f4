// Multi-scalar multiplication over G1 and G2 of both curves on a device: the twin of core/curve/msm.h.
//
// Method (Pippenger, with sorted buckets). A scalar above r/2 is replaced by r - s and its point's sign flipped; the rest is written in
// windows of signed digits, the top window plain, all windows as wide as the others or one bit less. Digits are sorted by bucket, window
// by window. The sorted list is then cut into chunks of equal length, one thread each, whatever buckets they hold, so a bucket with half
// of all points costs no more than any other arrangement; what a chunk leaves of a bucket that began in an earlier one goes through the
// same cut again as a list 1/64th as long, until nothing is left. Buckets are summed with weights by running sums, a chunk of buckets a
// thread. The sums of the windows go to the host, which does the last few hundred doublings.
//
// The digits can be made and sorted apart from the sums. Then several lists of bases that have the same scalars (Groth16's A, B1, B2 and C)
// share them, and scalars that are 0 or 1, of which a witness is full, stay out: MsmClassify lists the others and the ones, the host reads how
// many there are and plans for that many. A one is a single digit in the lowest window.
//
// Long lists with many digits a bucket first go through a few rounds of affine additions of neighbours (msm_tree.h); the plan says whether.
//
// Device level: a call queues everything on one stream, allocates nothing, waits for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/field/moduli.h"

struct CUstream_st;

namespace proofline::cuda {

using StreamHandle = CUstream_st*;  // cudaStream_t

enum class MsmGroup : uint8_t { kBn254G1, kBn254G2, kBls12381G1, kBls12381G2 };

// Bytes of an affine point: x then y, Montgomery, infinity all zero; and of a sum (XYZZ).
size_t MsmPointBytes(MsmGroup group);
size_t MsmSumBytes(MsmGroup group);

// kAuto: what is faster on a card with fast memory. The others are for tests, which take each as the other's twin.
enum class MsmMethod : uint8_t { kAuto, kPlain, kTree };

struct MsmWindow {
  int first_bit;
  int bits;
  uint32_t buckets;       // digits 1 to buckets have one
  uint32_t first_bucket;  // of this window in the array of all
  bool is_signed;
};

// Pure host arithmetic: which windows, how much memory. A plan is made once a circuit and query.
struct MsmPlan {
  MsmGroup group;
  uint32_t n = 0;
  std::vector<MsmWindow> windows;
  uint32_t bucket_count = 0;    // of all windows
  uint32_t windows_at_once = 0;  // sorted together: more keeps a small MSM's launches full, fewer need less memory
  size_t workspace_bytes = 0;
  size_t result_bytes = 0;  // one sum a window
  uint32_t ones = 0;        // scalars of value 1 besides the n; only where digits are apart
  bool digits_apart = false;
  size_t digits_bytes = 0;  // where they are: of the digits' own workspace
  int tree_rounds = 0;        // of neighbours' sums before the buckets are summed; 0: none
  uint32_t tree_windows = 0;  // that go through them together
};
// `n` < 2^31. `windows_at_once` 0 = all.
MsmPlan PlanMsm(MsmGroup group, uint32_t n, uint32_t windows_at_once = 0, int window_count = 0, MsmMethod method = MsmMethod::kAuto);

// bases: n affine points; scalars: n canonical values of 32 bytes, < r; both on the device, aligned to 16 bytes. Leaves the windows' sums
// in `result` (device, plan.result_bytes). `workspace` (plan.workspace_bytes) must not be in use by another stream until this is done.
Status MsmQueue(const MsmPlan& plan, const void* bases, const void* scalars, void* workspace, void* result,
                StreamHandle stream);

// How many scalars are neither 0 nor 1, and how many are 1.
struct MsmClasses {
  uint32_t wide = 0, ones = 0;
};
// A plan for digits apart: all windows at once, and the same windows for every group of a curve. Precondition: fewer than 2^32 digits.
MsmPlan PlanMsmOfClasses(MsmGroup group, MsmClasses classes, int window_count = 0, MsmMethod method = MsmMethod::kAuto);
inline constexpr size_t kMsmMostWindows = 60;

// indices (4 n bytes): which scalars are wide, from the front; which are ones, from the back; in no particular order. classes: an MsmClasses on
// the device. Scalars as for MsmQueue, of either curve.
Status MsmClassify(const void* scalars, uint32_t n, void* indices, void* classes, StreamHandle stream);
// The sorted digits into `digits` (plan.digits_bytes), which then only is read. `indices` of `indices_n` scalars as MsmClassify leaves them;
// null: scalars 0 to plan.n - 1, no ones.
Status MsmQueueDigits(const MsmPlan& plan, const void* scalars, const void* indices, uint32_t indices_n, void* digits, StreamHandle stream);
// The rest of MsmQueue. A plan of another group of the same curve with the same counts may read the same digits.
Status MsmQueueSums(const MsmPlan& plan, const void* bases, const void* digits, void* workspace, void* result, StreamHandle stream);

// The sum of all windows from a host copy of `result`, in the affine form of the bases. Runs on the host.
std::vector<uint8_t> MsmFinish(const MsmPlan& plan, ByteSpan result);

}  // namespace proofline::cuda
