// The evaluation domain of a circuit: the N-th roots of unity of Fr, N = 2^log2_n, and the odd coset that Groth16's quotient is
// evaluated on. Every value here is in Montgomery form.
//
// All roots come from one non-residue g of the field: omega_s = g^((r-1)/2^s) has order 2^s (s is the two-adicity,
// Modulus::kTwoAdicity) and omega_j = omega_s^(2^(s-j)). Which g is a choice of the key's form, since a row's number is an exponent of
// omega: the smallest non-residue in a .zkey, 7 in bellperson's keys over BLS12-381 (there the roots differ from order 8 on).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace proofline {

// omega_j, of exact order 2^j. Preconditions: 0 <= j <= two-adicity; `non_residue` is one.
template <class Fr>
Fr RootOfUnity(int j, uint64_t non_residue = Fr::Modulus::kNonResidue) {
  using M = typename Fr::Modulus;
  // (r - 1) / 2^s; r is odd, so r - 1 only clears bit 0 and the shift drops it.
  std::array<uint64_t, Fr::kLimbs> e{};
  for (int i = 0; i < Fr::kLimbs; ++i) {
    e[i] = M::kValue[i] >> M::kTwoAdicity;
    if (i + 1 < Fr::kLimbs) e[i] |= M::kValue[i + 1] << (64 - M::kTwoAdicity);
  }
  Fr root = Fr::FromU64(non_residue).Pow(e);
  for (int k = M::kTwoAdicity; k > j; --k) root = root.Square();
  return root;
}

// The shift eta of the odd coset {eta * omega_k^i}: omega_(k+1), so that the coset is the odd half of the domain of size 2N.
// Where the field has no omega_(k+1) (k = two-adicity) it is g^2, as in snarkjs.
template <class Fr>
Fr OddCosetShift(int log2_n, uint64_t non_residue = Fr::Modulus::kNonResidue) {
  if (log2_n < Fr::Modulus::kTwoAdicity) return RootOfUnity<Fr>(log2_n + 1, non_residue);
  return Fr::FromU64(non_residue).Square();
}

// x^e by square and multiply.
template <class Fr>
Fr PowU64(const Fr& x, uint64_t e) {
  return x.Pow(std::array<uint64_t, 1>{e});
}

// The lowest `bits` bits of x in opposite order. Precondition: bits <= 64, x < 2^bits.
inline uint64_t ReverseBits(uint64_t x, int bits) {
  uint64_t r = 0;
  for (int i = 0; i < bits; ++i) r |= ((x >> i) & 1) << (bits - 1 - i);
  return r;
}

}  // namespace proofline
