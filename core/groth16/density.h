// Which variables have a point in a query: the densities of bellperson's keys, as the bitmaps that ProvingKeyView holds.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/base/bytes.h"

namespace proofline {

// A set of variables; the layout of its bytes is that of ProvingKeyView::a_density.
class VariableSet {
 public:
  VariableSet() = default;
  explicit VariableSet(uint32_t n_vars) : n_vars_(n_vars), words_((size_t{n_vars} + 63) / 64) {}

  uint32_t n_vars() const { return n_vars_; }
  // Precondition: variable < n_vars().
  void Add(uint32_t variable) { words_[variable / 64] |= uint64_t{1} << (variable % 64); }
  bool Has(uint32_t variable) const { return words_[variable / 64] >> (variable % 64) & 1; }
  uint64_t Count() const {
    uint64_t count = 0;
    for (uint64_t word : words_) count += static_cast<uint64_t>(std::popcount(word));
    return count;
  }
  ByteSpan bytes() const { return {reinterpret_cast<const uint8_t*>(words_.data()), words_.size() * 8}; }

 private:
  uint32_t n_vars_ = 0;
  std::vector<uint64_t> words_;
};

// What a circuit says of its keys. A: every input (each has a row of its own after the constraints), and the auxiliary variables with a
// coefficient that is not zero in some row of A. B: all variables with one in some row of B.
struct QueryDensity {
  VariableSet a, b;
};

// The variables in [first, last) that a density names, in order. Empty `density`: all of them. fn(variable).
template <class Fn>
void ForEachDense(ByteSpan density, size_t first, size_t last, const Fn& fn) {
  for (size_t at = first; at < last; at = (at / 64 + 1) * 64) {
    uint64_t word = density.empty() ? ~uint64_t{0} : LoadLe<uint64_t>(density.data() + at / 64 * 8);
    word &= ~uint64_t{0} << (at % 64);
    const size_t base = at / 64 * 64;
    if (last - base < 64) word &= (uint64_t{1} << (last - base)) - 1;
    for (; word != 0; word &= word - 1) fn(base + static_cast<size_t>(std::countr_zero(word)));
  }
}

}  // namespace proofline
