#include "core/curve/msm_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace proofline {
namespace {

constexpr int kMaxBits = 16;

ScalarLimbs HalfOf(const ScalarLimbs& order) {
  ScalarLimbs half{};
  for (int i = 0; i < 4; ++i) {
    half[i] = order[i] >> 1;
    if (i < 3) half[i] |= order[i + 1] << 63;
  }
  return half;
}

int HighestBitLength(const BitLengthCounts& counts) {
  for (int bits = 255; bits > 0; --bits)
    if (counts[bits] != 0) return bits;
  return 0;
}

// The largest plain digit above `start`: the scalar's own bits there and one carry from below.
uint32_t TopBuckets(int bit_length, const ScalarLimbs& half, int start) {
  if (bit_length < BitLength(half)) return start == 0 ? (uint32_t{1} << bit_length) - 1 : uint32_t{1} << (bit_length - start);
  const int limb = start / 64, shift = start % 64;
  uint64_t bits = half[limb] >> shift;
  if (shift != 0 && limb < 3) bits |= half[limb + 1] << (64 - shift);
  return static_cast<uint32_t>(bits) + (start == 0 ? 0 : 1);
}

// Cost of one window in units of one batched affine addition, of `population` scalars that reach it out of `all` that are scanned.
// Constants measured on BN254 G1 (bench/msm_bench.cc): scanning and sorting a digit 0.07; an XYZZ addition 2.2; the last steps of the
// bucket reduction take two XYZZ additions per row and per column, and each of its levels an inversion.
double WindowCost(double population, double all, double buckets, int bits) {
  const double used = buckets * (1 - std::exp(-population / buckets));
  const double side = std::sqrt(buckets);
  return 0.03 * all + 0.05 * population + std::max(0.0, population - used) + 2 * buckets + 2 * 2.2 * 2 * side +
         40.0 * bits;
}

}  // namespace

void MsmWindows::Append(int start, int bits, bool is_top, uint32_t bucket_count) {
  windows_.push_back({start, bits, is_top, bucket_count});
  if (is_top) return;
  const int bit = start + bits - 1;
  offsets_[0][bit / 64] |= uint64_t{1} << (bit % 64);
}

void MsmWindows::Finish() {
  uint64_t carry = 1;
  for (int i = 0; i < 4; ++i) {
    const unsigned __int128 sum = (unsigned __int128)order_[i] + offsets_[0][i] + carry;
    offsets_[1][i] = (uint64_t)sum;
    carry = (uint64_t)(sum >> 64);
  }
}

MsmWindows MsmWindows::Choose(const BitLengthCounts& counts, const ScalarLimbs& order) {
  const ScalarLimbs half = HalfOf(order);
  const int length = HighestBitLength(counts);
  std::array<double, 257> reaching{};  // scalars with at least this bit length; a digit needs about that much
  for (int bits = 255; bits >= 0; --bits) reaching[bits] = reaching[bits + 1] + static_cast<double>(counts[bits]);

  // best[p]: least cost of the windows from bit p up; pick[p]: the width of the first of them.
  std::array<double, 256 + kMaxBits> best;
  best.fill(std::numeric_limits<double>::infinity());
  std::array<int, 256> pick{};
  for (int start = length; start-- > 0;) {
    for (int bits = 1; bits <= kMaxBits && start + bits <= length; ++bits) {
      const bool is_top = start + bits == length;
      const double buckets = is_top ? TopBuckets(length, half, start) : std::ldexp(1.0, bits - 1);
      const double cost = WindowCost(reaching[start + 1], reaching[1], buckets, bits) + (is_top ? 0 : best[start + bits]);
      if (cost < best[start]) {
        best[start] = cost;
        pick[start] = bits;
      }
    }
  }

  MsmWindows out(order);
  for (int start = 0; start < length; start += pick[start]) {
    const bool is_top = start + pick[start] == length;
    out.Append(start, pick[start], is_top,
               is_top ? TopBuckets(length, half, start) : uint32_t{1} << (pick[start] - 1));
  }
  out.Finish();
  return out;
}

MsmWindows MsmWindows::Uniform(const BitLengthCounts& counts, const ScalarLimbs& order, int bits) {
  const ScalarLimbs half = HalfOf(order);
  const int length = HighestBitLength(counts);
  MsmWindows out(order);
  for (int start = 0; start < length; start += bits) {
    const bool is_top = start + bits >= length;
    out.Append(start, std::min(bits, length - start), is_top,
               is_top ? TopBuckets(length, half, start) : uint32_t{1} << (bits - 1));
  }
  out.Finish();
  return out;
}

}  // namespace proofline
