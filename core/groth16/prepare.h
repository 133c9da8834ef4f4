// From a key of bellperson's form and its circuit to one that is proved with four transforms instead of seven.
//
// Let phi be the linear map from polynomials of degree < N to G1 with phi(X^i) = H_i, and infinity for i = N - 1. On the odd coset {x_j} the
// vanishing polynomial is the constant z = -2, so the quotient is (I - C) / z, where I interpolates the products a(x_j) b(x_j) there and C
// the rows C.z on the domain; the term of degree N - 1 cancels. Both parts are linear, so
//
//   sum_i h_i H_i = sum_j a(x_j) b(x_j) G_j - sum_v z_v K_v,      G_j = phi(j-th Lagrange polynomial of the coset) / z,
//                                                               K_v = sum_k C[k][v] phi(k-th Lagrange polynomial of the domain) / z.
//
// The prover then needs neither C.z nor a transform back: H is G, and the C query has L_v - K_v for private and -K_v for public variables.
// A proof has the same bytes as with the key it was made from.
//
// This is the readable form of the work, and the twin of a faster one: two transforms of N points, each N/2 log N multiplications of about
// 0.15 ms. Seconds at N = 2^9, an hour at 2^21.
#pragma once

#include <vector>

#include "core/base/status.h"
#include "core/groth16/constraint_source.h"
#include "core/groth16/types.h"

namespace proofline {

class PreparedKey {
 public:
  // `key` is of bellperson's form, on its curve, and outlives this: all sections but H and C stay where they are. `source` is its circuit.
  // kMismatch if their numbers of variables, public inputs or rows do not fit. Runs in the caller's TBB arena.
  static Result<PreparedKey> Make(const ProvingKeyView& key, const ConstraintSource& source);
  const ProvingKeyView& view() const { return view_; }

 private:
  std::vector<uint8_t> h_, c_;
  ProvingKeyView view_;
};

}  // namespace proofline
