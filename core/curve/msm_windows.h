// How an MSM cuts its scalars: folding to |s| <= (r-1)/2, windows of signed digits, and the choice of their widths.
//
// The windows lie one above the other from bit 0. All but the top one have signed digits in [-2^(c-1), 2^(c-1)); the top one is plain.
// Instead of carrying from window to window, one constant, the sum of 2^(start+c-1) over the signed windows, is added to the
// scalar; each window's digit can then be read alone.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/field/moduli.h"

namespace proofline {

using ScalarLimbs = std::array<uint64_t, 4>;

// What a scalar is to an MSM.
enum class ScalarClass : uint8_t { kZero, kOne, kMinusOne, kWide };

struct FoldedScalar {
  ScalarLimbs magnitude;
  bool negative;
};

// Folding at (r-1)/2 for one scalar field. Limbs are canonical.
template <class FrModulus>
struct ScalarFolding {
  static constexpr ScalarLimbs Half() {
    ScalarLimbs half{};
    for (int i = 0; i < 4; ++i) {
      half[i] = FrModulus::kValue[i] >> 1;
      if (i < 3) half[i] |= FrModulus::kValue[i + 1] << 63;
    }
    return half;
  }
  static constexpr ScalarLimbs kHalf = Half();

  // s if s <= (r-1)/2, else r - s and negative.
  static FoldedScalar Fold(const ScalarLimbs& s) {
    ScalarLimbs rest;
    uint64_t borrow = 0, borrow_half = 0;
    for (int i = 0; i < 4; ++i) {
      unsigned __int128 d = (unsigned __int128)FrModulus::kValue[i] - s[i] - borrow;
      rest[i] = (uint64_t)d;
      borrow = (uint64_t)(d >> 64) & 1;
      unsigned __int128 h = (unsigned __int128)kHalf[i] - s[i] - borrow_half;
      borrow_half = (uint64_t)(h >> 64) & 1;
    }
    const uint64_t take = 0 - borrow_half;
    FoldedScalar out;
    for (int i = 0; i < 4; ++i) out.magnitude[i] = (rest[i] & take) | (s[i] & ~take);
    out.negative = borrow_half != 0;
    return out;
  }

  static ScalarClass Classify(const ScalarLimbs& s) {
    if ((s[1] | s[2] | s[3]) == 0 && s[0] < 2) return s[0] == 0 ? ScalarClass::kZero : ScalarClass::kOne;
    bool minus_one = s[0] == FrModulus::kValue[0] - 1;  // r is odd
    for (int i = 1; i < 4; ++i) minus_one = minus_one && s[i] == FrModulus::kValue[i];
    return minus_one ? ScalarClass::kMinusOne : ScalarClass::kWide;
  }
};

inline int BitLength(const ScalarLimbs& s) {
  for (int i = 4; i-- > 0;)
    if (s[i] != 0) return 64 * i + static_cast<int>(std::bit_width(s[i]));
  return 0;
}

struct MsmWindow {
  int start = 0;             // lowest bit
  int bits = 0;              // 1 to 16
  bool is_top = false;       // plain digits
  uint32_t bucket_count = 0; // digits' magnitudes are 1 to bucket_count
};

// How many of an MSM's folded scalars have each bit length (1 to 255; 0 is not used).
using BitLengthCounts = std::array<uint64_t, 256>;

class MsmWindows {
 public:
  // At least cost by the model in msm_windows.cc. `half` is (r-1)/2. No scalars: no windows.
  static MsmWindows Choose(const BitLengthCounts& counts, const ScalarLimbs& half);
  // All windows `bits` wide, the top one up to that. 1 <= bits <= 16.
  static MsmWindows Uniform(const BitLengthCounts& counts, const ScalarLimbs& half, int bits);

  const std::vector<MsmWindow>& windows() const { return windows_; }
  // The digit of a folded scalar in one window: 0, or the magnitude and a sign bit (31).
  uint32_t Digit(const FoldedScalar& s, const MsmWindow& window) const {
    // Adding the whole constant is cheaper than knowing which limbs carry.
    ScalarLimbs t;
    uint64_t carry = 0;
    for (int i = 0; i < 4; ++i) {
      unsigned __int128 sum = (unsigned __int128)s.magnitude[i] + offset_[i] + carry;
      t[i] = (uint64_t)sum;
      carry = (uint64_t)(sum >> 64);
    }
    const int limb = window.start / 64, shift = window.start % 64;
    uint64_t bits = t[limb] >> shift;
    if (shift != 0 && limb < 3) bits |= t[limb + 1] << (64 - shift);
    const uint32_t sign = uint32_t{s.negative} << 31;
    if (window.is_top) return bits == 0 ? 0 : static_cast<uint32_t>(bits) | sign;
    const int32_t digit =
        static_cast<int32_t>(bits & ((uint64_t{1} << window.bits) - 1)) - (int32_t{1} << (window.bits - 1));
    if (digit == 0) return 0;
    return digit < 0 ? static_cast<uint32_t>(-digit) | (sign ^ 0x80000000u) : static_cast<uint32_t>(digit) | sign;
  }

 private:
  void Append(int start, int bits, bool is_top, uint32_t bucket_count);

  std::vector<MsmWindow> windows_;
  ScalarLimbs offset_{};
};

}  // namespace proofline
