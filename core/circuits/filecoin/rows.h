// A.z, B.z and C.z of a compiled circuit from a compact witness.
#pragma once

#include <span>

#include "core/circuits/filecoin/compact_witness.h"
#include "core/circuits/filecoin/compiled_circuit.h"

namespace proofline::filecoin {

// Rows of the circuit, then one for each input that a proving system appends (A = input, B = C = 0).
inline uint64_t RowsWithInputs(const CompiledCircuit& circuit) { return uint64_t{circuit.num_rows} + circuit.num_inputs; }

// Any number of rows from any witness of the circuit's size; one object for many calls, from any thread.
class RowEvaluator {
 public:
  // Both outlive this. Precondition: witness.count is the circuit's inputs and auxiliary variables.
  RowEvaluator(const CompiledCircuit& circuit, const CompactWitnessView& witness);
  // Values of matrix 0, 1 or 2 (A, B, C) in rows [first, first + out.size()), Montgomery form. Serial.
  void Evaluate(int matrix, uint64_t first, std::span<Fr> out) const;
  // The same in the caller's TBB arena.
  void EvaluateInParallel(int matrix, uint64_t first, std::span<Fr> out) const;
  // The first row with A.z * B.z != C.z, or the number of rows. Parallel.
  uint64_t FirstUnsatisfied() const;

 private:
  static constexpr uint32_t kShortRow = 16;
  static constexpr int kMaxSmall = 4, kNotSmall = 0x40, kMaxInteger = kShortRow * kMaxSmall;

  // The terms of a matrix with what is needed to find their values.
  struct Terms {
    const Column* columns;
    const CoefficientCode* coefficients;
    const uint64_t* classes;
    uint32_t bases[5];
    uint32_t ValueAt(uint32_t at) const { return bases[static_cast<uint32_t>(columns[at].base())] + columns[at].offset(); }
    uint32_t ClassAt(uint32_t at) const {
      const uint32_t value = ValueAt(at);
      return static_cast<uint32_t>(classes[value / 32] >> (2 * (value % 32))) & 3;
    }
  };
  // False if the sum has a wide value or a coefficient that is not small. Precondition: at most kShortRow terms.
  bool SmallSum(const Terms& terms, uint32_t begin, uint32_t end, Fr& out) const;
  Fr LongSum(const Terms& terms, uint32_t begin, uint32_t end) const;
  Fr Product(const Terms& terms, uint32_t at) const;
  void EvaluateBlock(int matrix, const BlockPlacement& placement, uint32_t first, std::span<Fr> out) const;

  const CompiledCircuit& circuit_;
  const CompactWitnessView& witness_;
  std::vector<int8_t> small_;   // by code: the coefficient, or kNotSmall
  std::vector<Fr> integers_;    // -kMaxInteger to kMaxInteger
  std::vector<Fr> scaled_;      // coefficients times 2^256: a product with a canonical value is in Montgomery form
};

}  // namespace proofline::filecoin
