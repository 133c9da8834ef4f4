// Multi-scalar multiplication, microseconds a point: both curves, both groups, by size and by the shape of the scalars.
//   build/release/bin/msm_bench --benchmark_filter='Bn254.*G1'
// One thread unless the last argument says otherwise. Points are packed at an odd address, as in a mapped key.
#include <random>
#include <vector>

#include <benchmark/benchmark.h>
#include <tbb/task_arena.h>

#include "core/curve/curve.h"
#include "core/curve/fixed_base.h"
#include "core/curve/msm.h"

namespace proofline {
namespace {

enum Shape : int { kUniform = 0, kHash = 1 };

template <class Fr>
Fr RandomFr(std::mt19937_64& rng) {
  Fr x;
  for (uint64_t& limb : x.limbs) limb = rng();
  x.limbs[3] %= Fr::Modulus::kValue[3];
  return x;
}

template <class Fr, class F>
struct Input {
  std::vector<uint8_t> points, scalars;
  Input(const Affine<F>& generator, size_t count, int shape) {
    std::mt19937_64 rng(count);
    std::vector<Fr> k(count);
    for (Fr& x : k) x = RandomFr<Fr>(rng);
    const std::vector<Affine<F>> p = FixedBaseMul<Fr, F>(generator, k);
    points.resize(count * Affine<F>::kBytes + 1);
    scalars.resize(count * kFrBytes);
    for (size_t i = 0; i < count; ++i) {
      p[i].Store(&points[1 + i * Affine<F>::kBytes]);
      // kHash: what a circuit of hash functions gives, half zeros, half ones, one in fifty of full size.
      Fr s = RandomFr<Fr>(rng);
      if (shape == kHash && rng() % 50 != 0) s = Fr::FromU64(rng() % 2);
      s.StoreCanon(&scalars[i * kFrBytes]);
    }
  }
};

template <class Fr, class F>
void Run(benchmark::State& state, const Affine<F>& generator) {
  const size_t count = size_t{1} << state.range(0);
  const Input<Fr, F> in(generator, count, static_cast<int>(state.range(1)));
  MsmOptions options;
  options.window_bits = static_cast<int>(state.range(3));
  tbb::task_arena arena(static_cast<int>(state.range(2)));
  for (auto _ : state) {
    arena.execute([&] {
      benchmark::DoNotOptimize(Msm<Fr, F>(ByteSpan(in.points).subspan(1), in.scalars, options));
    });
  }
  state.counters["us/point"] = benchmark::Counter(static_cast<double>(count) * 1e-6,
                                                  benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class Curve>
void G1(benchmark::State& state) {
  Run<typename Curve::Fr>(state, Curve::Generator1());
}
template <class Curve>
void G2(benchmark::State& state) {
  Run<typename Curve::Fr>(state, Curve::Generator2());
}

void Shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"log2_n", "hash", "threads", "window"})->Unit(benchmark::kMillisecond)->UseRealTime();
  for (int log2_n : {14, 16, 18, 20}) b->Args({log2_n, kUniform, 1, 0});
  b->Args({18, kHash, 1, 0})->Args({18, kUniform, 2, 0});
  for (int window = 11; window <= 16; ++window) b->Args({18, kUniform, 1, window});
}
BENCHMARK(G1<Bn254<AdxArith>>)->Apply(Shapes);
BENCHMARK(G1<Bls12381<AdxArith>>)->Apply(Shapes);
BENCHMARK(G2<Bn254<AdxArith>>)->Apply(Shapes);
BENCHMARK(G2<Bls12381<AdxArith>>)->Apply(Shapes);
BENCHMARK(G1<Bn254<PortableArith>>)->Apply(Shapes);
BENCHMARK(G1<Bls12381<PortableArith>>)->Apply(Shapes);

}  // namespace
}  // namespace proofline

BENCHMARK_MAIN();
