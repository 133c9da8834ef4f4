// How an MSM cuts its scalars: folding to |s| <= (r-1)/2, windows of signed digits, and the choice of their widths.
//
// The windows lie one above the other from bit 0. All but the top one have signed digits in [-2^(c-1), 2^(c-1)); the top one is plain.
// Instead of carrying from window to window, one constant K, the sum of 2^(start+c-1) over the signed windows, is added to the
// folded scalar; each window's digit can then be read alone. For s > (r-1)/2 the folded scalar is -(r - s), and r - s + K is
// ~s + (r + K + 1): one addition of four words either way.
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
  // At least cost by the model in msm_windows.cc. `order` is r. No scalars: no windows.
  static MsmWindows Choose(const BitLengthCounts& counts, const ScalarLimbs& order);
  // All windows `bits` wide, the top one up to that. 1 <= bits <= 16.
  static MsmWindows Uniform(const BitLengthCounts& counts, const ScalarLimbs& order, int bits);

  const std::vector<MsmWindow>& windows() const { return windows_; }
  // The digit of a scalar in one window: 0, or the magnitude and a sign bit (31). `s` is the scalar as it is; `folded` tells that it is
  // above (r-1)/2.
  uint32_t Digit(const ScalarLimbs& s, bool folded, const MsmWindow& window) const {
    const ScalarLimbs& offset = offsets_[folded];
    const uint64_t flip = 0 - uint64_t{folded};
    const int limb = window.start / 64, shift = window.start % 64;
    // Words below the window only carry, words above do not matter.
    uint64_t carry = 0;
    for (int i = 0; i < limb; ++i) carry = (uint64_t)(((unsigned __int128)(s[i] ^ flip) + offset[i] + carry) >> 64);
    const unsigned __int128 low = (unsigned __int128)(s[limb] ^ flip) + offset[limb] + carry;
    uint64_t bits = (uint64_t)low >> shift;
    if (shift + window.bits >= 64 && limb < 3) {
      const uint64_t high = (s[limb + 1] ^ flip) + offset[limb + 1] + (uint64_t)(low >> 64);
      bits |= high << (64 - shift);
    }
    bits &= (uint64_t{2} << window.bits) - 1;  // one more than the width: the top window's carry
    const uint32_t sign = uint32_t{folded} << 31;
    if (window.is_top) return bits == 0 ? 0 : static_cast<uint32_t>(bits) | sign;
    const int32_t digit =
        static_cast<int32_t>(bits & ((uint64_t{1} << window.bits) - 1)) - (int32_t{1} << (window.bits - 1));
    if (digit == 0) return 0;
    const int32_t below_zero = digit >> 31;  // all ones or zero; signs are random, so no branch
    return static_cast<uint32_t>((digit ^ below_zero) - below_zero) | (sign ^ (static_cast<uint32_t>(below_zero) & 0x80000000u));
  }

 private:
  explicit MsmWindows(const ScalarLimbs& order) : order_(order) {}
  void Append(int start, int bits, bool is_top, uint32_t bucket_count);
  void Finish();

  ScalarLimbs order_;
  std::vector<MsmWindow> windows_;
  std::array<ScalarLimbs, 2> offsets_{};  // K, and r + K + 1, modulo 2^256
};

}  // namespace proofline
