// A prover in the exponent. Where the secret of the set-up is known, the discrete logarithms of a proof's points follow from Groth's
// equations with nothing but field arithmetic: no key, no transform, no curve. Interpolation is the textbook's product formula,
// so nothing is shared with the code under test but the field.
#pragma once

#include <vector>

#include "core/field/fp.h"
#include "core/groth16/r1cs.h"
#include "core/groth16/setup_impl.h"

namespace proofline {

template <class Fr>
struct ProofLogs {
  Fr a, b, c;
};

template <class Fr>
class TwinProver {
 public:
  // `non_residue`: 5, or 7 for bellperson's keys over BLS12-381.
  TwinProver(const R1csView& r1cs, uint32_t log2_domain, const SetupSecret<Fr>& secret, uint64_t non_residue = 5)
      : r1cs_(r1cs), secret_(secret) {
    const size_t n = size_t{1} << log2_domain;
    // non_residue^((r-1)/n), by plain division of r - 1.
    auto exponent = LimbsSub(Fr::Modulus::kValue, 1);
    for (uint32_t i = 0; i < log2_domain; ++i) exponent = LimbsDiv(exponent, 2);
    const Fr omega = Fr::FromU64(non_residue).Pow(exponent);
    std::vector<Fr> x(n, Fr::One());
    for (size_t i = 1; i < n; ++i) x[i] = x[i - 1] * omega;
    lagrange_.assign(n, Fr::One());
    for (size_t i = 0; i < n; ++i) {
      Fr below = Fr::One();
      for (size_t j = 0; j < n; ++j) {
        if (j == i) continue;
        lagrange_[i] *= secret.tau - x[j];
        below *= x[i] - x[j];
      }
      lagrange_[i] *= below.Inverse();
    }
  }

  // u_s, v_s, w_s at tau.
  Fr U(uint32_t s) const {
    Fr sum = Column(s, &R1csConstraint::a);
    if (s <= r1cs_.n_public()) sum += lagrange_[r1cs_.n_constraints + s];
    return sum;
  }
  Fr V(uint32_t s) const { return Column(s, &R1csConstraint::b); }
  Fr W(uint32_t s) const { return Column(s, &R1csConstraint::c); }

  // Groth 2016, section 3.2, with gamma = 1. The witness must satisfy the system.
  ProofLogs<Fr> Prove(ByteSpan witness, const Fr& r, const Fr& s) const {
    Fr a = Fr::Zero(), b = Fr::Zero(), c = Fr::Zero(), private_part = Fr::Zero();
    for (uint32_t i = 0; i < r1cs_.n_wires; ++i) {
      const Fr w = Fr::LoadCanon(witness.data() + size_t{i} * kFrBytes);
      a += w * U(i);
      b += w * V(i);
      c += w * W(i);
      if (i > r1cs_.n_public()) private_part += w * (secret_.beta * U(i) + secret_.alpha * V(i) + W(i));
    }
    ProofLogs<Fr> out;
    out.a = secret_.alpha + a + r * secret_.delta;
    out.b = secret_.beta + b + s * secret_.delta;
    // h(tau) Z(tau) = a(tau) b(tau) - c(tau).
    out.c = (private_part + a * b - c) * secret_.delta.Inverse() + s * out.a + r * out.b - r * s * secret_.delta;
    return out;
  }

 private:
  Fr Column(uint32_t s, LinearCombination R1csConstraint::*matrix) const {
    Fr sum = Fr::Zero();
    for (uint32_t i = 0; i < r1cs_.n_constraints; ++i) {
      const LinearCombination lc = r1cs_.constraint(i).*matrix;
      for (uint32_t j = 0; j < lc.count; ++j)
        if (lc.wire(j) == s) sum += Fr::LoadCanon(lc.coefficient(j)) * lagrange_[i];
    }
    return sum;
  }

  const R1csView& r1cs_;
  const SetupSecret<Fr>& secret_;
  std::vector<Fr> lagrange_;
};

}  // namespace proofline
