// The polynomials of a constraint system at one secret point, which is all that key generation needs of them.
//
// For signal s, u_s, v_s, w_s interpolate column s of A, B, C over the domain of N-th roots of unity: u_s = sum_i A[i][s] L_i. The
// A matrix has n_public + 1 more rows after the last constraint, row n_constraints + s with a 1 at signal s: they keep the public
// signals' polynomials independent. Their B and C are 0.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>

#include <vector>

#include "core/groth16/constraint_source.h"
#include "core/groth16/r1cs.h"
#include "core/poly/domain.h"

namespace proofline {

// The Lagrange polynomials over the M-th roots of unity at tau, for the points p_i = start * step^i, i < count, of that domain:
//   L(tau) = p_i (tau^M - 1) / (M (tau - p_i)).
// Precondition: tau^M != 1. Parallel.
template <class Fr>
std::vector<Fr> LagrangeAt(const Fr& tau, int log2_m, const Fr& start, const Fr& step, size_t count) {
  const uint64_t m = uint64_t{1} << log2_m;
  const Fr factor = (PowU64(tau, m) - Fr::One()) * Fr::FromU64(m).Inverse();
  std::vector<Fr> values(count);
  constexpr size_t kBlock = 4096;
  tbb::parallel_for(tbb::blocked_range<size_t>(0, count, kBlock), [&](const tbb::blocked_range<size_t>& range) {
    std::span<Fr> block(values.data() + range.begin(), range.size());
    const Fr first = start * PowU64(step, range.begin());
    Fr p = first;
    for (Fr& v : block) {
      v = tau - p;
      p *= step;
    }
    std::vector<Fr> scratch(block.size());
    BatchInvert<Fr>(block, scratch);
    Fr numerator = first * factor;
    for (Fr& v : block) {
      v *= numerator;
      numerator *= step;
    }
  });
  return values;
}

// One value per wire.
template <class Fr>
struct QapAtPoint {
  std::vector<Fr> u, v, w;
};

// Preconditions: the view is a checked one, tau is not in the domain, n_constraints + n_public + 1 <= 2^log2_domain.
template <class Fr>
QapAtPoint<Fr> EvaluateQap(const R1csView& r1cs, int log2_domain, const Fr& tau) {
  std::vector<Fr> lagrange =
      LagrangeAt(tau, log2_domain, Fr::One(), RootOfUnity<Fr>(log2_domain), size_t{r1cs.n_constraints} + r1cs.n_public() + 1);
  QapAtPoint<Fr> out;
  auto column_sums = [&](std::vector<Fr>& sums, LinearCombination R1csConstraint::*matrix) {
    sums.assign(r1cs.n_wires, Fr::Zero());
    for (uint32_t i = 0; i < r1cs.n_constraints; ++i) {
      const LinearCombination lc = r1cs.constraint(i).*matrix;
      // Montgomery twice, so that the product with a canonical coefficient is in Montgomery form.
      const Fr value = lagrange[i].ToMont();
      for (uint32_t j = 0; j < lc.count; ++j) sums[lc.wire(j)] += LoadLe<Fr>(lc.coefficient(j)) * value;
    }
  };
  tbb::parallel_invoke([&] { column_sums(out.u, &R1csConstraint::a); }, [&] { column_sums(out.v, &R1csConstraint::b); },
                       [&] { column_sums(out.w, &R1csConstraint::c); });
  for (uint32_t s = 0; s <= r1cs.n_public(); ++s) out.u[s] += lagrange[r1cs.n_constraints + s];
  return out;
}


// The same in one pass over the rows, in the calling thread, over the domain of `non_residue`.
template <class Fr>
QapAtPoint<Fr> EvaluateQap(const ConstraintSource& source, int log2_domain, uint64_t non_residue, const Fr& tau) {
  const ConstraintSource::Shape& shape = source.shape();
  std::vector<Fr> lagrange =
      LagrangeAt(tau, log2_domain, Fr::One(), RootOfUnity<Fr>(log2_domain, non_residue), shape.n_constraints + shape.n_public + 1);
  QapAtPoint<Fr> out;
  for (std::vector<Fr>* sums : {&out.u, &out.v, &out.w}) sums->assign(shape.n_vars, Fr::Zero());
  size_t at = 0;
  source.ForEachRow([&](const ConstraintRow& row) {
    const Fr& value = lagrange[at++];
    for (const ConstraintTerm& t : row.a) out.u[t.variable] += Fr::FromRaw(t.coefficient) * value;
    for (const ConstraintTerm& t : row.b) out.v[t.variable] += Fr::FromRaw(t.coefficient) * value;
    for (const ConstraintTerm& t : row.c) out.w[t.variable] += Fr::FromRaw(t.coefficient) * value;
  });
  for (uint32_t s = 0; s <= shape.n_public; ++s) out.u[s] += lagrange[at++];
  return out;
}

}  // namespace proofline
