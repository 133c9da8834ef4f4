// Inversion modulo an odd p by division steps (Bernstein and Yang, "Fast constant-time gcd computation and modular inversion", 2019),
// in the variable-time form of Wuille's write-up for secp256k1 (2021): 62 steps at a time are done on the low words alone and collected
// in a 2x2 matrix, several zero bits of g at once. Fermat's exponentiation (Fp::InverseFermat) is the twin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/field/limbs.h"

namespace proofline {
namespace inverse_detail {

__extension__ using int128 = __int128;

constexpr int kStep = 62;  // bits of a word, and division steps per matrix
constexpr uint64_t kWordMask = (uint64_t{1} << kStep) - 1;

// sum of w[i] * 2^(62 i); all words but the last in [0, 2^62), the last signed.
template <size_t L>
using Words = std::array<int64_t, L>;

template <size_t N>
constexpr size_t kWordsFor = (64 * N + 2 + kStep - 1) / kStep;

template <size_t N>
constexpr Words<kWordsFor<N>> ToWords(const std::array<uint64_t, N>& x) {
  Words<kWordsFor<N>> out{};
  for (size_t i = 0; i < out.size(); ++i) {
    size_t bit = i * kStep;
    size_t word = bit / 64, shift = bit % 64;
    uint64_t v = word < N ? x[word] >> shift : 0;
    if (shift > 64 - kStep && word + 1 < N) v |= x[word + 1] << (64 - shift);
    out[i] = static_cast<int64_t>(v & kWordMask);
  }
  return out;
}

// Precondition: 0 <= w < 2^(64 N).
template <size_t N>
constexpr std::array<uint64_t, N> FromWords(const Words<kWordsFor<N>>& w) {
  std::array<uint64_t, N> out{};
  for (size_t i = 0; i < w.size(); ++i) {
    size_t bit = i * kStep;
    size_t word = bit / 64, shift = bit % 64;
    uint64_t v = static_cast<uint64_t>(w[i]);
    if (word < N) out[word] |= v << shift;
    if (shift != 0 && word + 1 < N) out[word + 1] |= v >> (64 - shift);
  }
  return out;
}

// 2^62 times the effect of 62 steps: new f = (u f + v g) / 2^62, new g = (q f + r g) / 2^62.
struct Matrix {
  int64_t u, v, q, r;
};

// `delta_minus` is -delta of the paper's start value 1/2 version, counted in whole steps.
inline Matrix DivSteps(int64_t& delta_minus, uint64_t f, uint64_t g) {
  uint64_t u = 1, v = 0, q = 0, r = 1;
  int left = kStep;
  for (;;) {
    int zeros = __builtin_ctzll(g | (~uint64_t{0} << left));
    g >>= zeros;
    u <<= zeros;
    v <<= zeros;
    delta_minus -= zeros;
    left -= zeros;
    if (left == 0) break;
    if (delta_minus < 0) {  // f and g change places
      delta_minus = -delta_minus;
      f = std::exchange(g, 0 - f);
      u = std::exchange(q, 0 - u);
      v = std::exchange(r, 0 - v);
    }
    // Steps until the next exchange only add f to g: clear as many low bits of g with one multiple w of f. For odd f, f (f^2 - 2) is
    // -1 / f modulo 2^6.
    int64_t limit = delta_minus + 1 > left ? left : delta_minus + 1;
    uint64_t mask = (limit >= 6 ? 63 : (uint64_t{1} << limit) - 1);
    uint64_t w = (g * (f * (f * f - 2))) & mask;
    g += f * w;
    q += u * w;
    r += v * w;
  }
  return {static_cast<int64_t>(u), static_cast<int64_t>(v), static_cast<int64_t>(q), static_cast<int64_t>(r)};
}

// (f, g) = t (f, g) / 2^62, exact. Only the first `length` words are in use.
template <size_t L>
void ApplyToFg(Words<L>& f, Words<L>& g, const Matrix& t, size_t length) {
  int128 cf = static_cast<int128>(t.u) * f[0] + static_cast<int128>(t.v) * g[0];
  int128 cg = static_cast<int128>(t.q) * f[0] + static_cast<int128>(t.r) * g[0];
  cf >>= kStep;
  cg >>= kStep;
  for (size_t i = 1; i < length; ++i) {
    cf += static_cast<int128>(t.u) * f[i] + static_cast<int128>(t.v) * g[i];
    cg += static_cast<int128>(t.q) * f[i] + static_cast<int128>(t.r) * g[i];
    f[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(cf) & kWordMask);
    g[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(cg) & kWordMask);
    cf >>= kStep;
    cg >>= kStep;
  }
  f[length - 1] = static_cast<int64_t>(cf);
  g[length - 1] = static_cast<int64_t>(cg);
}

// (d, e) = t (d, e) / 2^62 mod p. Invariant: both in (-2p, p).
template <size_t L>
void ApplyToDe(Words<L>& d, Words<L>& e, const Matrix& t, const Words<L>& p, uint64_t p_inverse) {
  // p is added for a negative side first, so that the range holds, then as many p as make the low word zero.
  int64_t sign_d = d[L - 1] >> 63, sign_e = e[L - 1] >> 63;
  int64_t md = (t.u & sign_d) + (t.v & sign_e);
  int64_t me = (t.q & sign_d) + (t.r & sign_e);
  int128 cd = static_cast<int128>(t.u) * d[0] + static_cast<int128>(t.v) * e[0];
  int128 ce = static_cast<int128>(t.q) * d[0] + static_cast<int128>(t.r) * e[0];
  md -= static_cast<int64_t>((p_inverse * static_cast<uint64_t>(cd) + static_cast<uint64_t>(md)) & kWordMask);
  me -= static_cast<int64_t>((p_inverse * static_cast<uint64_t>(ce) + static_cast<uint64_t>(me)) & kWordMask);
  cd += static_cast<int128>(p[0]) * md;
  ce += static_cast<int128>(p[0]) * me;
  cd >>= kStep;
  ce >>= kStep;
  for (size_t i = 1; i < L; ++i) {
    cd += static_cast<int128>(t.u) * d[i] + static_cast<int128>(t.v) * e[i] + static_cast<int128>(p[i]) * md;
    ce += static_cast<int128>(t.q) * d[i] + static_cast<int128>(t.r) * e[i] + static_cast<int128>(p[i]) * me;
    d[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(cd) & kWordMask);
    e[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(ce) & kWordMask);
    cd >>= kStep;
    ce >>= kStep;
  }
  d[L - 1] = static_cast<int64_t>(cd);
  e[L - 1] = static_cast<int64_t>(ce);
}

// x += k * p with carries settled, for a small k.
template <size_t L>
void AddMultiple(Words<L>& x, const Words<L>& p, int64_t k) {
  int64_t carry = 0;
  for (size_t i = 0; i + 1 < L; ++i) {
    int64_t s = x[i] + k * p[i] + carry;
    x[i] = static_cast<int64_t>(static_cast<uint64_t>(s) & kWordMask);
    carry = s >> kStep;
  }
  x[L - 1] += k * p[L - 1] + carry;
}

// For x in (-2p, p): x or -x in [0, p).
template <size_t L>
void Normalize(Words<L>& x, bool negate, const Words<L>& p) {
  if (x[L - 1] < 0) AddMultiple(x, p, 1);
  if (negate) {
    int64_t carry = 0;
    for (size_t i = 0; i + 1 < L; ++i) {
      int64_t s = carry - x[i];
      x[i] = static_cast<int64_t>(static_cast<uint64_t>(s) & kWordMask);
      carry = s >> kStep;
    }
    x[L - 1] = carry - x[L - 1];
  }
  if (x[L - 1] < 0) AddMultiple(x, p, 1);
}

template <size_t L>
bool IsZero(const Words<L>& x, size_t length) {
  int64_t acc = 0;
  for (size_t i = 0; i < length; ++i) acc |= x[i];
  return acc == 0;
}

// Drops the top word of both where it only repeats the sign of the word below. The word below becomes signed.
template <size_t L>
void Shorten(Words<L>& f, Words<L>& g, size_t& length) {
  int64_t fs = f[length - 1], gs = g[length - 1];
  if (length < 2 || (fs != 0 && fs != -1) || (gs != 0 && gs != -1)) return;
  f[length - 2] |= static_cast<int64_t>(static_cast<uint64_t>(fs) << kStep);
  g[length - 2] |= static_cast<int64_t>(static_cast<uint64_t>(gs) << kStep);
  --length;
}

}  // namespace inverse_detail

// x^-1 mod M::kValue for canonical x < p (no Montgomery form on either side); 0 for 0.
template <class M>
std::array<uint64_t, M::kLimbs> InvertModulo(const std::array<uint64_t, M::kLimbs>& x) {
  using namespace inverse_detail;
  constexpr size_t N = M::kLimbs;
  constexpr size_t L = kWordsFor<N>;
  constexpr Words<L> p = ToWords(M::kValue);
  constexpr uint64_t p_inverse = 0 - NegInverse(M::kValue[0]);
  Words<L> f = p, g = ToWords(x), d{}, e{};
  e[0] = 1;
  int64_t delta_minus = -1;
  size_t length = L;
  while (!IsZero(g, length)) {
    Matrix t = DivSteps(delta_minus, static_cast<uint64_t>(f[0]), static_cast<uint64_t>(g[0]));
    ApplyToDe(d, e, t, p, p_inverse);
    ApplyToFg(f, g, t, length);
    Shorten(f, g, length);
  }
  Normalize(d, f[length - 1] < 0, p);
  return FromWords<N>(d);
}

}  // namespace proofline
