// Nanoseconds of one operation of the fields, points and the pairing, for both multiplications. Times are of CPU, so a busy machine disturbs
// them little.   field_bench --benchmark_filter='Mul.*Adx'
#include <benchmark/benchmark.h>

#include <string>
#include <type_traits>
#include <vector>

#include "core/curve/curve.h"
#include "core/curve/pairing.h"

namespace proofline {
namespace {

constexpr size_t kCount = 64;  // operands that stay in the first-level cache

template <class F>
std::vector<F> Operands() {
  std::vector<F> out;
  F x = F::FromU64(0x123456789abcdef1);
  for (size_t i = 0; i < kCount; ++i) out.push_back(x = x.Square() + F::One());
  return out;
}

// Independent operations: what a kernel over many elements sees.
template <class F, class Op>
void Throughput(benchmark::State& state, Op op) {
  std::vector<F> x = Operands<F>();
  while (state.KeepRunningBatch(kCount - 1)) {
    for (size_t i = 0; i + 1 < kCount; ++i) op(x[i], x[i + 1]);
    benchmark::ClobberMemory();
  }
}

// Each operation waits for the one before.
template <class F, class Op>
void Latency(benchmark::State& state, Op op) {
  std::vector<F> x = Operands<F>();
  F acc = x[0];
  while (state.KeepRunningBatch(kCount)) {
    for (size_t i = 0; i < kCount; ++i) op(acc, x[i]);
    benchmark::DoNotOptimize(acc);
  }
}

template <class F>
void RegisterField(const std::string& name) {
  auto add = [&](const std::string& op, auto body) { benchmark::RegisterBenchmark((name + "/" + op).c_str(), body); };
  add("Mul", [](benchmark::State& s) { Throughput<F>(s, [](F& a, const F& b) { a *= b; }); });
  add("MulLatency", [](benchmark::State& s) { Latency<F>(s, [](F& a, const F& b) { a *= b; }); });
  add("Square", [](benchmark::State& s) { Throughput<F>(s, [](F& a, const F& b) { a = b.Square(); }); });
  add("Add", [](benchmark::State& s) { Throughput<F>(s, [](F& a, const F& b) { a += b; }); });
  add("Sub", [](benchmark::State& s) { Throughput<F>(s, [](F& a, const F& b) { a -= b; }); });
  add("Inverse", [](benchmark::State& s) { Throughput<F>(s, [](F& a, const F& b) { a = b.Inverse(); }); });
}

template <class F>
void RegisterPoint(const std::string& name, const Affine<F>& g) {
  auto add = [&](const std::string& op, auto body) { benchmark::RegisterBenchmark((name + "/" + op).c_str(), body); };
  add("AddMixed", [g](benchmark::State& s) {
    Xyzz<F> p = Xyzz<F>::DoubleAffine(g);
    for (auto _ : s) p.AddMixed(g);
    benchmark::DoNotOptimize(p);
  });
  add("Add", [g](benchmark::State& s) {
    Xyzz<F> p = Xyzz<F>::DoubleAffine(g), q = p.Double();
    for (auto _ : s) p.Add(q);
    benchmark::DoNotOptimize(p);
  });
  add("Double", [g](benchmark::State& s) {
    Xyzz<F> p = Xyzz<F>::DoubleAffine(g);
    for (auto _ : s) p = p.Double();
    benchmark::DoNotOptimize(p);
  });
}

template <class Curve>
void RegisterCurve(const std::string& name) {
  RegisterField<typename Curve::Fr>(name + "/Fr");
  RegisterField<typename Curve::Fq>(name + "/Fq");
  RegisterField<typename Curve::Fq2>(name + "/Fq2");
  RegisterPoint(name + "/G1", Curve::Generator1());
  RegisterPoint(name + "/G2", Curve::Generator2());
  auto add = [&](const std::string& op, auto body) { benchmark::RegisterBenchmark((name + "/" + op).c_str(), body); };
  add("SubgroupG1", [](benchmark::State& s) {
    for (auto _ : s) benchmark::DoNotOptimize(Curve::IsInSubgroup(Curve::Generator1()));
  });
  add("SubgroupG2", [](benchmark::State& s) {
    for (auto _ : s) benchmark::DoNotOptimize(Curve::IsInSubgroup(Curve::Generator2()));
  });
  // What one Groth16 verification spends on pairings.
  add("ProductOf4Pairings", [](benchmark::State& s) {
    std::vector<G1G2Pair<Curve>> pairs(4, {Curve::Generator1(), Curve::Generator2()});
    for (auto _ : s) benchmark::DoNotOptimize(PairingProductIsOne<Curve>(pairs));
  });
}

}  // namespace
}  // namespace proofline

int main(int argc, char** argv) {
  using namespace proofline;
  RegisterCurve<Bn254<PortableArith>>("Bn254Portable");
  RegisterCurve<Bls12381<PortableArith>>("Bls12381Portable");
  if (CpuHasAdx()) {
    RegisterCurve<Bn254<AdxArith>>("Bn254Adx");
    RegisterCurve<Bls12381<AdxArith>>("Bls12381Adx");
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
