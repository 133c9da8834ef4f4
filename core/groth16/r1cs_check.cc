#include "core/groth16/r1cs_check.h"

#include <algorithm>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "core/field/fp.h"

namespace proofline {

namespace {

// sum * R^-1, R = 2^256: one Montgomery product of two canonical values a term, nothing converted.
template <class Fr>
Fr Evaluate(const LinearCombination& lc, const uint8_t* witness) {
  Fr sum = Fr::Zero();
  for (uint32_t j = 0; j < lc.count; ++j)
    sum += Fr::LoadMont(lc.coefficient(j)) * Fr::LoadMont(witness + size_t{lc.wire(j)} * kFrBytes);
  return sum;
}

// A B R^-3 = C R^-3: the product of the two sums has lost R three times, C must be brought down twice more.
template <class Fr>
bool IsSatisfied(const R1csConstraint& constraint, const uint8_t* witness) {
  Fr c = Evaluate<Fr>(constraint.c, witness).ToCanon().ToCanon();
  if (constraint.a.count == 0 || constraint.b.count == 0) return c.IsZero();
  return Evaluate<Fr>(constraint.a, witness) * Evaluate<Fr>(constraint.b, witness) == c;
}

template <class M>
R1csCheck Check(const R1csView& r1cs, ByteSpan witness) {
  using Range = tbb::blocked_range<uint32_t>;
  auto body = [&](const Range& range, R1csCheck found) {
    for (uint32_t i = range.begin(); i < range.end(); ++i) {
      if (IsSatisfied<Fp<M>>(r1cs.constraint(i), witness.data())) continue;
      if (found.unsatisfied_count++ == 0) found.first = i;
    }
    return found;
  };
  auto join = [](const R1csCheck& x, const R1csCheck& y) {
    if (x.unsatisfied_count == 0) return y;
    if (y.unsatisfied_count == 0) return x;
    return R1csCheck{x.unsatisfied_count + y.unsatisfied_count, std::min(x.first, y.first)};
  };
  return tbb::parallel_reduce(Range(0, r1cs.n_constraints, 2048), R1csCheck(), body, join);
}

template <class M>
ConstraintValues Values(const R1csView& r1cs, uint32_t index, ByteSpan witness) {
  R1csConstraint constraint = r1cs.constraint(index);
  ConstraintValues out;
  auto store = [&](const LinearCombination& lc, FrCanonical& value) {
    Evaluate<Fp<M>>(lc, witness.data()).ToMont().StoreMont(value.data());  // times R: the canonical value
  };
  store(constraint.a, out.a);
  store(constraint.b, out.b);
  store(constraint.c, out.c);
  return out;
}

}  // namespace

R1csCheck CheckR1cs(const R1csView& r1cs, ByteSpan witness) {
  return r1cs.curve == CurveId::kBn254 ? Check<Bn254FrModulus>(r1cs, witness) : Check<Bls12381FrModulus>(r1cs, witness);
}

ConstraintValues EvaluateConstraint(const R1csView& r1cs, uint32_t index, ByteSpan witness) {
  return r1cs.curve == CurveId::kBn254 ? Values<Bn254FrModulus>(r1cs, index, witness) : Values<Bls12381FrModulus>(r1cs, index, witness);
}

}  // namespace proofline
