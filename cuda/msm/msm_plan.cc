#include <algorithm>
#include <cmath>

#include "cuda/msm/msm_layout.h"

namespace proofline::cuda {
namespace {

// |s| <= (r - 1) / 2 after the sign is folded.
int ScalarBits(MsmGroup group) {
  return group == MsmGroup::kBn254G1 || group == MsmGroup::kBn254G2 ? 253 : 254;
}

// Multiplications, up to a factor: a mixed addition a point and window, two full additions a bucket.
double Cost(int bits, int windows, uint32_t n) {
  double buckets = 0;
  for (int w = 0; w < windows; ++w) {
    const int width = bits / windows + (w < bits % windows ? 1 : 0);
    buckets += std::ldexp(1.0, w + 1 == windows ? width : width - 1);
  }
  return 10.0 * n * windows + 28.0 * buckets;
}

int BestWindowCount(int bits, uint32_t n) {
  int best = 0;
  double best_cost = 0;
  for (int windows = (bits + kMaxWindowBits - 1) / kMaxWindowBits; windows <= 64; ++windows) {
    const double cost = Cost(bits, windows, n);
    if (best == 0 || cost < best_cost) best = windows, best_cost = cost;
  }
  return best;
}

// Cuts the bits into windows.
void CutWindows(MsmPlan& plan, int bits, int count) {
  int bit = 0;
  for (int w = 0; w < count; ++w) {
    MsmWindow window;
    window.first_bit = bit;
    window.bits = bits / count + (w < bits % count ? 1 : 0);
    window.is_signed = w + 1 < count;
    // The top digit can be one more than its bits hold: the carry of the window below.
    window.buckets = window.is_signed ? uint32_t{1} << (window.bits - 1) : (uint32_t{1} << window.bits) + 1;
    window.first_bucket = plan.bucket_count;
    plan.bucket_count += window.buckets;
    plan.windows.push_back(window);
    bit += window.bits;
  }
}

// Digits that are sorted together, at most.
uint64_t EntriesAtOnce(const MsmPlan& plan) { return uint64_t{plan.n} * plan.windows_at_once + plan.ones; }

// Of a group of windows, at most: never less for more scalars that have digits, however many of the others are ones.
uint64_t TreeItems(const MsmPlan& plan) {
  const uint64_t all = uint64_t{plan.n} * plan.windows_at_once + plan.ones;
  return std::max<uint64_t>(uint64_t{plan.n} + plan.ones, std::min(all, kTreeGroup));
}

void ChooseMethod(MsmPlan& plan, MsmMethod method) {
  const uint64_t items = uint64_t{plan.n} * plan.windows.size() + plan.ones;
  const double digits = static_cast<double>(items) / plan.bucket_count;
  // BN254's additions are so cheap that memory would be what they wait for: 66 ms at 2^24 on an H200 instead of 46.
  const bool has_tree = plan.group == MsmGroup::kBls12381G1 || plan.group == MsmGroup::kBls12381G2;
  if (method == MsmMethod::kPlain || plan.n == 0 || !has_tree) return;
  if (method == MsmMethod::kAuto && (items < kFewestTreeItems || digits < kFewestTreeDigits)) return;
  if (method == MsmMethod::kAuto && plan.group == MsmGroup::kBls12381G1 && plan.n > kMostTreeScalarsG1) return;
  plan.tree_rounds = std::clamp(static_cast<int>(std::log2(std::max(digits, 1.0)) + 0.5), 1, kMostTreeRounds);
  plan.tree_windows = static_cast<uint32_t>(std::clamp<uint64_t>((TreeItems(plan) - plan.ones) / plan.n, 1, plan.windows_at_once));
}

// Where the next buffer of a workspace goes.
class Places {
 public:
  size_t Take(size_t bytes) {
    const size_t offset = at_;
    at_ += (bytes + 255) / 256 * 256;
    return offset;
  }
  size_t end() const { return at_; }

 private:
  size_t at_ = 0;
};

}  // namespace

size_t MsmPointBytes(MsmGroup group) {
  switch (group) {
    case MsmGroup::kBn254G1: return 64;
    case MsmGroup::kBn254G2: return 128;
    case MsmGroup::kBls12381G1: return 96;
    case MsmGroup::kBls12381G2: return 192;
  }
  return 0;
}
size_t MsmSumBytes(MsmGroup group) { return 2 * MsmPointBytes(group); }

MsmPlan PlanMsm(MsmGroup group, uint32_t n, uint32_t windows_at_once, int window_count, MsmMethod method) {
  MsmPlan plan;
  plan.group = group;
  plan.n = n;
  const int bits = ScalarBits(group);
  const int count = window_count > 0 ? window_count : BestWindowCount(bits, n);
  CutWindows(plan, bits, count);
  plan.windows_at_once = windows_at_once == 0 ? count : std::min<uint32_t>(windows_at_once, count);
  plan.windows_at_once = std::min<uint32_t>(plan.windows_at_once, kMaxWindowsAtOnce);
  ChooseMethod(plan, method);
  plan.workspace_bytes = LayOutMsm(plan).total_bytes;
  plan.result_bytes = plan.windows.size() * MsmSumBytes(group);
  return plan;
}

MsmPlan PlanMsmOfClasses(MsmGroup group, MsmClasses classes, int window_count, MsmMethod method) {
  // For fewer scalars a window more or less costs nothing, and there would be too many of them.
  constexpr uint32_t kFewest = 1024;
  MsmPlan plan;
  plan.group = group;
  plan.n = classes.wide;
  plan.ones = classes.ones;
  plan.digits_apart = true;
  const int bits = ScalarBits(group);
  CutWindows(plan, bits, window_count > 0 ? window_count : BestWindowCount(bits, std::max(classes.wide, kFewest)));
  plan.windows_at_once = static_cast<uint32_t>(plan.windows.size());
  ChooseMethod(plan, method);
  plan.workspace_bytes = LayOutMsm(plan).total_bytes;
  plan.digits_bytes = LayOutMsmDigits(plan).total_bytes;
  plan.result_bytes = plan.windows.size() * MsmSumBytes(group);
  return plan;
}

// A second pair of arrays, the tiles' counters (256 a tile, and no tile is shorter than 2048 pairs), a histogram for each of 4 passes and
// part of 2^28 pairs less a tile; each aligned to 256. tests/gpu compares it with the library's answer.
size_t MsmSortBytes(uint32_t n) {
  const uint64_t tiles = n / 2048 + 1;
  const uint64_t parts = n / ((uint64_t{1} << 28) - (1 << 16)) + 1;
  return 8 * uint64_t{n} + tiles * 1024 + parts * 4 * (256 * 8 + 8) + 6 * 256;
}

// A state of 16 bytes a tile, and no tile is shorter than 256 words. tests/gpu compares it with the library's answer.
size_t MsmScanBytes(uint64_t n) { return n / 16 + 65536; }

MsmTreeRound TreeRound(const MsmTreeLayout& tree, int round) {
  MsmTreeRound out;
  out.capacity = tree.capacity[round];
  out.pairs = (out.capacity + 1) / 2;
  out.pairs_each = static_cast<uint32_t>(std::clamp<uint64_t>(out.pairs / kTreeThreads, 1, kMostPairsEach));
  const uint64_t a_block = uint64_t{out.pairs_each} * kMsmThreads;
  out.threads = (out.pairs + a_block - 1) / a_block * kMsmThreads;
  out.totals_each = static_cast<uint32_t>(std::clamp<uint64_t>((out.threads + kInverters - 1) / kInverters, 4, 64));
  return out;
}

namespace {

// A bucket of L entries leaves L / 2 + 1 at most.
MsmTreeLayout LayOutTree(const MsmPlan& plan, Places& places) {
  MsmTreeLayout tree;
  tree.rounds = plan.tree_rounds;
  if (tree.rounds == 0) return tree;
  tree.windows = plan.tree_windows;
  uint64_t buckets = 0;
  for (size_t first = 0; first < plan.windows.size(); first += tree.windows) {
    uint64_t group = 0;
    for (size_t w = first; w < std::min(first + tree.windows, plan.windows.size()); ++w) group += plan.windows[w].buckets;
    buckets = std::max(buckets, group);
  }
  tree.capacity[0] = TreeItems(plan);
  // Room for what fewer scalars in the same room may have, which have fewer digits a bucket.
  buckets = std::max(buckets, tree.capacity[0] / 8);
  for (int r = 0; r < tree.rounds; ++r) tree.capacity[r + 1] = std::min(tree.capacity[r], tree.capacity[r] / 2 + buckets);
  const size_t field = MsmPointBytes(plan.group) / 2;
  for (int which = 0; which < 2; ++which) {
    // Behind rounds 0, 2, ... and 1, 3, ...: the first is the longest.
    const uint64_t length = which < tree.rounds ? tree.capacity[which + 1] : 0;
    tree.keys[which] = places.Take(length * 4);
    tree.points[which] = places.Take(length * 2 * field);
  }
  const MsmTreeRound first = TreeRound(tree, 0);
  uint64_t threads = 0;
  for (int r = 0; r < tree.rounds; ++r) threads = std::max(threads, TreeRound(tree, r).threads);
  tree.offsets = places.Take((first.pairs + 1) * 4);
  tree.scan_bytes = MsmScanBytes(first.pairs + 1);
  tree.scan = places.Take(tree.scan_bytes);
  tree.lengths = places.Take((kMostTreeRounds + 1) * 4);
  tree.products = places.Take(first.pairs * field);
  tree.totals = places.Take(threads * field);
  tree.prefixes = places.Take(threads * field);
  return tree;
}

}  // namespace

MsmDigitsLayout LayOutMsmDigits(const MsmPlan& plan) {
  MsmDigitsLayout layout;
  Places places;
  layout.entries = uint64_t{plan.n} * plan.windows.size() + plan.ones;
  for (size_t& buffer : layout.keys) buffer = places.Take(layout.entries * 4);
  for (size_t& buffer : layout.values) buffer = places.Take(layout.entries * 4);
  layout.sort_bytes = MsmSortBytes(plan.n + plan.ones);
  layout.sort = places.Take(layout.sort_bytes);
  layout.total_bytes = places.end();
  return layout;
}

MsmLayout LayOutMsm(const MsmPlan& plan) {
  MsmLayout layout;
  Places places;
  const uint64_t sorted = EntriesAtOnce(plan);
  layout.tree = LayOutTree(plan, places);
  layout.entries = layout.tree.rounds > 0 ? layout.tree.capacity[layout.tree.rounds] : sorted;
  const uint64_t entries = layout.entries;
  layout.chunk = static_cast<uint32_t>(std::max<uint64_t>(kMinChunk, (entries + kTargetThreads - 1) / kTargetThreads));
  if (!plan.digits_apart) {
    for (size_t& buffer : layout.keys) buffer = places.Take(sorted * 4);
    for (size_t& buffer : layout.values) buffer = places.Take(sorted * 4);
    layout.sort_bytes = MsmSortBytes(plan.n);
    layout.sort = places.Take(layout.sort_bytes);
  }
  layout.buckets = places.Take(size_t{plan.bucket_count} * MsmSumBytes(plan.group));
  for (uint64_t items = entries, chunk = layout.chunk;; chunk = kMergeChunk) {
    const uint64_t chunks = (items + chunk - 1) / chunk;
    layout.leftovers.push_back({static_cast<uint32_t>(chunks), places.Take(chunks * 4), places.Take(chunks * MsmSumBytes(plan.group))});
    if (chunks <= 1) break;
    items = chunks;
  }
  uint32_t widest = 0;
  for (const MsmWindow& window : plan.windows) widest = std::max(widest, window.buckets);
  const uint32_t threads = std::max(1u, plan.bucket_count / kBucketChunk / kReduceTurn) * kReduceTurn;
  layout.bucket_chunk = std::max(kFewestBuckets, (plan.bucket_count + threads - 1) / threads);
  for (uint32_t stride = (widest + layout.bucket_chunk - 1) / layout.bucket_chunk;; stride = (stride + kMergeChunk - 1) / kMergeChunk) {
    layout.folds.push_back({stride, places.Take(plan.windows.size() * stride * MsmSumBytes(plan.group))});
    if (stride == 1) break;
  }
  layout.total_bytes = places.end();
  return layout;
}

}  // namespace proofline::cuda
