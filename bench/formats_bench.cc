// The passes over bulk data that core/formats and the constraint check make. One run of each is one file.
//   formats_bench --benchmark_filter=Coefficients
#include <benchmark/benchmark.h>

#include <vector>

#include "core/formats/r1cs.h"
#include "core/formats/zkey.h"
#include "core/groth16/r1cs_check.h"

namespace proofline {
namespace {

// A view of `count` coefficients as a key of that size has them; the points are not looked at.
void BM_CheckCoefficients(benchmark::State& state) {
  const size_t count = static_cast<size_t>(state.range(0));
  std::vector<uint8_t> bytes(count * ProvingKeyView::kCoefficientBytes);
  for (size_t i = 0; i < count; ++i) {
    uint8_t* record = bytes.data() + i * ProvingKeyView::kCoefficientBytes;
    StoreLe(record, static_cast<uint32_t>(i & 1));
    StoreLe(record + 4, static_cast<uint32_t>(i / 4));
    StoreLe(record + 8, static_cast<uint32_t>(i / 5));
    for (size_t j = 0; j < 3; ++j) StoreLe(record + 12 + 8 * j, uint64_t{i * 0x9e3779b97f4a7c15});
    StoreLe(record + 36, uint64_t{i % 0x30644e72e131a029});
  }
  ProvingKeyView view;
  view.n_vars = 1u << 20;
  view.log2_domain = 20;
  view.coefficients = bytes;
  for (auto _ : state) {
    Status status = CheckAllCoefficients(view, "bench");
    if (!status.ok()) state.SkipWithError(status.error().fact.c_str());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(count));
}
BENCHMARK(BM_CheckCoefficients)->Arg(1 << 22)->Unit(benchmark::kMillisecond)->UseRealTime();

// a_i * a_i = a_i with a_i = 1, one term each: 2^20 constraints.
struct Squares {
  explicit Squares(uint32_t count) {
    constexpr size_t kConstraint = 3 * (4 + LinearCombination::kTermBytes);
    constraints.resize(count * kConstraint);
    for (size_t part = 0; part < size_t{count} * 3; ++part) {
      uint8_t* p = constraints.data() + part * (4 + LinearCombination::kTermBytes);
      StoreLe(p, uint32_t{1});
      StoreLe(p + 4, static_cast<uint32_t>(part / 3 + 1));
      p[8] = 1;
    }
    offsets.resize(count + 1);
    for (size_t i = 0; i <= count; ++i) offsets[i] = i * kConstraint;
    witness.resize((size_t{count} + 1) * kFrBytes);
    for (size_t i = 0; i <= count; ++i) witness[i * kFrBytes] = 1;
    view.n_wires = count + 1;
    view.n_constraints = count;
    view.constraints = constraints;
    view.offsets = offsets;
  }
  std::vector<uint8_t> constraints, witness;
  std::vector<uint64_t> offsets;
  R1csView view;
};

void BM_CheckR1cs(benchmark::State& state) {
  Squares system(1u << 20);
  for (auto _ : state) {
    if (CheckR1cs(system.view, system.witness).unsatisfied_count != 0) state.SkipWithError("not satisfied");
  }
}
BENCHMARK(BM_CheckR1cs)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace proofline

BENCHMARK_MAIN();
