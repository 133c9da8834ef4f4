#include "core/groth16/prepare.h"

#include <new>
#include <type_traits>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/base/text.h"
#include "core/curve/curve.h"
#include "core/groth16/backend.h"
#include "core/poly/domain.h"

namespace proofline {
namespace {

template <class Curve>
class Preparer {
  using Fr = typename Curve::Fr;
  using G1 = typename Curve::G1;
  using Point = Xyzz<typename Curve::Fq>;

 public:
  Preparer(const ProvingKeyView& key, const ConstraintSource& source)
      : key_(key), source_(source), log2_n_(static_cast<int>(key.log2_domain)), n_(key.domain()),
        eta_(OddCosetShift<Fr>(log2_n_, key.domain_non_residue())) {
    const Fr omega_inverse = RootOfUnity<Fr>(log2_n_, key.domain_non_residue()).Inverse();
    powers_.resize(n_, Fr::One());
    for (size_t i = 1; i < n_; ++i) powers_[i] = powers_[i - 1] * omega_inverse;
    z_inverse_ = (PowU64(eta_, n_) - Fr::One()).Inverse();
  }

  void Run(MutableByteSpan h, MutableByteSpan c) const {
    Store(CosetBasis(), h);
    Store(FoldedC(), c);
  }

 private:
  template <class Fn>
  static void ForEach(size_t count, const Fn& fn) {
    tbb::parallel_for(tbb::blocked_range<size_t>(0, count, 8), [&](const tbb::blocked_range<size_t>& range) {
      for (size_t i = range.begin(); i < range.end(); ++i) fn(i);
    });
  }

  static Point Times(const Point& p, const Fr& k) {
    const Fr canonical = k.ToCanon();
    return ScalarMul(p, std::span<const uint64_t>(canonical.limbs));
  }

  // H_i times scale * base^i, and infinity in the last place.
  std::vector<Point> ScaledH(const Fr& scale, const Fr& base) const {
    std::vector<Point> points(n_, Point::Infinity());
    ForEach(n_ - 1, [&](size_t i) {
      points[i] = Times(Point::FromAffine(G1::Load(key_.h.data() + i * G1::kBytes)), scale * PowU64(base, i));
    });
    return points;
  }

  // to[j] = sum_i omega^(-ij) from[i]: the textbook's decimation in frequency, and the bits of the places turned round at the end.
  void Transform(std::vector<Point>& points) const {
    for (size_t half = n_ / 2; half >= 1; half /= 2) {
      ForEach(n_ / 2, [&](size_t k) {
        const size_t offset = k % half, at = k / half * 2 * half + offset;
        Point difference = points[at];
        difference.Add(-points[at + half]);
        points[at].Add(points[at + half]);
        points[at + half] = offset == 0 ? difference : Times(difference, powers_[offset * (n_ / 2 / half)]);
      });
    }
    for (size_t i = 0; i < n_; ++i)
      if (const size_t j = ReverseBits(i, log2_n_); i < j) std::swap(points[i], points[j]);
  }

  // G: the coefficients of the interpolant of values e_j on the coset are eta^-i / n sum_j omega^(-ij) e_j.
  std::vector<Point> CosetBasis() const {
    std::vector<Point> points = ScaledH(z_inverse_ * Fr::FromU64(n_).Inverse(), eta_.Inverse());
    Transform(points);
    return points;
  }

  // L_v - K_v for every variable.
  std::vector<Point> FoldedC() const {
    std::vector<Point> lagrange = ScaledH(-z_inverse_ * Fr::FromU64(n_).Inverse(), Fr::One());
    Transform(lagrange);
    std::vector<Point> points(key_.n_vars, Point::Infinity());
    const size_t publics = size_t{key_.n_public} + 1;
    for (size_t v = publics; v < key_.n_vars; ++v) points[v] = Point::FromAffine(G1::Load(key_.c.data() + (v - publics) * G1::kBytes));
    size_t row = 0;
    source_.ForEachRow([&](const ConstraintRow& terms) {
      for (const ConstraintTerm& t : terms.c) points[t.variable].Add(Times(lagrange[row], Fr::FromRaw(t.coefficient)));
      ++row;
    });
    return points;
  }

  static void Store(const std::vector<Point>& points, MutableByteSpan to) {
    std::vector<G1> affine(points.size());
    BatchToAffine<typename Curve::Fq>(points, affine);
    for (size_t i = 0; i < affine.size(); ++i) affine[i].Store(to.data() + i * G1::kBytes);
  }

  const ProvingKeyView& key_;
  const ConstraintSource& source_;
  const int log2_n_;
  const size_t n_;
  const Fr eta_;
  Fr z_inverse_{};
  std::vector<Fr> powers_;  // of 1 / omega
};

Status CheckFits(const ProvingKeyView& key, const ConstraintSource::Shape& circuit) {
  if (key.form != KeyForm::kBellperson) return Status(ErrorCode::kUnsupported, "only keys of bellperson's form are prepared");
  if (key.curve != circuit.curve || key.n_vars != circuit.n_vars || key.n_public != circuit.n_public)
    return Status(ErrorCode::kMismatch, StrCat("the key is for ", key.n_vars, " variables, ", key.n_public, " of them public, the circuit has ",
                                               circuit.n_vars, " and ", circuit.n_public),
                  "", "give the key of this circuit");
  if (circuit.n_constraints + circuit.n_public + 1 > key.domain())
    return Status(ErrorCode::kMismatch, StrCat("the key is for a domain of ", key.domain(), ", the circuit has ", circuit.n_constraints,
                                               " rows and one for each of ", circuit.n_public + 1, " inputs"),
                  "", "give the key of this circuit");
  return OkStatus();
}

}  // namespace

Result<PreparedKey> PreparedKey::Make(const ProvingKeyView& key, const ConstraintSource& source) {
  PL_RETURN_IF_ERROR(CheckFits(key, source.shape()));
  const bool adx = GetBackend(key.curve).path() == ArithPath::kAdx;
  try {
    PreparedKey out;
    out.view_ = key;
    out.view_.form = KeyForm::kPrepared;
    const size_t point_bytes = 2 * FqBytes(key.curve);
    out.h_.resize(out.view_.h_count() * point_bytes);
    out.c_.resize(out.view_.c_count() * point_bytes);
    auto run = [&]<class Curve>(std::type_identity<Curve>) { Preparer<Curve>(key, source).Run(out.h_, out.c_); };
    if (key.curve == CurveId::kBn254) {
      adx ? run(std::type_identity<Bn254<AdxArith>>()) : run(std::type_identity<Bn254<PortableArith>>());
    } else {
      adx ? run(std::type_identity<Bls12381<AdxArith>>()) : run(std::type_identity<Bls12381<PortableArith>>());
    }
    out.view_.h = out.h_;
    out.view_.c = out.c_;
    return out;
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResource, StrCat("not enough memory to prepare a key over a domain of ", key.domain()));
  }
}

}  // namespace proofline
