// A rank-1 constraint system where it lies: for each constraint i, A_i(w) * B_i(w) = C_i(w) over the wires w, w[0] = 1.
//
// The packed bytes are those of section 2 of an .r1cs file, so a mapped file and a circuit built in memory look the same. Whoever
// makes a view has checked it: every count stays inside the bytes, every wire < n_wires, every coefficient < r.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/field/moduli.h"

namespace proofline {

// A sum of coefficient * wire. Terms may come in any order, and one wire may occur in several.
struct LinearCombination {
  static constexpr size_t kTermBytes = 4 + kFrBytes;  // u32 wire, canonical coefficient

  const uint8_t* terms = nullptr;
  uint32_t count = 0;
  uint32_t wire(uint32_t j) const { return LoadLe<uint32_t>(terms + j * kTermBytes); }
  // 32 bytes, canonical, < r.
  const uint8_t* coefficient(uint32_t j) const { return terms + j * kTermBytes + 4; }
};

struct R1csConstraint {
  LinearCombination a, b, c;
};

struct R1csView {
  CurveId curve = CurveId::kBn254;
  uint32_t n_wires = 0;  // the constant 1 counts
  uint32_t n_pub_out = 0, n_pub_in = 0, n_prv_in = 0;
  uint32_t n_constraints = 0;
  uint32_t n_public() const { return n_pub_out + n_pub_in; }

  // For each constraint its A, B and C: u32 count, then `count` terms.
  ByteSpan constraints;
  // n_constraints + 1 offsets into `constraints`; the last one is its size.
  std::span<const uint64_t> offsets;

  // Precondition: i < n_constraints.
  R1csConstraint constraint(uint32_t i) const {
    const uint8_t* p = constraints.data() + offsets[i];
    R1csConstraint out;
    for (LinearCombination* lc : {&out.a, &out.b, &out.c}) {
      lc->count = LoadLe<uint32_t>(p);
      lc->terms = p + 4;
      p += 4 + size_t{lc->count} * LinearCombination::kTermBytes;
    }
    return out;
  }
};

}  // namespace proofline
