#include <bit>

#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/groth16/backend.h"
#include "core/groth16/setup_impl.h"

namespace proofline {
namespace {

template <class Curve>
class ParamsGenerator {
  using Fr = typename Curve::Fr;

 public:
  ParamsGenerator(const ConstraintSource& source, const KeyShape& shape, KeySink& sink, const SetupProgress& progress)
      : source_(source), shape_(shape), sink_(sink),
        points_(sink, progress, 6 + uint64_t{shape.n_vars} * 4 + (uint64_t{1} << shape.log2_domain)) {}

  Status Run(const ToxicWaste& secret) {
    PL_RETURN_IF_ERROR(Load(secret));
    const QapAtPoint<Fr> qap = EvaluateQap<Fr>(source_, static_cast<int>(shape_.log2_domain), DomainNonResidue(shape_.curve, KeyForm::kBellperson), tau_);
    const size_t inputs = size_t{shape_.n_public} + 1;
    const Fr gamma_inverse = gamma_.Inverse(), delta_inverse = delta_.Inverse();
    auto sum = [&](size_t i) { return beta_ * qap.u[i] + alpha_ * qap.v[i] + qap.w[i]; };
    for (size_t i = 0; i < shape_.n_vars; ++i)
      if (sum(i).IsZero())
        return Status(ErrorCode::kInvalidArgument, StrCat("variable ", i, " of ", shape_.n_vars, " is in no constraint"),
                      "its point in the key would be infinity", "constrain it or leave it out");

    PL_RETURN_IF_ERROR(sink_.Begin(shape_));
    PL_RETURN_IF_ERROR(points_.WriteHeader(alpha_, beta_, gamma_, delta_));
    PL_RETURN_IF_ERROR(points_.WriteG1(KeySink::kIc, inputs, [&](size_t i) { return sum(i) * gamma_inverse; }));
    // tau^i Z(tau) / delta
    const Fr z = (PowU64(tau_, uint64_t{1} << shape_.log2_domain) - Fr::One()) * delta_inverse;
    PL_RETURN_IF_ERROR(points_.WriteG1(KeySink::kH, (size_t{1} << shape_.log2_domain) - 1, [&](size_t i) { return PowU64(tau_, i) * z; }));
    PL_RETURN_IF_ERROR(points_.WriteG1(KeySink::kC, shape_.n_vars - inputs, [&](size_t i) { return sum(inputs + i) * delta_inverse; }));
    const std::vector<Fr> u = WithoutZeros(qap.u), v = WithoutZeros(qap.v);
    PL_RETURN_IF_ERROR(points_.WriteG1(KeySink::kA, u.size(), [&](size_t i) { return u[i]; }));
    PL_RETURN_IF_ERROR(points_.WriteG1(KeySink::kB1, v.size(), [&](size_t i) { return v[i]; }));
    return points_.WriteG2(KeySink::kB2, v.size(), [&](size_t i) { return v[i]; });
  }

 private:
  Status Load(const ToxicWaste& secret) {
    struct Value {
      const char* name;
      const FrCanonical& bytes;
      Fr* out;
    };
    for (const Value& v : {Value{"alpha", secret.alpha, &alpha_}, Value{"beta", secret.beta, &beta_}, Value{"gamma", secret.gamma, &gamma_},
                           Value{"delta", secret.delta, &delta_}, Value{"tau", secret.tau, &tau_}}) {
      if (Fr::IsReduced(v.bytes.data())) *v.out = Fr::LoadCanon(v.bytes.data());
      if (!Fr::IsReduced(v.bytes.data()) || v.out->IsZero())
        return Status(ErrorCode::kInvalidArgument, StrCat("the secret's ", v.name, " is 0 or not below the group order r"));
    }
    if (PowU64(tau_, uint64_t{1} << shape_.log2_domain) == Fr::One())
      return Status(ErrorCode::kInvalidArgument, StrCat("the secret's tau is in the domain of 2^", shape_.log2_domain));
    return OkStatus();
  }

  static std::vector<Fr> WithoutZeros(const std::vector<Fr>& values) {
    std::vector<Fr> out;
    std::copy_if(values.begin(), values.end(), std::back_inserter(out), [](const Fr& x) { return !x.IsZero(); });
    return out;
  }

  const ConstraintSource& source_;
  const KeyShape& shape_;
  KeySink& sink_;
  KeyPointWriter<Curve> points_;
  Fr alpha_{}, beta_{}, gamma_{}, delta_{}, tau_{};
};

Result<KeyShape> ShapeOf(const ConstraintSource::Shape& source) {
  if (source.n_public >= source.n_vars)
    return Status(ErrorCode::kInvalidArgument, StrCat("the circuit has ", source.n_public, " public inputs but ", source.n_vars, " variables"));
  const uint64_t rows = source.n_constraints + source.n_public + 1;
  KeyShape shape;
  shape.curve = source.curve;
  shape.n_vars = source.n_vars;
  shape.n_public = source.n_public;
  shape.log2_domain = rows <= 2 ? 1 : static_cast<uint32_t>(std::bit_width(rows - 1));
  const uint32_t largest = (source.curve == CurveId::kBn254 ? Bn254FrModulus::kTwoAdicity : Bls12381FrModulus::kTwoAdicity) - 1;
  if (shape.log2_domain > largest)
    return Status(ErrorCode::kUnsupported, StrCat("a circuit of ", rows, " rows needs a domain of 2^", shape.log2_domain, "; the largest is 2^", largest));
  return shape;
}

}  // namespace

ToxicWaste ToxicWasteOf(std::string_view seed) {
  ToxicWaste secret;
  for (auto [name, out] : {std::pair{"alpha", &secret.alpha}, {"beta", &secret.beta}, {"gamma", &secret.gamma}, {"delta", &secret.delta}, {"tau", &secret.tau}}) {
    const std::string text = StrCat(seed, "toxic/", name);
    *out = Sha256Of({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    out->back() &= 0x3f;
  }
  return secret;
}

Status GenerateParams(const ConstraintSource& source, const ToxicWaste& secret, KeySink& sink, const SetupProgress& progress) {
  PL_ASSIGN_OR_RETURN(KeyShape shape, ShapeOf(source.shape()));
  const bool adx = GetBackend(shape.curve).path() == ArithPath::kAdx;
  auto run = [&]<class Curve>(std::type_identity<Curve>) { return ParamsGenerator<Curve>(source, shape, sink, progress).Run(secret); };
  try {
    if (shape.curve == CurveId::kBn254)
      return adx ? run(std::type_identity<Bn254<AdxArith>>()) : run(std::type_identity<Bn254<PortableArith>>());
    return adx ? run(std::type_identity<Bls12381<AdxArith>>()) : run(std::type_identity<Bls12381<PortableArith>>());
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResource, StrCat("not enough memory to make a key for ", shape.n_vars, " variables"), "",
                  "free memory or use a smaller circuit");
  }
}

}  // namespace proofline
