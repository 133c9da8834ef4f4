#include "bench/synthetic.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "core/curve/curve.h"
#include "core/curve/fixed_base.h"
#include "core/poly/ntt.h"

namespace proofline::bench {
namespace {

constexpr uint32_t kPublic = 328;
enum Section { kH, kA, kB1, kB2, kC };

uint64_t Mix(uint64_t z) {  // splitmix64
  z += 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

void ForRanges(size_t n, const std::function<void(size_t, size_t)>& fn) {
  tbb::parallel_for(tbb::blocked_range<size_t>(0, n, 4096), [&](const auto& range) { fn(range.begin(), range.end()); });
}

template <class Curve>
class Synthetic : public SyntheticPartition {
  using Fr = typename Curve::Fr;
  using G1 = typename Curve::G1;
  using G2 = typename Curve::G2;

 public:
  explicit Synthetic(const SyntheticOptions& options) : seed_(Mix(options.seed)) {
    key_.curve = Curve::kId;
    key_.log2_domain = static_cast<uint32_t>(options.log2);
    key_.n_vars = static_cast<uint32_t>(std::ldexp(0.97, options.log2));
    key_.n_public = std::min(kPublic, key_.n_vars / 2);
    MakeKey();
    MakeVectors(options.wide);
  }

  Result<Proof> Expected(const Blinding& blinding) const override {
    if (sums_[kH].empty()) MakeSums();
    return GetBackend(Curve::kId).Assemble(key_, {.h = sums_[kH], .a = sums_[kA], .b1 = sums_[kB1], .b2 = sums_[kB2], .c = sums_[kC]}, blinding);
  }

 private:
  void MakeSums() const {
    std::vector<uint8_t>(&sums)[5] = sums_;
    const std::vector<Fr> h = ScalarsOfH();
    sums[kH] = Sum(Curve::Generator1(), DotProduct(kH, [&](size_t i) { return h[i]; }, h.size()));
    const auto value = [&](size_t i) { return Fr::LoadCanon(witness().data() + i * kFrBytes); };
    for (Section s : {kA, kB1}) sums[s] = Sum(Curve::Generator1(), DotProduct(s, value, key_.n_vars));
    sums[kB2] = Sum(Curve::Generator2(), DotProduct(kB2, value, key_.n_vars));
    const size_t first = size_t{key_.n_public} + 1;
    sums[kC] = Sum(Curve::Generator1(), DotProduct(kC, [&](size_t i) { return value(i + first); }, key_.n_vars - first));
  }

  Fr RandomFr(uint64_t i) const {
    Fr x;
    for (int k = 0; k < Fr::kLimbs; ++k) x.limbs[k] = Mix(seed_ ^ Mix(4 * i + static_cast<uint64_t>(k)));
    x.limbs[Fr::kLimbs - 1] %= Fr::Modulus::kValue[Fr::kLimbs - 1];
    return x;
  }
  // Which of the distinct points stands at i; kDistinct: infinity.
  static uint64_t PointAt(Section s, uint64_t i) {
    const uint64_t share = s == kA ? 997 : s == kB1 || s == kB2 ? 254 : 1000;
    if (Mix(i + (s == kA ? 1 : 2)) % 1000 >= share) return kDistinct;
    return (i + uint64_t{12345} * (s == kB2 ? kB1 : s)) % kDistinct;
  }

  void MakeKey() {
    logs_.resize(kDistinct);
    ForRanges(kDistinct, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) logs_[i] = RandomFr(i);
    });
    std::vector<G1> g1(kDistinct + 1);
    std::vector<G2> g2(kDistinct + 1);
    FixedBaseTable<Fr, typename G1::Field>(Curve::Generator1()).Multiply(logs_, std::span(g1).first(kDistinct));
    FixedBaseTable<Fr, typename G2::Field>(Curve::Generator2()).Multiply(logs_, std::span(g2).first(kDistinct));
    g1[kDistinct] = G1::Infinity();
    g2[kDistinct] = G2::Infinity();
    key_.h = Fill(kH, g1, key_.domain());
    key_.a = Fill(kA, g1, key_.n_vars);
    key_.b1 = Fill(kB1, g1, key_.n_vars);
    key_.b2 = Fill(kB2, g2, key_.n_vars);
    key_.c = Fill(kC, g1, key_.n_vars - key_.n_public - 1);
    header_.resize(3 * G1::kBytes + 2 * G2::kBytes);
    for (int i = 0; i < 3; ++i) g1[i].Store(header_.data() + i * G1::kBytes);
    for (int i = 0; i < 2; ++i) g2[i].Store(header_.data() + 3 * G1::kBytes + i * G2::kBytes);
    const ByteSpan header(header_);
    key_.alpha1 = header.first(G1::kBytes), key_.beta1 = header.subspan(G1::kBytes, G1::kBytes);
    key_.delta1 = header.subspan(2 * G1::kBytes, G1::kBytes);
    key_.beta2 = header.subspan(3 * G1::kBytes, G2::kBytes), key_.delta2 = header.subspan(3 * G1::kBytes + G2::kBytes, G2::kBytes);
  }

  template <class Point>
  ByteSpan Fill(Section s, const std::vector<Point>& points, size_t count) {
    sections_[s].resize(count * Point::kBytes);
    ForRanges(count, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) points[PointAt(s, i)].Store(sections_[s].data() + i * Point::kBytes);
    });
    return sections_[s];
  }

  void MakeVectors(double wide) {
    block_.resize(2 * row_bytes() + size_t{key_.n_vars} * kFrBytes);
    uint8_t* rows = block_.data();
    uint8_t* values = rows + 2 * row_bytes();
    ForRanges(2 * size_t{key_.domain()}, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) RandomFr(kDistinct + i).StoreMont(rows + i * kFrBytes);
    });
    const auto wide_below = static_cast<uint64_t>(std::ldexp(wide, 32));
    ForRanges(key_.n_vars, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        const uint64_t draw = Mix(~seed_ ^ i);
        Fr x = Fr::FromU64(i == 0 ? 1 : draw >> 63);
        if (i > 0 && (draw & 0xffffffff) < wide_below) x = RandomFr(~i);
        x.StoreCanon(values + i * kFrBytes);
      }
    });
  }

  template <class Scalar>
  Fr DotProduct(Section s, const Scalar& scalar, size_t count) const {
    return tbb::parallel_reduce(
        tbb::blocked_range<size_t>(0, count, 4096), Fr::Zero(),
        [&](const auto& range, Fr sum) {
          for (size_t i = range.begin(); i < range.end(); ++i)
            if (const uint64_t at = PointAt(s, i); at < kDistinct) sum += scalar(i) * logs_[at];
          return sum;
        },
        [](const Fr& x, const Fr& y) { return x + y; });
  }

  template <class Point>
  static std::vector<uint8_t> Sum(const Point& generator, const Fr& log) {
    std::vector<uint8_t> bytes(Point::kBytes);
    ScalarMulFr(generator, log).ToAffine().Store(bytes.data());
    return bytes;
  }

  // a*b - c on the odd coset, as field elements.
  std::vector<Fr> ScalarsOfH() const {
    const size_t n = key_.domain();
    const NttPlan<Fr> plan(static_cast<int>(key_.log2_domain));
    std::vector<Fr> a(n), b(n), c(n);
    ForRanges(n, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        a[i] = Fr::LoadMont(rows_a().data() + i * kFrBytes);
        b[i] = Fr::LoadMont(rows_b().data() + i * kFrBytes);
        c[i] = a[i] * b[i];
      }
    });
    for (std::vector<Fr>* values : {&a, &b, &c}) plan.ExtendToOddCoset(*values);
    ForRanges(n, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) a[i] = a[i] * b[i] - c[i];
    });
    return a;
  }

  uint64_t seed_;
  std::vector<Fr> logs_;
  mutable std::vector<uint8_t> sums_[5];  // made when they are first asked for
};

}  // namespace

std::unique_ptr<SyntheticPartition> SyntheticPartition::Make(const SyntheticOptions& options) {
  if (options.curve == CurveId::kBn254) return std::make_unique<Synthetic<Bn254<PortableArith>>>(options);
  return std::make_unique<Synthetic<Bls12381<PortableArith>>>(options);
}

}  // namespace proofline::bench
