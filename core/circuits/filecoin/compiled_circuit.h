// A circuit's matrices compiled once and kept small: the part that repeats (a challenge, a sector) is stored once with places to put it.
//
// Sizes: 6 bytes a term and 2 bytes a row and matrix, of one block of each kind. Making one takes about as long as one synthesis of each block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/circuits/filecoin/r1cs_digest.h"
#include "core/circuits/filecoin/shapes.h"

namespace proofline::filecoin {

// Which number a column's offset is added to.
enum class ColumnBase : uint32_t {
  kInput = 0,       // nothing: an input of the fixed part; offset 0 is the constant 1
  kAux = 1,         // nothing: an auxiliary variable of the fixed part
  kBlockInput = 2,  // the placement's first_input
  kBlockAux = 3,    // the placement's first_aux
  kParameter = 4,   // the placement's parameter_aux: a run of the fixed part that is another one in each placement
};
struct Column {
  static constexpr int kOffsetBits = 29;
  uint32_t code = 0;
  static Column Of(ColumnBase base, uint32_t offset) { return {static_cast<uint32_t>(base) << kOffsetBits | offset}; }
  ColumnBase base() const { return static_cast<ColumnBase>(code >> kOffsetBits); }
  uint32_t offset() const { return code & ((1u << kOffsetBits) - 1); }
};

// +2^k is k, -2^k is 256 + k, anything else 512 + an index into the circuit's wide coefficients.
using CoefficientCode = uint16_t;
inline constexpr CoefficientCode kNegative = 256, kWide = 512;

// Rows one after the other.
struct CompiledMatrix {
  static constexpr uint32_t kRowsPerMark = 1024;
  std::vector<uint16_t> lengths;
  std::vector<uint32_t> marks;  // where every kRowsPerMark-th row begins
  std::vector<Column> columns;
  std::vector<CoefficientCode> coefficients;
};

struct CompiledBlock {
  CompiledMatrix matrices[3];  // A, B, C
  uint32_t rows() const { return static_cast<uint32_t>(matrices[0].lengths.size()); }
};

struct BlockPlacement {
  uint32_t block = 0;
  uint32_t first_row = 0, first_input = 0, first_aux = 0, parameter_aux = 0;
  Variable Resolve(Column column) const {
    switch (column.base()) {
      case ColumnBase::kInput: return Variable::Input(column.offset());
      case ColumnBase::kAux: return Variable::Aux(column.offset());
      case ColumnBase::kBlockInput: return Variable::Input(first_input + column.offset());
      case ColumnBase::kBlockAux: return Variable::Aux(first_aux + column.offset());
      case ColumnBase::kParameter: return Variable::Aux(parameter_aux + column.offset());
    }
    return {};
  }
};

struct CompiledCircuit {
  uint32_t num_inputs = 0, num_aux = 0;  // the constant 1 is an input
  uint32_t num_rows = 0;                 // of the circuit; a proving system appends one for each input, see EvaluateRows
  std::vector<CompiledBlock> blocks;
  std::vector<BlockPlacement> placements;  // by row
  // All coefficients by code: kWide for the powers of two, then the others.
  std::vector<Fr> coefficients;

  uint64_t size_bytes() const;
};

// kUnsupported if a circuit has more rows, variables or different coefficients than the codes hold; none of Filecoin's has.
Result<CompiledCircuit> CompilePoRep(const PoRepShape& shape);
Result<CompiledCircuit> CompilePoSt(const PoStShape& shape);
Result<CompiledCircuit> CompileUpdate(const UpdateShape& shape);

// Every row in order, as the circuit's synthesis gives them. For tests: slow for full-size circuits.
void ExpandRows(const CompiledCircuit& circuit, RowSink& sink);

// Which variables occur, one bit each: what the queries of a key hold. Inputs are always in A.
struct QueryDensity {
  std::vector<uint64_t> a_aux, b_inputs, b_aux;
};
QueryDensity DensityOf(const CompiledCircuit& circuit);
R1csTotals TotalsOf(const CompiledCircuit& circuit);

}  // namespace proofline::filecoin
