// A witness of mostly bits, small: two class bits for each value, and 32 bytes for those that are neither 0 nor 1.
//
// Bytes, little-endian, sections at multiples of 64:
//   u64 count, u64 wide_count, 48 zero bytes
//   classes   count * 2 bits in u64 words, value i in bits 2 (i mod 32) of word i / 32: 0 = zero, 1 = one, 2 = wide
//   marks     u32 for each 512 values: how many wide ones come before (for access at any place)
//   wide      wide_count canonical values of 32 bytes, none of them 0 or 1
// Unused bits and padding are 0. Values come in the order of the dense form: inputs with the constant 1 first, then auxiliary variables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/circuits/filecoin/scalar.h"

namespace proofline::filecoin {

enum class ValueClass : uint8_t { kZero = 0, kOne = 1, kWide = 2 };

// Values appended in order. Not for more than one thread. Secret; wiping is the caller's matter.
class WitnessPart {
 public:
  void Reserve(uint64_t count, uint64_t wide_count);
  // `count` <= 64 values that are bits, the first in bit 0. Bits above are ignored.
  void PutBits(uint64_t bits, int count) {
    if (count > 32) {
      Append(Spread(static_cast<uint32_t>(bits)), 32);
      bits >>= 32;
      count -= 32;
    }
    const uint64_t mask = (uint64_t{1} << count) - 1;
    Append(Spread(static_cast<uint32_t>(bits & mask)), count);
  }
  void Put(const Fr& value);
  void Put(const FrCanonical& value);
  // All values of another part.
  void Append(const WitnessPart& other);

  uint64_t count() const { return count_; }
  std::span<const FrCanonical> wide() const { return wide_; }
  // Whole words; the last one may be partly used.
  std::vector<uint64_t> TakeClasses();

 private:
  // Bit i to bit 2i.
  static uint64_t Spread(uint32_t bits) {
    uint64_t x = bits;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    return (x | x << 1) & 0x5555555555555555;
  }
  // `classes`: `count` <= 32 pairs of bits, 0 above.
  void Append(uint64_t classes, int count) {
    const int at = static_cast<int>(count_ % 32);
    open_word_ |= classes << (2 * at);
    count_ += count;
    if (at + count < 32) return;
    classes_.push_back(open_word_);
    open_word_ = at == 0 ? 0 : classes >> (64 - 2 * at);
  }

  uint64_t count_ = 0, open_word_ = 0;
  std::vector<uint64_t> classes_;
  std::vector<FrCanonical> wide_;
};

struct CompactWitnessView {
  uint64_t count = 0;
  std::span<const uint64_t> classes;
  std::span<const uint32_t> marks;
  std::span<const FrCanonical> wide;
  static constexpr uint64_t kValuesPerMark = 512;

  ValueClass ClassOf(uint64_t i) const { return static_cast<ValueClass>((classes[i / 32] >> (2 * (i % 32))) & 3); }
  // Precondition: value i is wide.
  const FrCanonical& WideAt(uint64_t i) const;
  // Values [first, first + out.size() / 32) in the dense form.
  void Expand(uint64_t first, MutableByteSpan out) const;
};

uint64_t CompactWitnessBytes(uint64_t count, uint64_t wide_count);

// `out`: CompactWitnessBytes of the counts, aligned to 64 bytes; all of it is written.
void WriteCompactWitness(WitnessPart part, MutableByteSpan out);

// The bytes must be aligned to 64 and outlive the view. Checks lengths, classes, marks and padding; not that wide values are below r.
// kInvalidFile.
Result<CompactWitnessView> ReadCompactWitness(ByteSpan bytes);

}  // namespace proofline::filecoin
