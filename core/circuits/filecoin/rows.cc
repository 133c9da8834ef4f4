#include "core/circuits/filecoin/rows.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <atomic>

namespace proofline::filecoin {
namespace {

constexpr uint64_t kPieceRows = 1 << 14;

}  // namespace

RowEvaluator::RowEvaluator(const CompiledCircuit& circuit, const CompactWitnessView& witness) : circuit_(circuit), witness_(witness) {
  scaled_.reserve(circuit.coefficients.size());
  for (const Fr& c : circuit.coefficients) scaled_.push_back(c.ToMont());
  small_.assign(circuit.coefficients.size(), kNotSmall);
  for (int k = 0; (1 << k) <= kMaxSmall; ++k) {
    small_[k] = static_cast<int8_t>(1 << k);
    small_[kNegative + k] = static_cast<int8_t>(-(1 << k));
  }
  for (int i = -kMaxInteger; i <= kMaxInteger; ++i)
    integers_.push_back(i < 0 ? -Fr::FromU64(static_cast<uint64_t>(-i)) : Fr::FromU64(static_cast<uint64_t>(i)));
}

// Small coefficients and bits give small sums, found without branches: half of all bits are 1, and no branch predictor guesses which.
bool RowEvaluator::SmallSum(const Terms& terms, uint32_t begin, uint32_t end, Fr& out) const {
  int sum = 0;
  uint32_t obstacles = 0;
  for (uint32_t at = begin; at < end; ++at) {
    const uint32_t c = terms.ClassAt(at);
    const int small = small_[terms.coefficients[at]];
    sum += small & -static_cast<int>(c & 1);
    obstacles |= c | (small == kNotSmall ? 2u : 0u);
  }
  if ((obstacles & 2) != 0) return false;
  out = integers_[sum + kMaxInteger];
  return true;
}

// Sums of many bits times powers of two: each power is added to a counter of its 32-bit place.
Fr RowEvaluator::LongSum(const Terms& terms, uint32_t begin, uint32_t end) const {
  int64_t places[8] = {};
  Fr sum = Fr::Zero();
  for (uint32_t at = begin; at < end; ++at) {
    const CoefficientCode code = terms.coefficients[at];
    const uint32_t c = terms.ClassAt(at);
    if (code >= kWide || c == static_cast<uint32_t>(ValueClass::kWide)) {
      sum += Product(terms, at);
      continue;
    }
    const int64_t bit = static_cast<int64_t>(c) << (code % 32);
    places[code % 256 / 32] += code < kNegative ? bit : -bit;
  }
  for (int i = 0; i < 8; ++i) {
    const Fr size = Fr::FromU64(places[i] < 0 ? -static_cast<uint64_t>(places[i]) : static_cast<uint64_t>(places[i])) * PowerOfTwo(32 * i);
    if (places[i] < 0)
      sum -= size;
    else
      sum += size;
  }
  return sum;
}

Fr RowEvaluator::Product(const Terms& terms, uint32_t at) const {
  const CoefficientCode code = terms.coefficients[at];
  switch (static_cast<ValueClass>(terms.ClassAt(at))) {
    case ValueClass::kZero: return Fr::Zero();
    case ValueClass::kOne: return circuit_.coefficients[code];
    case ValueClass::kWide: break;
  }
  const Fr canonical = LoadLe<Fr>(witness_.WideAt(terms.ValueAt(at)).data());
  return code == 0 ? canonical.ToMont() : scaled_[code] * canonical;
}

void RowEvaluator::EvaluateBlock(int matrix, const BlockPlacement& placement, uint32_t first, std::span<Fr> out) const {
  const CompiledMatrix& m = circuit_.blocks[placement.block].matrices[matrix];
  Terms terms{m.columns.data(), m.coefficients.data(), witness_.classes.data(), {}};
  // Where in the witness each kind of column begins; inputs come first there.
  const uint32_t bases[5] = {0, circuit_.num_inputs, placement.first_input, circuit_.num_inputs + placement.first_aux,
                             circuit_.num_inputs + placement.parameter_aux};
  std::copy_n(bases, 5, terms.bases);
  const uint32_t mark = first / CompiledMatrix::kRowsPerMark;
  uint32_t at = m.marks[mark];
  for (uint32_t row = mark * CompiledMatrix::kRowsPerMark; row < first; ++row) at += m.lengths[row];
  for (size_t i = 0; i < out.size(); ++i) {
    const uint32_t end = at + m.lengths[first + i];
    if (end - at > kShortRow) {
      out[i] = LongSum(terms, at, end);
    } else if (!SmallSum(terms, at, end, out[i])) {
      Fr sum = Fr::Zero();
      for (uint32_t t = at; t < end; ++t) sum += Product(terms, t);
      out[i] = sum;
    }
    at = end;
  }
}

void RowEvaluator::Evaluate(int matrix, uint64_t first, std::span<Fr> out) const {
  // The last placement that begins at or before `first`.
  auto after = std::upper_bound(circuit_.placements.begin(), circuit_.placements.end(), first,
                                [](uint64_t row, const BlockPlacement& p) { return row < p.first_row; });
  for (auto p = after - 1; !out.empty() && p != circuit_.placements.end(); ++p) {
    const uint64_t end = uint64_t{p->first_row} + circuit_.blocks[p->block].rows();
    if (first >= end) continue;
    const size_t count = std::min<uint64_t>(out.size(), end - first);
    EvaluateBlock(matrix, *p, static_cast<uint32_t>(first - p->first_row), out.first(count));
    first += count;
    out = out.subspan(count);
  }
  for (; !out.empty(); out = out.subspan(1), ++first) {
    FrCanonical input{};
    if (matrix == 0) witness_.Expand(first - circuit_.num_rows, input);
    out[0] = FrOf(input);
  }
}

void RowEvaluator::EvaluateInParallel(int matrix, uint64_t first, std::span<Fr> out) const {
  tbb::parallel_for(tbb::blocked_range<size_t>(0, out.size(), kPieceRows),
                    [&](const tbb::blocked_range<size_t>& r) { Evaluate(matrix, first + r.begin(), out.subspan(r.begin(), r.size())); });
}

uint64_t RowEvaluator::FirstUnsatisfied() const {
  std::atomic<uint64_t> bad{circuit_.num_rows};
  tbb::parallel_for(uint64_t{0}, (circuit_.num_rows + kPieceRows - 1) / kPieceRows, [&](uint64_t piece) {
    const uint64_t first = piece * kPieceRows, count = std::min(kPieceRows, circuit_.num_rows - first);
    if (first >= bad.load()) return;
    std::vector<Fr> a(count), b(count), c(count);
    Evaluate(0, first, a);
    Evaluate(1, first, b);
    Evaluate(2, first, c);
    for (uint64_t i = 0; i < count; ++i) {
      if (a[i] * b[i] == c[i]) continue;
      for (uint64_t seen = bad.load(); first + i < seen && !bad.compare_exchange_weak(seen, first + i);) {}
      return;
    }
  });
  return bad.load();
}

}  // namespace proofline::filecoin
