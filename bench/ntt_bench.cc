// The transform chain of Groth16 (inverse, shift to the odd coset, forward), nanoseconds per butterfly.
//   build/release/bin/ntt_bench
#include <vector>

#include <benchmark/benchmark.h>
#include <tbb/task_arena.h>

#include "core/field/arith.h"
#include "core/poly/ntt.h"

namespace proofline {
namespace {

template <class Fr>
void Extend(benchmark::State& state) {
  const int log2_n = static_cast<int>(state.range(0));
  tbb::task_arena arena(static_cast<int>(state.range(1)));
  arena.execute([&] {
    const NttPlan<Fr> plan(log2_n);
    std::vector<Fr> data(plan.n());
    for (size_t i = 0; i < data.size(); ++i) data[i] = Fr::FromU64(i + 1);
    for (auto _ : state) plan.ExtendToOddCoset(data);
    state.counters["ns/butterfly"] =
        benchmark::Counter(static_cast<double>(plan.n()) * log2_n * 1e-9,
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  });
}

template <class Fr>
void Plan(benchmark::State& state) {
  tbb::task_arena arena(1);
  for (auto _ : state) {
    arena.execute([&] { benchmark::DoNotOptimize(NttPlan<Fr>(static_cast<int>(state.range(0)))); });
  }
}

void Sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"log2_n", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime();
  for (int log2_n : {10, 14, 16, 18, 20, 22}) b->Args({log2_n, 1});
  b->Args({16, 2})->Args({20, 2});
}
BENCHMARK(Extend<Fp<Bn254FrModulus, AdxArith>>)->Apply(Sizes);
BENCHMARK(Extend<Fp<Bls12381FrModulus, AdxArith>>)->Apply(Sizes);
BENCHMARK(Extend<Fp<Bn254FrModulus, PortableArith>>)->Apply(Sizes);
BENCHMARK(Plan<Fp<Bn254FrModulus, AdxArith>>)->Arg(16)->Arg(20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace proofline

BENCHMARK_MAIN();
