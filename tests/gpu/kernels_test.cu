// The device kernels against their readable twins and against known discrete logarithms; needs a CUDA device (ctest label gpu; exits
// 77, "skipped", without one). Prints one line a case and ends with 1 if any was wrong.
//
//   kernels_test           every kernel on small and odd sizes
//   kernels_test --time    the sizes of cuda/README.md too, with times
//   kernels_test --tiny    a few sizes of each, for compute-sanitizer
//   kernels_test --profile "bls12-381 g1" 24    one MSM of that size by each method and nothing else, for a profiler
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/curve/curve.h"
#include "core/poly/domain.h"
#include "cuda/arith/point.cuh"
#include "cuda/device/check.h"
#include "cuda/msm/msm.h"
#include "cuda/ntt/ntt.h"

namespace proofline {
namespace {

int g_wrong = 0;

void Check(bool good, const std::string& what) {
  if (good) return;
  ++g_wrong;
  std::printf("WRONG: %s\n", what.c_str());
}
void Must(const Status& status) {
  if (status.ok()) return;
  std::printf("FAILED: %s\n", status.ToString().c_str());
  std::exit(1);
}
void Must(cudaError_t error) { Must(cuda::CudaStatus(error, "test", __FILE__, __LINE__)); }

// Device memory of the test's own.
class Buffer {
 public:
  explicit Buffer(size_t bytes) { Must(cudaMalloc(&p_, std::max<size_t>(bytes, 16))); }
  ~Buffer() { cudaFree(p_); }
  Buffer(const Buffer&) = delete;
  void* get() const { return p_; }
  void Up(const void* from, size_t bytes) { Must(cudaMemcpy(p_, from, bytes, cudaMemcpyHostToDevice)); }
  void Down(void* to, size_t bytes) const { Must(cudaMemcpy(to, p_, bytes, cudaMemcpyDeviceToHost)); }

 private:
  void* p_ = nullptr;
};

float Milliseconds(cudaStream_t stream, const std::function<void()>& work) {
  cudaEvent_t begin, end;
  Must(cudaEventCreate(&begin));
  Must(cudaEventCreate(&end));
  Must(cudaEventRecord(begin, stream));
  work();
  Must(cudaEventRecord(end, stream));
  Must(cudaEventSynchronize(end));
  float ms = 0;
  Must(cudaEventElapsedTime(&ms, begin, end));
  return ms;
}
float Median(std::vector<float> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

template <class M>
Fp<M> Random(std::mt19937_64& g) {
  Fp<M> x;
  for (int i = 0; i < M::kLimbs; ++i) x.limbs[i] = g();
  x.limbs[M::kLimbs - 1] %= M::kValue[M::kLimbs - 1];
  return x;
}

// Values of the transform's result against evaluation of the polynomial at five points, and the way back in full.
template <class M>
void NttOfSize(const std::string& name, int log2_n, const Buffer& table, cudaStream_t stream) {
  using Fr = Fp<M>;
  std::mt19937_64 g(log2_n);
  const size_t n = size_t{1} << log2_n;
  std::vector<Fr> x(n), y(n), coefficients(n);
  for (Fr& v : x) v = Random<M>(g);
  x[0] = Fr::Zero();
  x[1] = -Fr::One();
  Buffer data(n * sizeof(Fr));
  data.Up(x.data(), n * sizeof(Fr));
  Must(cuda::NttInverseToBitReversed<M>(data.get(), table.get(), log2_n, stream));
  Must(cudaStreamSynchronize(stream));
  data.Down(y.data(), n * sizeof(Fr));
  for (size_t j = 0; j < n; ++j) coefficients[j] = y[ReverseBits(j, log2_n)];
  const auto value_at = [&](const Fr& p) {
    Fr sum = Fr::Zero();
    for (size_t j = n; j-- > 0;) sum = sum * p + coefficients[j];
    return sum;
  };
  const Fr omega = RootOfUnity<Fr>(log2_n), count = Fr::FromU64(n), eta = OddCosetShift<Fr>(log2_n);
  for (size_t i : {size_t{0}, size_t{1}, n / 3, n / 2, n - 1})
    Check(value_at(PowU64(omega, i)) == x[i] * count, name + " inverse 2^" + std::to_string(log2_n));
  Must(cuda::NttForwardFromBitReversed<M>(data.get(), table.get(), log2_n, stream));
  Must(cudaStreamSynchronize(stream));
  data.Down(y.data(), n * sizeof(Fr));
  bool same = true;
  for (size_t i = 0; i < n; ++i) same &= y[i] == x[i] * count;
  Check(same, name + " forward 2^" + std::to_string(log2_n));
  data.Up(x.data(), n * sizeof(Fr));
  Must(cuda::NttExtendToOddCoset<M>(data.get(), table.get(), log2_n, stream));
  Must(cudaStreamSynchronize(stream));
  data.Down(y.data(), n * sizeof(Fr));
  const Fr n_inverse = count.Inverse();
  for (size_t i : {size_t{0}, size_t{1}, n / 3, n / 2, n - 1})
    Check(y[i] == value_at(eta * PowU64(omega, i)) * n_inverse, name + " chain 2^" + std::to_string(log2_n));
}

template <class M>
void TimeNtt(const std::string& name, int log2_n, const Buffer& table, cudaStream_t stream) {
  Buffer data(size_t{32} << log2_n);
  Must(cudaMemset(data.get(), 1, size_t{32} << log2_n));
  std::vector<float> inverse, forward, chain;
  for (int i = 0; i < 7; ++i) {
    inverse.push_back(Milliseconds(stream, [&] { Must(cuda::NttInverseToBitReversed<M>(data.get(), table.get(), log2_n, stream)); }));
    forward.push_back(Milliseconds(stream, [&] { Must(cuda::NttForwardFromBitReversed<M>(data.get(), table.get(), log2_n, stream)); }));
    chain.push_back(Milliseconds(stream, [&] { Must(cuda::NttExtendToOddCoset<M>(data.get(), table.get(), log2_n, stream)); }));
  }
  std::printf("ntt %s 2^%d: inverse %.3f, forward %.3f, chain %.3f ms\n", name.c_str(), log2_n, Median(inverse), Median(forward), Median(chain));
}

bool g_tiny = false;

template <class M>
void TestNtt(const std::string& name, bool timed, cudaStream_t stream) {
  const int largest = timed ? 27 : g_tiny ? 13 : 20;
  Buffer table(cuda::NttTableBytes(largest));
  Must(cuda::NttBuildTable<M>(table.get(), largest, stream));
  for (int log2_n = 1; log2_n <= std::min(largest, 20); log2_n += g_tiny && log2_n == 3 ? 9 : 1) NttOfSize<M>(name, log2_n, table, stream);
  for (int log2_n : {20, 24, 27})
    if (timed && log2_n < M::kTwoAdicity) TimeNtt<M>(name, log2_n, table, stream);
}

// Discrete logarithm of base i: any fixed function of i (splitmix64).
__host__ __device__ uint64_t LogOf(uint64_t i) {
  uint64_t z = i * 0x9E3779B97F4A7C15ull + 0x1234567;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

template <class B>
struct Exponent {
  uint32_t w[B::kWords];
};
template <class B>
__device__ B Inverse(const B& x, const Exponent<B>& p_minus_2) {
  B r = B::One();
  for (int i = B::kWords * 32 - 1; i >= 0; --i) {
    r = r * r;
    if ((p_minus_2.w[i / 32] >> (i % 32)) & 1) r = r * x;
  }
  return r;
}
template <class B>
__device__ cuda::Field2<B> Inverse(const cuda::Field2<B>& x, const Exponent<B>& p_minus_2) {
  const B n = Inverse(x.c0 * x.c0 + x.c1 * x.c1, p_minus_2);
  return {x.c0 * n, -(x.c1 * n)};
}

// bases[i] = LogOf(i % period) * generator.
template <class F, class B>
__global__ void MakeBasesKernel(cuda::Affine<F>* bases, uint32_t n, cuda::Affine<F> generator, Exponent<B> p_minus_2, uint32_t period) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint64_t k = LogOf(i % period);
  auto p = cuda::Xyzz<F>::Infinity();
  for (int bit = 63; bit >= 0; --bit) {
    p = p.Double();
    if ((k >> bit) & 1) p.AddMixed(generator);
  }
  const F inverse = Inverse(p.zzz, p_minus_2);
  const F z_inverse = p.zz * inverse;
  bases[i] = {p.x * (z_inverse * z_inverse), p.y * inverse};
}

enum Scalars { kUniform, kZerosOnesMinusOnes, kAllEqual, kFewBases, kShort, kScalarKinds };

// work(slice, first, last) over [0, n) on all cores: a device would wait for one.
void OnAllCores(uint32_t n, const std::function<void(uint32_t, uint32_t, uint32_t)>& work) {
  constexpr uint64_t kSlices = 64;
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> running;
  for (unsigned t = 0; t < threads; ++t)
    running.emplace_back([=, &work] {
      for (uint64_t slice = t; slice < kSlices; slice += threads)
        work(static_cast<uint32_t>(slice), static_cast<uint32_t>(n * slice / kSlices), static_cast<uint32_t>(n * (slice + 1) / kSlices));
    });
  for (std::thread& thread : running) thread.join();
}

// Fills `scalars` and returns the logarithm of the sum.
template <class Fr>
Fr MakeScalars(std::vector<Fr>& scalars, int kind, uint32_t period) {
  const auto n = static_cast<uint32_t>(scalars.size());
  std::vector<Fr> logs(64, Fr::Zero());
  OnAllCores(n, [&](uint32_t slice, uint32_t first, uint32_t last) {
    std::mt19937_64 g(uint64_t{n} * 1000 + kind * 100 + slice);
    Fr log = Fr::Zero();
    for (uint32_t i = first; i < last; ++i) {
      Fr& s = scalars[i];
      s = Random<typename Fr::Modulus>(g);
      const int choice = g() % 8;
      if (kind == kZerosOnesMinusOnes) s = choice < 3 ? Fr::Zero() : choice < 7 ? Fr::FromU64(1).ToCanon() : (-Fr::One()).ToCanon();
      if (kind == kAllEqual) s = Fr::FromU64(12345).ToCanon();
      if (kind == kShort) s = Fr::FromU64(g() & 0xffff).ToCanon();
      log += s.ToMont() * Fr::FromU64(LogOf(i % period));
    }
    logs[slice] = log;
  });
  Fr log = Fr::Zero();
  for (const Fr& part : logs) log += part;
  return log;
}

template <class Curve, class F, class B, class Point>
void MsmCase(const std::string& name, cuda::MsmGroup group, const Point& generator, uint32_t n, int kind, bool timed, cudaStream_t stream) {
  using cuda::MsmMethod;
  const std::vector<MsmMethod> methods = timed ? std::vector{MsmMethod::kAuto, MsmMethod::kPlain} : std::vector{MsmMethod::kPlain, MsmMethod::kTree};
  using Fr = typename Curve::Fr;
  Exponent<B> p_minus_2;
  auto modulus = Curve::Fq::Modulus::kValue;
  modulus[0] -= 2;
  for (int i = 0; i < B::kWords; ++i) p_minus_2.w[i] = static_cast<uint32_t>(modulus[i / 2] >> (32 * (i % 2)));
  cuda::Affine<F> device_generator;
  static_assert(sizeof device_generator == sizeof generator);
  std::memcpy(&device_generator, &generator, sizeof generator);
  const uint32_t period = kind == kFewBases ? 4 : n;
  Buffer bases(size_t{n} * sizeof(cuda::Affine<F>)), device_scalars(size_t{n} * 32);
  MakeBasesKernel<F, B><<<(n + 127) / 128, 128, 0, stream>>>(static_cast<cuda::Affine<F>*>(bases.get()), n, device_generator, p_minus_2, period);
  Must(cudaGetLastError());
  std::vector<Fr> scalars(n);
  const Fr log = MakeScalars(scalars, kind, period);
  device_scalars.Up(scalars.data(), size_t{n} * 32);

  for (const MsmMethod method : methods) {
    // With the tree few windows go through the rounds together, so that there are several groups.
    const cuda::MsmPlan plan = cuda::PlanMsm(group, n, !timed && method == MsmMethod::kTree && kind % 2 ? 5 : 0, 0, method);
    Buffer workspace(plan.workspace_bytes), result(plan.result_bytes);
    std::vector<float> times;
    for (int i = 0; i < (timed ? 5 : 1); ++i)
      times.push_back(Milliseconds(stream, [&] { Must(cuda::MsmQueue(plan, bases.get(), device_scalars.get(), workspace.get(), result.get(), stream)); }));
    std::vector<uint8_t> sums(plan.result_bytes);
    result.Down(sums.data(), sums.size());
    const std::vector<uint8_t> found = cuda::MsmFinish(plan, sums);
    std::vector<uint8_t> expected(found.size());
    ScalarMulFr(generator, log).ToAffine().Store(expected.data());
    Check(found == expected, "msm " + name + " n=" + std::to_string(n) + " scalars " + std::to_string(kind) + " rounds " + std::to_string(plan.tree_rounds));
    if (timed)
      std::printf("msm %s n=%u: %.3f ms, %zu windows, %d rounds of %u windows, workspace %.2f GiB\n", name.c_str(), n, Median(times), plan.windows.size(),
                  plan.tree_rounds, plan.tree_windows, std::ldexp(plan.workspace_bytes, -30));
  }
}

template <class Curve, class F, class B, class Point>
void TestMsm(const std::string& name, cuda::MsmGroup group, const Point& generator, const std::vector<int>& timed_sizes, cudaStream_t stream) {
  for (uint32_t n : g_tiny ? std::vector{3u, 300u} : std::vector{1u, 2u, 3u, 73u, 127u, 128u, 1025u, 65536u})
    for (int kind = 0; kind < (g_tiny ? kUniform + 2 : kScalarKinds); ++kind) MsmCase<Curve, F, B>(name, group, generator, n, kind, false, stream);
  for (int log2_n : timed_sizes) MsmCase<Curve, F, B>(name, group, generator, 1u << log2_n, kUniform, true, stream);
}

struct Profile {
  std::string group;
  uint32_t n = 0;
};

}  // namespace

int Main(bool timed, const Profile& profile) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::printf("skipped: no CUDA device\n");
    return 77;
  }
  cudaStream_t stream;
  Must(cudaStreamCreate(&stream));
  using Bn = Bn254<PortableArith>;
  using Bls = Bls12381<PortableArith>;
  using BnFq = cuda::Field<Bn254FqModulus>;
  using BlsFq = cuda::Field<Bls12381FqModulus>;
  if (profile.n != 0) {
    if (profile.group == "bn254 g1") MsmCase<Bn, BnFq, BnFq>(profile.group, cuda::MsmGroup::kBn254G1, Bn::Generator1(), profile.n, kUniform, true, stream);
    if (profile.group == "bls12-381 g1") MsmCase<Bls, BlsFq, BlsFq>(profile.group, cuda::MsmGroup::kBls12381G1, Bls::Generator1(), profile.n, kUniform, true, stream);
    if (profile.group == "bls12-381 g2")
      MsmCase<Bls, cuda::Field2<BlsFq>, BlsFq>(profile.group, cuda::MsmGroup::kBls12381G2, Bls::Generator2(), profile.n, kUniform, true, stream);
    return g_wrong == 0 ? 0 : 1;
  }
  TestNtt<Bn254FrModulus>("bn254", timed, stream);
  TestNtt<Bls12381FrModulus>("bls12-381", timed, stream);
  const auto sizes = [timed](std::vector<int> v) { return timed ? v : std::vector<int>{}; };
  TestMsm<Bn, BnFq, BnFq>("bn254 g1", cuda::MsmGroup::kBn254G1, Bn::Generator1(), sizes({22, 24}), stream);
  TestMsm<Bn, cuda::Field2<BnFq>, BnFq>("bn254 g2", cuda::MsmGroup::kBn254G2, Bn::Generator2(), {}, stream);
  TestMsm<Bls, BlsFq, BlsFq>("bls12-381 g1", cuda::MsmGroup::kBls12381G1, Bls::Generator1(), sizes({20, 24, 26, 27}), stream);
  TestMsm<Bls, cuda::Field2<BlsFq>, BlsFq>("bls12-381 g2", cuda::MsmGroup::kBls12381G2, Bls::Generator2(), sizes({20, 22}), stream);
  std::printf("%d wrong\n", g_wrong);
  return g_wrong == 0 ? 0 : 1;
}

}  // namespace proofline

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  proofline::Profile profile;
  proofline::g_tiny = mode == "--tiny";
  if (mode == "--profile" && argc > 3) profile = {argv[2], 1u << std::stoi(argv[3])};
  return proofline::Main(mode == "--time", profile);
}
