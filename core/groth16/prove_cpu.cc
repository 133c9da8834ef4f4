#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <string>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/base/secret.h"
#include "core/curve/curve.h"
#include "core/curve/msm.h"
#include "core/groth16/convert.h"
#include "core/groth16/density.h"
#include "core/groth16/prove.h"
#include "core/poly/ntt.h"

namespace proofline {
namespace {

class StageClock {
 public:
  explicit StageClock(const StageObserver& observer) : observer_(observer) {}
  // The time since the previous call (or construction) was `stage`.
  void Done(std::string_view stage) {
    auto now = std::chrono::steady_clock::now();
    if (observer_) observer_(stage, std::chrono::duration_cast<std::chrono::nanoseconds>(now - start_).count());
    start_ = std::chrono::steady_clock::now();
  }

 private:
  const StageObserver& observer_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Status CheckSizes(const ProvingKeyView& key, ByteSpan witness, ByteSpan rows_a, ByteSpan rows_b) {
  auto check = [](std::string_view what, size_t found, size_t expected) {
    if (found == expected) return OkStatus();
    return Status(ErrorCode::kMismatch, std::string(what) + " has " + std::to_string(found) + " bytes, the key needs " +
                                            std::to_string(expected));
  };
  PL_RETURN_IF_ERROR(check("the witness", witness.size(), size_t{key.n_vars} * kFrBytes));
  PL_RETURN_IF_ERROR(check("the vector A.z", rows_a.size(), size_t{key.domain()} * kFrBytes));
  return check("the vector B.z", rows_b.size(), size_t{key.domain()} * kFrBytes);
}

// Fn(first, last) over disjoint ranges of [0, n).
template <class Fn>
void ForRanges(size_t n, const Fn& fn) {
  tbb::parallel_for(tbb::blocked_range<size_t>(0, n, 1024),
                    [&](const tbb::blocked_range<size_t>& range) { fn(range.begin(), range.end()); });
}

// A proof from its sums, however they were computed.
template <class Curve>
class Assembler {
  using Fr = typename Curve::Fr;
  using Fq = typename Curve::Fq;
  using Fq2 = typename Curve::Fq2;

 public:
  struct Sums {
    Xyzz<Fq> h, a, b1, c;  // each query's points times its scalars
    Xyzz<Fq2> b2;
  };

  Assembler(const ProvingKeyView& key, const Blinding& blinding)
      : key_(key), r_(LoadScalar(blinding.r)), s_(LoadScalar(blinding.s)) {}

  Proof Run(const Sums& sums) const {
    // A = alpha + sum w_i A_i + r delta
    const Xyzz<Fq> a = Blinded(sums.a, key_.alpha1, key_.delta1, r_.get());
    // B = beta + sum w_i B_i + s delta, in G1 for C and in G2 for the proof
    const Xyzz<Fq> b1 = Blinded(sums.b1, key_.beta1, key_.delta1, s_.get());
    const Xyzz<Fq2> b2 = Blinded(sums.b2, key_.beta2, key_.delta2, s_.get());
    // C = sum over the private signals w_i C_i + sum h_j H_j + s A + r B - r s delta
    Xyzz<Fq> c = sums.c;
    c.Add(sums.h);
    c.Add(Times(a, s_.get()));
    c.Add(Times(b1, r_.get()));
    c.Add(Times(Xyzz<Fq>::FromAffine(Affine<Fq>::Load(key_.delta1.data())), -(r_.get() * s_.get())));

    Proof proof;
    proof.curve = Curve::kId;
    proof.a = ToPlain(a.ToAffine());
    proof.b = ToPlain(b2.ToAffine());
    proof.c = ToPlain(c.ToAffine());
    return proof;
  }

 private:
  static Secret<Fr> LoadScalar(const FrCanonical& bytes) {
    Secret<Fr> x;
    x.get() = Fr::LoadCanon(bytes.data());
    return x;
  }

  template <class F>
  static Xyzz<F> Times(const Xyzz<F>& p, const Fr& k) {
    Secret<Fr> canon;
    canon.get() = k.ToCanon();
    return ScalarMul(p, std::span<const uint64_t>(canon.get().limbs));
  }

  // sum + base + k delta
  template <class F>
  static Xyzz<F> Blinded(Xyzz<F> sum, ByteSpan base, ByteSpan delta, const Fr& k) {
    sum.AddMixed(Affine<F>::Load(base.data()));
    sum.Add(Times(Xyzz<F>::FromAffine(Affine<F>::Load(delta.data())), k));
    return sum;
  }

  const ProvingKeyView& key_;
  Secret<Fr> r_, s_;
};

template <class Curve>
class Prover {
  using Fr = typename Curve::Fr;
  using Fq = typename Curve::Fq;
  using Fq2 = typename Curve::Fq2;

 public:
  Prover(const ProvingKeyView& key, ByteSpan witness, const StageObserver& observer)
      : key_(key), witness_(witness), clock_(observer) {}

  Proof Run(ByteSpan rows_a, ByteSpan rows_b, const Blinding& blinding) {
    typename Assembler<Curve>::Sums sums;
    // h first: its vectors are the largest thing here and are gone before the points are read.
    SecretBuffer<Fr> h = HScalars(rows_a, rows_b);
    clock_.Done("ntt");
    ByteSpan h_bytes(reinterpret_cast<const uint8_t*>(h.data()), key_.h_count() * sizeof(Fr));
    sums.h = Msm<Fr, Fq>(key_.h, h_bytes);
    clock_.Done("msm_h");
    h.Reset();

    sums.a = DenseMsm<Fq>(key_.a, key_.a_density);
    clock_.Done("msm_a");
    sums.b1 = DenseMsm<Fq>(key_.b1, key_.b_density);
    clock_.Done("msm_b1");
    sums.b2 = DenseMsm<Fq2>(key_.b2, key_.b_density);
    clock_.Done("msm_b2");
    sums.c = Msm<Fr, Fq>(key_.c, witness_.last(size_t{key_.c_count()} * kFrBytes));
    clock_.Done("msm_c");
    Proof proof = Assembler<Curve>(key_, blinding).Run(sums);
    clock_.Done("assemble");
    return proof;
  }

 private:
  // The points of a query that leaves variables out, times the witness. The scalars are gathered a range at a time.
  template <class F>
  Xyzz<F> DenseMsm(ByteSpan points, ByteSpan density) const {
    if (density.empty()) return Msm<Fr, F>(points, witness_);
    constexpr size_t kVariables = size_t{1} << 22;
    SecretBuffer<FrCanonical> scalars(std::min<size_t>(kVariables, key_.n_vars));
    Xyzz<F> sum = Xyzz<F>::Infinity();
    for (size_t first = 0; first < key_.n_vars; first += kVariables) {
      size_t count = 0;
      ForEachDense(density, first, std::min<size_t>(first + kVariables, key_.n_vars), [&](size_t variable) {
        std::memcpy(&scalars[count++], witness_.data() + variable * kFrBytes, kFrBytes);
      });
      ByteSpan bytes(reinterpret_cast<const uint8_t*>(scalars.data()), count * kFrBytes);
      sum.Add(Msm<Fr, F>(points.first(count * Affine<F>::kBytes), bytes));
      points = points.subspan(count * Affine<F>::kBytes);
    }
    return sum;
  }

  // The scalars of key.h, canonical: as its basis says, and a last one that is 0 where the basis has one point less.
  SecretBuffer<Fr> HScalars(ByteSpan rows_a, ByteSpan rows_b) {
    const size_t n = key_.domain();
    const NttPlan<Fr> plan(static_cast<int>(key_.log2_domain), key_.domain_non_residue());
    SecretBuffer<Fr> a(n), b(n);
    MultiplyOnOddCoset(plan, rows_a, rows_b, a, b);
    if (key_.h_basis() != HBasis::kOddCosetProducts) SubtractProducts(plan, rows_a, rows_b, a, b);
    if (key_.h_basis() == HBasis::kMonomial) {
      plan.InverseToBitReversed(a.span());
      QuotientCoefficients(a, b);
      return b;
    }
    ForRanges(n, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) a[i] = a[i].ToCanon();
    });
    return a;
  }

  static Fr Row(ByteSpan rows, size_t i) { return Fr::LoadMont(rows.data() + i * kFrBytes); }

  // a = the values of a*b on the odd coset; b is scratch.
  void MultiplyOnOddCoset(const NttPlan<Fr>& plan, ByteSpan rows_a, ByteSpan rows_b, SecretBuffer<Fr>& a, SecretBuffer<Fr>& b) const {
    auto extend = [&](ByteSpan rows, SecretBuffer<Fr>& to) {
      ForRanges(plan.n(), [&](size_t first, size_t last) {
        for (size_t i = first; i < last; ++i) to[i] = Row(rows, i);
      });
      plan.ExtendToOddCoset(to.span());
    };
    extend(rows_a, a);
    extend(rows_b, b);
    ForRanges(plan.n(), [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) a[i] *= b[i];
    });
  }

  // a -= the values on the odd coset of c, which interpolates a*b on the domain; b is scratch.
  void SubtractProducts(const NttPlan<Fr>& plan, ByteSpan rows_a, ByteSpan rows_b, SecretBuffer<Fr>& a, SecretBuffer<Fr>& b) const {
    ForRanges(plan.n(), [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) b[i] = Row(rows_a, i) * Row(rows_b, i);
    });
    plan.ExtendToOddCoset(b.span());
    ForRanges(plan.n(), [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) a[i] -= b[i];
    });
  }

  // From n times the coefficients of p(eta x), bit-reversed, to those of p / Z, canonical and in order. Z = x^n - 1 is the same, eta^n - 1,
  // on the whole coset, so the quotient by it is exact there, and which coset was taken does not show in its coefficients.
  void QuotientCoefficients(const SecretBuffer<Fr>& from, SecretBuffer<Fr>& to) const {
    const size_t n = key_.domain();
    const int log2_n = static_cast<int>(key_.log2_domain);
    const Fr eta = OddCosetShift<Fr>(log2_n, key_.domain_non_residue());
    const Fr scale = ((PowU64(eta, n) - Fr::One()) * Fr::FromU64(n)).Inverse();
    const Fr step = eta.Inverse();
    ForRanges(n, [&](size_t first, size_t last) {
      Fr factor = scale * PowU64(step, first);
      for (size_t i = first; i < last; ++i, factor *= step) to[i] = (from[ReverseBits(i, log2_n)] * factor).ToCanon();
    });
  }

  const ProvingKeyView& key_;
  ByteSpan witness_;
  StageClock clock_;
};

}  // namespace

template <class Curve>
Result<Proof> ProveCpu(const ProvingKeyView& key, ByteSpan witness, ByteSpan rows_a, ByteSpan rows_b,
                       const Blinding& blinding, const StageObserver& observer) {
  PL_RETURN_IF_ERROR(CheckSizes(key, witness, rows_a, rows_b));
  try {
    return Prover<Curve>(key, witness, observer).Run(rows_a, rows_b, blinding);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResource, "not enough memory to prove over a domain of " + std::to_string(key.domain()),
                  {}, "free memory or prove fewer partitions at a time");
  }
}

template <class Curve>
Proof AssembleProof(const ProvingKeyView& key, const QuerySums& sums, const Blinding& blinding) {
  using G1 = typename Curve::G1;
  auto g1 = [](ByteSpan bytes) { return Xyzz<typename Curve::Fq>::FromAffine(G1::Load(bytes.data())); };
  return Assembler<Curve>(key, blinding)
      .Run({.h = g1(sums.h),
            .a = g1(sums.a),
            .b1 = g1(sums.b1),
            .c = g1(sums.c),
            .b2 = Xyzz<typename Curve::Fq2>::FromAffine(Curve::G2::Load(sums.b2.data()))});
}

#define PROOFLINE_INSTANTIATE_PROVE(CurveT)                                                                  \
  template Result<Proof> ProveCpu<CurveT>(const ProvingKeyView&, ByteSpan, ByteSpan, ByteSpan, const Blinding&, \
                                          const StageObserver&);                                             \
  template Proof AssembleProof<CurveT>(const ProvingKeyView&, const QuerySums&, const Blinding&)

PROOFLINE_INSTANTIATE_PROVE(Bn254<PortableArith>);
PROOFLINE_INSTANTIATE_PROVE(Bn254<AdxArith>);
PROOFLINE_INSTANTIATE_PROVE(Bls12381<PortableArith>);
PROOFLINE_INSTANTIATE_PROVE(Bls12381<AdxArith>);

}  // namespace proofline
