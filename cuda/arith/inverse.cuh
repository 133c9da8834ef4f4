// Inversion modulo p by division steps: Bernstein and Yang, "Fast constant-time gcd computation and modular inversion" (TCHES 2019), in the
// form with delta = 1/2 that needs (45907 b + 26313) / 19929 steps for b bits (Pornin's and Wuille's count). Thread level. About seven times
// fewer instructions than an exponentiation, and none of them depend on the value. Compiles for the host too.
#pragma once

#include "cuda/arith/field2.cuh"

namespace proofline::cuda {

template <class M>
class DivisionSteps {
 public:
  using F = Field<M>;

  // x^-1 for canonical or, up to the factor R^-2, Montgomery words; 0 for 0.
  PL_HD static F Invert(const F& x) {
    Limbs f = ModulusLimbs(), g = ToLimbs(x), d{}, e{};
    e.v[0] = 1;
    int32_t zeta = -1;
#pragma unroll 1
    for (int i = 0; i < kRounds; ++i) {
      Matrix t;
      zeta = Steps(zeta, static_cast<uint32_t>(f.v[0]), static_cast<uint32_t>(g.v[0]), t);
      UpdateDE(d, e, t);
      UpdateFG(f, g, t);
    }
    // f is 1 or -1, and d is that times the inverse, in (-2p, p).
    Normalize(d, f.v[kLimbs - 1]);
    return ToWords(d);
  }

 private:
  static constexpr int kBits = 64 * M::kLimbs - F::kSpareBits;
  static constexpr int kLimbBits = 30;
  static constexpr int kLimbs = (kBits + 2 + kLimbBits - 1) / kLimbBits;
  static constexpr int kStepCount = (45907 * kBits + 26313 + 19928) / 19929;
  static constexpr int kRounds = (kStepCount + kLimbBits - 1) / kLimbBits;
  static constexpr int32_t kMask = (1 << kLimbBits) - 1;

  struct Limbs {
    int32_t v[kLimbs];
  };
  struct Matrix {
    int32_t u, v, q, r;
  };

  PL_HD static constexpr uint32_t ModulusLimb(int i) {
    constexpr auto value = M::kValue;
    uint32_t limb = 0;
    for (int bit = 0; bit < kLimbBits; ++bit) {
      const int at = i * kLimbBits + bit;
      if (at < 64 * M::kLimbs) limb |= static_cast<uint32_t>(value[at / 64] >> (at % 64) & 1) << bit;
    }
    return limb;
  }
  // p^-1 mod 2^30.
  PL_HD static constexpr uint32_t ModulusInverse() {
    uint32_t inverse = 1;
    for (int i = 0; i < 5; ++i) inverse *= 2 - ModulusLimb(0) * inverse;
    return inverse & static_cast<uint32_t>(kMask);
  }
  template <int kAt>
  PL_HD static int32_t P() {
    constexpr uint32_t limb = ModulusLimb(kAt);
    return static_cast<int32_t>(limb);
  }
  template <int kAt = 0>
  PL_HD static void FillModulus(Limbs& out) {
    out.v[kAt] = P<kAt>();
    if constexpr (kAt + 1 < kLimbs) FillModulus<kAt + 1>(out);
  }
  PL_HD static Limbs ModulusLimbs() {
    Limbs out;
    FillModulus(out);
    return out;
  }

  PL_HD static Limbs ToLimbs(const F& x) {
    Limbs out;
#pragma unroll
    for (int i = 0; i < kLimbs; ++i) {
      const int word = i * kLimbBits / 32, shift = i * kLimbBits % 32;
      uint64_t bits = word < F::N ? x.w[word] : 0;
      if (word + 1 < F::N) bits |= uint64_t{x.w[word + 1]} << 32;
      out.v[i] = static_cast<int32_t>(bits >> shift & kMask);
    }
    return out;
  }
  PL_HD static F ToWords(const Limbs& x) {
    F out;
#pragma unroll
    for (int k = 0; k < F::N; ++k) {
      const int limb = 32 * k / kLimbBits, shift = 32 * k % kLimbBits;
      uint64_t bits = static_cast<uint64_t>(static_cast<uint32_t>(x.v[limb])) >> shift;
      if (limb + 1 < kLimbs) bits |= static_cast<uint64_t>(static_cast<uint32_t>(x.v[limb + 1])) << (kLimbBits - shift);
      if (limb + 2 < kLimbs && 2 * kLimbBits - shift < 32) bits |= static_cast<uint64_t>(static_cast<uint32_t>(x.v[limb + 2])) << (2 * kLimbBits - shift);
      out.w[k] = static_cast<uint32_t>(bits);
    }
    return out;
  }

  // 30 steps on the lowest words; (f, g) times the matrix over 2^30 is what they become.
  PL_HD static int32_t Steps(int32_t zeta, uint32_t f, uint32_t g, Matrix& t) {
    uint32_t u = 1, v = 0, q = 0, r = 1;
#pragma unroll 6
    for (int i = 0; i < kLimbBits; ++i) {
      uint32_t negative = static_cast<uint32_t>(zeta >> 31);
      const uint32_t odd = 0u - (g & 1u);
      g += ((f ^ negative) - negative) & odd;
      q += ((u ^ negative) - negative) & odd;
      r += ((v ^ negative) - negative) & odd;
      negative &= odd;
      zeta = static_cast<int32_t>(static_cast<uint32_t>(zeta) ^ negative) - 1;
      f += g & negative;
      u += q & negative;
      v += r & negative;
      g >>= 1;
      u <<= 1;
      v <<= 1;
    }
    t = {static_cast<int32_t>(u), static_cast<int32_t>(v), static_cast<int32_t>(q), static_cast<int32_t>(r)};
    return zeta;
  }

  PL_HD static void UpdateFG(Limbs& f, Limbs& g, const Matrix& t) {
    int64_t cf = int64_t{t.u} * f.v[0] + int64_t{t.v} * g.v[0];
    int64_t cg = int64_t{t.q} * f.v[0] + int64_t{t.r} * g.v[0];
    cf >>= kLimbBits;
    cg >>= kLimbBits;
#pragma unroll
    for (int i = 1; i < kLimbs; ++i) {
      cf += int64_t{t.u} * f.v[i] + int64_t{t.v} * g.v[i];
      cg += int64_t{t.q} * f.v[i] + int64_t{t.r} * g.v[i];
      f.v[i - 1] = static_cast<int32_t>(cf) & kMask;
      g.v[i - 1] = static_cast<int32_t>(cg) & kMask;
      cf >>= kLimbBits;
      cg >>= kLimbBits;
    }
    f.v[kLimbs - 1] = static_cast<int32_t>(cf);
    g.v[kLimbs - 1] = static_cast<int32_t>(cg);
  }

  // Modulo p: md and me multiples of it make the lowest limb vanish, and keep both in (-2p, p).
  PL_HD static void UpdateDE(Limbs& d, Limbs& e, const Matrix& t) {
    constexpr uint32_t kInverse = ModulusInverse();
    const int32_t sd = d.v[kLimbs - 1] >> 31, se = e.v[kLimbs - 1] >> 31;
    int32_t md = (t.u & sd) + (t.v & se), me = (t.q & sd) + (t.r & se);
    int64_t cd = int64_t{t.u} * d.v[0] + int64_t{t.v} * e.v[0];
    int64_t ce = int64_t{t.q} * d.v[0] + int64_t{t.r} * e.v[0];
    md -= static_cast<int32_t>((kInverse * static_cast<uint32_t>(cd) + static_cast<uint32_t>(md)) & static_cast<uint32_t>(kMask));
    me -= static_cast<int32_t>((kInverse * static_cast<uint32_t>(ce) + static_cast<uint32_t>(me)) & static_cast<uint32_t>(kMask));
    cd += int64_t{P<0>()} * md;
    ce += int64_t{P<0>()} * me;
    UpdateLimb<1>(d, e, t, md, me, cd >> kLimbBits, ce >> kLimbBits);
  }
  template <int kAt>
  PL_HD static void UpdateLimb(Limbs& d, Limbs& e, const Matrix& t, int32_t md, int32_t me, int64_t cd, int64_t ce) {
    if constexpr (kAt == kLimbs) {
      d.v[kLimbs - 1] = static_cast<int32_t>(cd);
      e.v[kLimbs - 1] = static_cast<int32_t>(ce);
    } else {
      cd += int64_t{t.u} * d.v[kAt] + int64_t{t.v} * e.v[kAt] + int64_t{P<kAt>()} * md;
      ce += int64_t{t.q} * d.v[kAt] + int64_t{t.r} * e.v[kAt] + int64_t{P<kAt>()} * me;
      d.v[kAt - 1] = static_cast<int32_t>(cd) & kMask;
      e.v[kAt - 1] = static_cast<int32_t>(ce) & kMask;
      UpdateLimb<kAt + 1>(d, e, t, md, me, cd >> kLimbBits, ce >> kLimbBits);
    }
  }

  template <int kAt = 0>
  PL_HD static void AddModulus(Limbs& x, int32_t mask) {
    x.v[kAt] += P<kAt>() & mask;
    if constexpr (kAt + 1 < kLimbs) AddModulus<kAt + 1>(x, mask);
  }
  PL_HD static void Carry30(Limbs& x) {
#pragma unroll
    for (int i = 0; i + 1 < kLimbs; ++i) {
      x.v[i + 1] += x.v[i] >> kLimbBits;
      x.v[i] &= kMask;
    }
  }
  // From (-2p, p), negated if `sign` is negative, to [0, p).
  PL_HD static void Normalize(Limbs& x, int32_t sign) {
    AddModulus(x, x.v[kLimbs - 1] >> 31);
    const int32_t negate = sign >> 31;
#pragma unroll
    for (int i = 0; i < kLimbs; ++i) x.v[i] = (x.v[i] ^ negate) - negate;
    Carry30(x);
    AddModulus(x, x.v[kLimbs - 1] >> 31);
    Carry30(x);
  }
};

// Montgomery form in, Montgomery form out.
template <class M>
PL_HD Field<M> Inverse(const Field<M>& x) {
  return DivisionSteps<M>::Invert(x) * Field<M>::R3();
}
template <class F>
PL_HD Field2<F> Inverse(const Field2<F>& x) {
  const F n = Inverse(x.c0.Square() + x.c1.Square());
  return {x.c0 * n, -(x.c1 * n)};
}

}  // namespace proofline::cuda
