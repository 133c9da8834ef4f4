// The number-theoretic transform over Fr, in place, and Groth16's chain of two of them.
//
// Orders. The inverse transform takes values in natural order (value i at omega^i) to coefficients in bit-reversed order; the
// forward transform goes the other way. Neither ever permutes, and the chain "interpolate, shift to the odd coset, evaluate"
// begins and ends in natural order.
//
// Method. Both halves split x^(2h) - c^2 into (x^h - c)(x^h + c), so one twiddle c serves a whole block of butterflies and one
// table, the roots in bit-reversed order, serves every level of every size (a prefix of a longer table is the shorter one). The
// levels with far-apart operands run on tiles of columns, the last ones on contiguous blocks that stay in the second-level
// cache; the chain does inverse levels, shift and forward levels of such a block in one visit.
//
// Threads: parallel parts are tbb::parallel_for in the caller's arena. A plan is immutable after construction and may be shared.
// Memory: a plan owns N/2 field elements (16 MiB at N = 2^20); the transforms allocate nothing of note.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/poly/domain.h"

namespace proofline {

template <class Fr>
class NttPlan {
 public:
  // Preconditions: 0 <= log2_n <= two-adicity of Fr; `non_residue` is one (domain.h). Throws std::bad_alloc.
  explicit NttPlan(int log2_n, uint64_t non_residue = Fr::Modulus::kNonResidue);

  int log2_n() const { return log2_n_; }
  size_t n() const { return size_t{1} << log2_n_; }

  // `data` is n() elements in each of these, Montgomery form.
  //
  // data[rev(j)] = sum_i data_in[i] * omega^(-ij): the coefficients times N, in bit-reversed order.
  void InverseToBitReversed(std::span<Fr> data) const;
  // data[i] = sum_j data_in[rev(j)] * omega^(ij): undoes the above up to the factor N.
  void ForwardFromBitReversed(std::span<Fr> data) const;
  // Values of a polynomial of degree < N on the domain (natural order) to its values at eta * omega^i (natural order), where eta
  // is OddCosetShift: what snarkjs's H query is a basis for.
  void ExtendToOddCoset(std::span<Fr> data) const;

 private:
  // One pass over the vector: `levels` consecutive levels whose blocks have 2^log2_block elements at the top.
  struct OuterPass {
    int log2_block;
    int levels;
  };

  template <bool kInverse>
  void RunOuter(const OuterPass& pass, Fr* data) const;
  template <bool kInverse>
  void RunTile(const OuterPass& pass, size_t block, Fr* column) const;
  void InverseBlock(Fr* block, size_t index) const;
  void ForwardBlock(Fr* block, size_t index) const;
  void ShiftBlock(Fr* block, size_t index) const;
  // c and its inverse for block `index` of any level. The inverse comes negated (negated_inverse = -1/c), as the table has it.
  const Fr& Twiddle(size_t index) const { return roots_[index]; }
  const Fr& NegatedInverse(size_t index) const;

  int log2_n_;
  int log2_inner_;                 // contiguous blocks of this size are transformed in one visit
  std::vector<OuterPass> passes_;  // from the widest blocks down
  std::vector<Fr> roots_;          // roots_[i] = omega_N^(rev(i)) where rev is over log2_n - 1 bits
  std::vector<Fr> shifts_;         // eta^(rev(lo)), lo < 2^log2_inner, rev over log2_n bits
  Fr shift_base_;                  // eta
  Fr n_inverse_;
};

// Textbook transforms of the same meaning, O(n^2), for tests and as a reading aid. Natural order on both sides.
template <class Fr>
std::vector<Fr> NaiveEvaluate(std::span<const Fr> coefficients, const Fr& shift, const Fr& omega, size_t count) {
  std::vector<Fr> values;
  Fr x = shift;
  for (size_t i = 0; i < count; ++i, x *= omega) {
    Fr y = Fr::Zero();
    for (size_t j = coefficients.size(); j-- > 0;) y = y * x + coefficients[j];
    values.push_back(y);
  }
  return values;
}

}  // namespace proofline
