#include "core/circuits/filecoin/compiled_circuit.h"

#include <bit>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/base/text.h"
#include "core/circuits/filecoin/porep_circuit.h"
#include "core/circuits/filecoin/post_circuit.h"
#include "core/circuits/filecoin/update_circuit.h"

namespace proofline::filecoin {
namespace {

struct FrHash {
  size_t operator()(const Fr& x) const { return x.limbs[0] ^ x.limbs[1] * 0x9e3779b97f4a7c15 ^ x.limbs[3]; }
};

// Codes of coefficients, given out as they are met.
class CoefficientTable {
 public:
  CoefficientTable() : all_(kWide) {
    for (int k = 0; k < 256; ++k) {
      all_[k] = PowerOfTwo(k);
      all_[kNegative + k] = -PowerOfTwo(k);
      codes_.emplace(all_[k], static_cast<CoefficientCode>(k));
      codes_.emplace(all_[kNegative + k], static_cast<CoefficientCode>(kNegative + k));
    }
  }
  // nullopt if there are too many.
  std::optional<CoefficientCode> CodeOf(const Fr& x) {
    if (x == all_[0]) return CoefficientCode{0};
    if (auto it = codes_.find(x); it != codes_.end()) return it->second;
    if (all_.size() > UINT16_MAX) return std::nullopt;
    const auto code = static_cast<CoefficientCode>(all_.size());
    codes_.emplace(x, code);
    all_.push_back(x);
    return code;
  }
  std::vector<Fr> Take() { return std::move(all_); }

 private:
  std::vector<Fr> all_;
  std::unordered_map<Fr, CoefficientCode, FrHash> codes_;
};

// Where variables of the block being compiled begin. The fixed part is a block in which everything is relative to nothing.
struct BlockStart {
  uint32_t first_input = UINT32_MAX, first_aux = UINT32_MAX;
  uint32_t parameter_aux = 0, parameter_count = 0;
};

class Compiler : public RowSink {
 public:
  void Begin(const BlockStart& start) {
    start_ = start;
    circuit_.blocks.emplace_back();
  }
  void Row(std::span<const Term> a, std::span<const Term> b, std::span<const Term> c) override {
    const std::span<const Term> sums[3] = {a, b, c};
    for (int m = 0; m < 3; ++m) Append(circuit_.blocks.back().matrices[m], sums[m]);
  }
  // The compiled block goes to the next rows and, if it is not the fixed part, the next variables.
  void Place(uint32_t block, uint32_t inputs, uint32_t aux, uint32_t parameter_aux) {
    CompiledCircuit& c = circuit_;
    if (uint64_t{c.num_rows} + c.blocks[block].rows() > UINT32_MAX || uint64_t{c.num_aux} + aux >= Variable::kAuxBit) too_large_ = true;
    c.placements.push_back({block, c.num_rows, c.num_inputs, c.num_aux, parameter_aux});
    c.num_rows += c.blocks[block].rows();
    c.num_inputs += inputs;
    c.num_aux += aux;
  }
  void CountConstantOne() { circuit_.num_inputs = 1; }
  Result<CompiledCircuit> Finish() {
    if (too_large_) return Status(ErrorCode::kUnsupported, "the circuit has more rows, variables or coefficients than can be compiled");
    circuit_.coefficients = table_.Take();
    return std::move(circuit_);
  }

 private:
  Column ColumnOf(Variable v) {
    const uint32_t index = v.index();
    auto relative = [&](ColumnBase base, uint32_t first) {
      if (index - first >= (1u << Column::kOffsetBits)) too_large_ = true;
      return Column::Of(base, index - first);
    };
    if (!v.is_aux()) return index >= start_.first_input ? relative(ColumnBase::kBlockInput, start_.first_input) : relative(ColumnBase::kInput, 0);
    if (index >= start_.first_aux) return relative(ColumnBase::kBlockAux, start_.first_aux);
    if (index - start_.parameter_aux < start_.parameter_count) return relative(ColumnBase::kParameter, start_.parameter_aux);
    return relative(ColumnBase::kAux, 0);
  }
  void Append(CompiledMatrix& m, std::span<const Term> sum) {
    if (m.lengths.size() % CompiledMatrix::kRowsPerMark == 0) m.marks.push_back(static_cast<uint32_t>(m.columns.size()));
    if (sum.size() > UINT16_MAX || m.columns.size() + sum.size() > UINT32_MAX) too_large_ = true;
    m.lengths.push_back(static_cast<uint16_t>(sum.size()));
    for (const Term& t : sum) {
      const std::optional<CoefficientCode> code = table_.CodeOf(t.coefficient);
      if (!code) too_large_ = true;
      m.columns.push_back(ColumnOf(t.variable));
      m.coefficients.push_back(code.value_or(0));
    }
  }

  CompiledCircuit circuit_;
  CoefficientTable table_;
  BlockStart start_;
  bool too_large_ = false;
};

// The fixed part, if any, then one block `count` times. `block(cs)` synthesises it once; `parameter(i)` is the place of its parameter in
// placement i.
template <class Fixed, class Block, class Parameter>
Result<CompiledCircuit> Compile(const Fixed& fixed, const Block& block, uint32_t count, uint32_t parameter_count, const Parameter& parameter) {
  Compiler compiler;
  ShapeSystem cs(compiler);
  compiler.CountConstantOne();
  compiler.Begin({});
  fixed(cs);
  compiler.Place(0, cs.num_inputs() - 1, cs.num_aux(), 0);
  const uint32_t inputs = cs.num_inputs(), aux = cs.num_aux();
  compiler.Begin({inputs, aux, parameter_count > 0 ? parameter(0) : 0, parameter_count});
  block(cs);
  for (uint32_t i = 0; i < count; ++i)
    compiler.Place(1, cs.num_inputs() - inputs, cs.num_aux() - aux, parameter_count > 0 ? parameter(i) : 0);
  return compiler.Finish();
}

void SetBit(std::vector<uint64_t>& bits, uint64_t index) { bits[index / 64] |= uint64_t{1} << (index % 64); }

uint64_t CountBits(const std::vector<uint64_t>& bits) {
  uint64_t count = 0;
  for (uint64_t word : bits) count += std::popcount(word);
  return count;
}

// The columns of a block's matrix, each once: the block's own auxiliary variables as bits, everything else as a list.
struct UsedColumns {
  std::vector<bool> own;
  std::vector<Column> others;
};
UsedColumns UsedBy(const CompiledMatrix& m) {
  UsedColumns used;
  std::unordered_set<uint32_t> seen;
  for (Column c : m.columns) {
    if (c.base() == ColumnBase::kBlockAux) {
      if (c.offset() >= used.own.size()) used.own.resize(std::max<size_t>(c.offset() + 1, 2 * used.own.size()));
      used.own[c.offset()] = true;
      continue;
    }
    if (seen.insert(c.code).second) used.others.push_back(c);
  }
  return used;
}

void MarkUsed(const CompiledCircuit& circuit, int matrix, std::vector<uint64_t>* inputs, std::vector<uint64_t>& aux) {
  for (uint32_t block = 0; block < circuit.blocks.size(); ++block) {
    const UsedColumns used = UsedBy(circuit.blocks[block].matrices[matrix]);
    for (const BlockPlacement& p : circuit.placements) {
      if (p.block != block) continue;
      for (size_t i = 0; i < used.own.size(); ++i)
        if (used.own[i]) SetBit(aux, p.first_aux + i);
      for (Column c : used.others) {
        const Variable v = p.Resolve(c);
        if (v.is_aux()) SetBit(aux, v.index());
        else if (inputs) SetBit(*inputs, v.index());
      }
    }
  }
}

}  // namespace

Result<CompiledCircuit> CompilePoRep(const PoRepShape& shape) {
  std::optional<PoRepCircuit<ShapeSystem>> circuit;
  auto fixed = [&](ShapeSystem& cs) {
    circuit.emplace(cs, shape);
    circuit->SynthesizeFixed(nullptr);
  };
  return Compile(fixed, [&](ShapeSystem&) { circuit->SynthesizeChallenge(nullptr); }, shape.challenges, 0, [](uint32_t) { return 0u; });
}

Result<CompiledCircuit> CompilePoSt(const PoStShape& shape) {
  auto slot = [&](ShapeSystem& cs) { PoStCircuit<ShapeSystem>(cs, shape).SynthesizeSlot(nullptr, 0); };
  return Compile([](ShapeSystem&) {}, slot, shape.sectors, 0, [](uint32_t) { return 0u; });
}

Result<CompiledCircuit> CompileUpdate(const UpdateShape& shape) {
  std::optional<UpdateCircuit<ShapeSystem>> circuit;
  auto fixed = [&](ShapeSystem& cs) {
    circuit.emplace(cs, shape);
    circuit->SynthesizeFixed(nullptr);
  };
  auto bits_of = [&](uint32_t challenge) { return circuit->ChallengeBits(challenge)[0].var.index(); };
  return Compile(fixed, [&](ShapeSystem&) { circuit->SynthesizeChallenge(0, nullptr); }, shape.challenges,
                 static_cast<uint32_t>(shape.challenge_bits()), bits_of);
}

uint64_t CompiledCircuit::size_bytes() const {
  uint64_t bytes = coefficients.size() * sizeof(Fr) + placements.size() * sizeof(BlockPlacement);
  for (const CompiledBlock& block : blocks)
    for (const CompiledMatrix& m : block.matrices)
      bytes += m.lengths.size() * 2 + m.marks.size() * 4 + m.columns.size() * 4 + m.coefficients.size() * 2;
  return bytes;
}

void ExpandRows(const CompiledCircuit& circuit, RowSink& sink) {
  std::vector<Term> sums[3];
  for (const BlockPlacement& p : circuit.placements) {
    const CompiledBlock& block = circuit.blocks[p.block];
    size_t at[3] = {};
    for (uint32_t row = 0; row < block.rows(); ++row) {
      for (int m = 0; m < 3; ++m) {
        const CompiledMatrix& matrix = block.matrices[m];
        sums[m].clear();
        for (const size_t end = at[m] + matrix.lengths[row]; at[m] < end; ++at[m])
          sums[m].push_back({p.Resolve(matrix.columns[at[m]]), circuit.coefficients[matrix.coefficients[at[m]]]});
      }
      sink.Row(sums[0], sums[1], sums[2]);
    }
  }
}

QueryDensity DensityOf(const CompiledCircuit& circuit) {
  QueryDensity density;
  density.a_aux.resize((circuit.num_aux + 63) / 64);
  density.b_aux.resize(density.a_aux.size());
  density.b_inputs.resize((circuit.num_inputs + 63) / 64);
  MarkUsed(circuit, 0, nullptr, density.a_aux);
  MarkUsed(circuit, 1, &density.b_inputs, density.b_aux);
  return density;
}

R1csTotals TotalsOf(const CompiledCircuit& circuit) {
  R1csTotals totals;
  totals.rows = circuit.num_rows;
  for (const BlockPlacement& p : circuit.placements) {
    const CompiledMatrix* m = circuit.blocks[p.block].matrices;
    totals.nnz_a += m[0].columns.size();
    totals.nnz_b += m[1].columns.size();
    totals.nnz_c += m[2].columns.size();
  }
  const QueryDensity density = DensityOf(circuit);
  totals.a_aux = CountBits(density.a_aux);
  totals.b_inputs = CountBits(density.b_inputs);
  totals.b_aux = CountBits(density.b_aux);
  return totals;
}

}  // namespace proofline::filecoin
