// 32-bit words of a circuit and their sums, whose carries are checked many at a time.
#pragma once

#include <array>
#include <bit>

#include "core/circuits/filecoin/number.h"

namespace proofline::filecoin {

// Least significant bit first.
template <class CS>
using Word32 = std::array<Boolean<CS>, 32>;

template <class CS>
Word32<CS> ConstantWord(uint32_t value) {
  Word32<CS> w;
  for (int i = 0; i < 32; ++i) w[i] = Boolean<CS>::Constant((value >> i) & 1);
  return w;
}

// Precondition: `bits` are 32, most significant first.
template <class CS>
Word32<CS> WordFromBigEndian(std::span<const Boolean<CS>> bits) {
  Word32<CS> w;
  for (int i = 0; i < 32; ++i) w[i] = bits[31 - i];
  return w;
}

template <class CS>
uint32_t WordValue(const Word32<CS>& w) {
  uint32_t value = 0;
  for (int i = 0; i < 32; ++i) value |= uint32_t{w[i].value()} << i;
  return value;
}

template <class CS>
Word32<CS> RotateRight(const Word32<CS>& w, int by) {
  Word32<CS> r;
  for (int i = 0; i < 32; ++i) r[i] = w[(i + by) % 32];
  return r;
}

template <class CS>
Word32<CS> ShiftRight(const Word32<CS>& w, int by) {
  Word32<CS> r;
  for (int i = 0; i + by < 32; ++i) r[i] = w[i + by];
  return r;
}

template <class CS>
Word32<CS> XorWords(CS& cs, const Word32<CS>& x, const Word32<CS>& y) {
  Word32<CS> r;
  for (int i = 0; i < 32; ++i) r[i] = Xor(cs, x[i], y[i]);
  return r;
}

// Equalities of small numbers packed side by side into one row: lhs * 1 = rhs over up to 253 bits.
template <class CS>
class PackedEqualities {
 public:
  explicit PackedEqualities(CS& cs) : cs_(cs) {}
  CS& cs() { return cs_; }
  typename CS::Sum& lhs() { return lhs_; }
  typename CS::Sum& rhs() { return rhs_; }

  // Room for one equality of `bits` bits; both its sides are to be added to lhs() and rhs() times 2^(what this returns). A row that is full
  // is written now, that is after the rows of the bits of the sum that did not fit any more.
  int Reserve(int bits) {
    if (used_ + bits >= kFrCapacity) Flush();
    const int at = used_;
    used_ += bits;
    return at;
  }
  void Flush() {
    if (used_ == 0) return;
    cs_.Enforce([&](auto& s) { s.AddSum(lhs_); }, [&](auto& s) { s.Add(CS::kOne); },
                [&](auto& s) { s.AddSum(rhs_); });
    lhs_.Clear();
    rhs_.Clear();
    used_ = 0;
  }

 private:
  CS& cs_;
  int used_ = 0;
  [[no_unique_address]] typename CS::Sum lhs_{}, rhs_{};
};

// Bits that the sum of `operands` words needs.
constexpr int SumBits(size_t operands) { return std::bit_width(operands * uint64_t{0xffffffff}); }

// The sum mod 2^32 of up to 10 words. All bits of the sum are allocated, carries too, unless every operand is constant.
template <class CS>
Word32<CS> AddMany(PackedEqualities<CS>& equalities, std::span<const Word32<CS>> operands) {
  bool all_const = true;
  uint64_t sum = 0;
  for (const Word32<CS>& w : operands) {
    for (const Boolean<CS>& b : w) all_const = all_const && b.is_const();
    sum += WordValue<CS>(w);
  }
  if (all_const) return ConstantWord<CS>(static_cast<uint32_t>(sum));

  CS& cs = equalities.cs();
  const int n = SumBits(operands.size());
  std::array<Boolean<CS>, 36> bits;
  for (int i = 0; i < n; ++i) bits[i] = AllocBit(cs, (sum >> i) & 1);
  const int shift = equalities.Reserve(n);
  if constexpr (CS::kHasShape) {
    for (const Word32<CS>& w : operands)
      for (int i = 0; i < 32; ++i) AddTo(equalities.lhs(), PowerOfTwo(shift + i), w[i]);
    for (int i = 0; i < n; ++i) AddTo(equalities.rhs(), PowerOfTwo(shift + i), bits[i]);
  }
  Word32<CS> r;
  std::copy_n(bits.begin(), 32, r.begin());
  return r;
}

}  // namespace proofline::filecoin
