// .r1cs version 1 -> R1csView.
#pragma once

#include <string_view>
#include <vector>

#include "core/formats/section_file.h"
#include "core/groth16/r1cs.h"

namespace proofline {

// A constraint system where it lies: `view` points into the bytes given to ReadR1cs and into `offsets`. Movable, not copyable.
struct R1cs {
  R1csView view;
  uint64_t n_labels = 0;
  std::vector<uint64_t> offsets;
  SectionFile sections;

  R1cs() = default;
  R1cs(R1cs&&) = default;
  R1cs& operator=(R1cs&&) = default;
};

// Checks everything: n8, prime, counts, that the constraints fill section 2 exactly, every wire < nWires, every coefficient < r,
// the label section's length (a file may lack that section), no custom gates. Allocates 8 bytes a constraint, after their number
// has been held against the section's length. One sequential pass for the offsets, one parallel pass in the caller's arena.
Result<R1cs> ReadR1cs(ByteSpan bytes, std::string_view name);

}  // namespace proofline
