#include "core/groth16/constraint_source.h"

#include <algorithm>
#include <cstring>

#include "core/field/fp.h"

namespace proofline {
namespace {

// One side of a row of an .r1cs, with the terms of one wire added up and zeros left out, as ConstraintRow promises.
template <class Fr>
void MergeTerms(const LinearCombination& lc, std::vector<ConstraintTerm>& out) {
  out.clear();
  for (uint32_t j = 0; j < lc.count; ++j) {
    const Fr coefficient = Fr::LoadCanon(lc.coefficient(j));
    out.push_back({lc.wire(j), LoadLe<std::array<uint64_t, 4>>(coefficient.limbs)});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.variable < y.variable; });
  size_t kept = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (kept != 0 && out[kept - 1].variable == out[i].variable) {
      Fr sum = Fr::FromRaw(out[kept - 1].coefficient) + Fr::FromRaw(out[i].coefficient);
      std::memcpy(out[kept - 1].coefficient.data(), sum.limbs, sizeof sum.limbs);
    } else {
      out[kept++] = out[i];
    }
  }
  out.resize(kept);
  std::erase_if(out, [](const ConstraintTerm& t) { return Fr::FromRaw(t.coefficient).IsZero(); });
}

template <class Fr>
void EachRow(const R1csView& r1cs, const ConstraintSource::RowFn& fn) {
  std::vector<ConstraintTerm> a, b, c;
  for (uint32_t i = 0; i < r1cs.n_constraints; ++i) {
    const R1csConstraint row = r1cs.constraint(i);
    MergeTerms<Fr>(row.a, a);
    MergeTerms<Fr>(row.b, b);
    MergeTerms<Fr>(row.c, c);
    fn({a, b, c});
  }
}

// A coefficient in Montgomery form times a canonical value is the plain product; ToMont makes the row's form of it.
template <class Fr>
void RowsOf(const ConstraintSource& source, ByteSpan witness, MutableByteSpan rows_a, MutableByteSpan rows_b) {
  auto value = [&](uint32_t variable) { return LoadLe<Fr>(witness.data() + size_t{variable} * kFrBytes); };
  auto dot = [&](std::span<const ConstraintTerm> terms) {
    Fr sum = Fr::Zero();
    for (const ConstraintTerm& t : terms) sum += Fr::FromRaw(t.coefficient) * value(t.variable);
    return sum.ToMont();
  };
  size_t at = 0;
  source.ForEachRow([&](const ConstraintRow& row) {
    dot(row.a).StoreMont(rows_a.data() + at);
    dot(row.b).StoreMont(rows_b.data() + at);
    at += kFrBytes;
  });
  std::memset(rows_b.data() + at, 0, rows_b.size() - at);
  for (uint32_t i = 0; i <= source.shape().n_public; ++i, at += kFrBytes) value(i).ToMont().StoreMont(rows_a.data() + at);
  std::memset(rows_a.data() + at, 0, rows_a.size() - at);
}

}  // namespace

R1csSource::R1csSource(const R1csView& r1cs) : r1cs_(r1cs) {
  shape_ = {r1cs.curve, r1cs.n_wires, r1cs.n_public(), r1cs.n_constraints};
}

void R1csSource::ForEachRow(const RowFn& fn) const {
  if (shape_.curve == CurveId::kBn254) return EachRow<Fp<Bn254FrModulus>>(r1cs_, fn);
  return EachRow<Fp<Bls12381FrModulus>>(r1cs_, fn);
}

QueryDensity DensityOf(const ConstraintSource& source) {
  const ConstraintSource::Shape& shape = source.shape();
  QueryDensity density{VariableSet(shape.n_vars), VariableSet(shape.n_vars)};
  for (uint32_t i = 0; i <= shape.n_public; ++i) density.a.Add(i);
  source.ForEachRow([&](const ConstraintRow& row) {
    for (const ConstraintTerm& t : row.a) density.a.Add(t.variable);
    for (const ConstraintTerm& t : row.b) density.b.Add(t.variable);
  });
  return density;
}

void ComputeSourceRows(const ConstraintSource& source, ByteSpan witness, MutableByteSpan rows_a, MutableByteSpan rows_b) {
  if (source.shape().curve == CurveId::kBn254) return RowsOf<Fp<Bn254FrModulus>>(source, witness, rows_a, rows_b);
  return RowsOf<Fp<Bls12381FrModulus>>(source, witness, rows_a, rows_b);
}

}  // namespace proofline
