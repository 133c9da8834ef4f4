// Field elements on the device: Field<Modulus>, the twin of core's Fp<Modulus>, on 32-bit words.
//
// Same representation and same bytes as Fp: Montgomery form with R = 2^(32 kWords), little-endian, fully reduced after every
// operation; an array of one may be read as an array of the other. Compiles for the host too, with the same control flow.
//
// Multiplication goes one word of b at a time with the reduction interleaved. Products of one row overlap by one word, so they go into
// two accumulators, products that begin at an even word into one and at an odd word into the other; within an accumulator a row is a
// single carry chain of whole 64-bit products. Dividing by 2^32 after each row swaps the roles of the two, so nothing is ever shifted
// (Emmart, Luitjens, Weems, Woolley: Optimizing Modular Multiplication for NVIDIA's Maxwell GPUs, ARITH 2016).
#pragma once

#include "core/field/moduli.h"
#include "cuda/arith/carry_chain.cuh"

namespace proofline::cuda {

#ifdef __CUDACC__
// -1/r mod 2^32 of BLS12-381's r is 2^32 - 1. A compiler that sees it turns the quotient digit into a negation and then splits the
// wide multiply-adds of the whole row (measured 1.13 times slower); from constant memory it does not.
__constant__ uint32_t kOpaqueMinusOne[1] = {0xffffffffu};
#endif

template <class M>
struct alignas(16) Field {
  using Modulus = M;
  static constexpr int kWords = 2 * M::kLimbs;
  static constexpr int N = kWords;

  uint32_t w[N];

  // Word i of p. The copy is what device code may name; with i known after unrolling it becomes an immediate operand.
  PL_HD static constexpr uint32_t P(int i) {
    constexpr auto value = M::kValue;
    return static_cast<uint32_t>(value[i / 2] >> (32 * (i % 2)));
  }

  PL_HD static Field Zero() {
    Field r;
#pragma unroll
    for (int i = 0; i < N; ++i) r.w[i] = 0;
    return r;
  }
  // 2^(32 N) mod p.
  PL_HD static Field One() { return FromPowerOfTwo<32 * N>(); }
  // The factor that takes canonical to Montgomery form.
  PL_HD static Field R2() { return FromPowerOfTwo<64 * N>(); }

  PL_HD bool IsZero() const {
    uint32_t acc = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) acc |= w[i];
    return acc == 0;
  }
  PL_HD friend bool operator==(const Field& a, const Field& b) {
    uint32_t acc = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) acc |= a.w[i] ^ b.w[i];
    return acc == 0;
  }

  PL_HD friend Field operator*(const Field& a, const Field& b) {
    uint32_t even[N], odd[N];
    Row<true>(even, odd, a.w, b.w[0]);
    Row<false>(odd, even, a.w, b.w[1]);
#pragma unroll
    for (int i = 2; i < N; i += 2) {
      Row<false>(even, odd, a.w, b.w[i]);
      Row<false>(odd, even, a.w, b.w[i + 1]);
    }
    Field r;
    Carry c;
    r.w[0] = add_cc(even[0], odd[1], c);
#pragma unroll
    for (int i = 1; i < N - 1; ++i) r.w[i] = addc_cc(even[i], odd[i + 1], c);
    r.w[N - 1] = addc(even[N - 1], 0, c);
    return r.ReducedOnce();
  }
  PL_HD friend Field operator+(const Field& a, const Field& b) {
    Field r;
    Carry c;
    r.w[0] = add_cc(a.w[0], b.w[0], c);
#pragma unroll
    for (int i = 1; i < N - 1; ++i) r.w[i] = addc_cc(a.w[i], b.w[i], c);
    r.w[N - 1] = addc(a.w[N - 1], b.w[N - 1], c);
    return r.ReducedOnce();
  }
  PL_HD friend Field operator-(const Field& a, const Field& b) {
    Field r;
    Carry c;
    r.w[0] = sub_cc(a.w[0], b.w[0], c);
#pragma unroll
    for (int i = 1; i < N; ++i) r.w[i] = subc_cc(a.w[i], b.w[i], c);
    const uint32_t mask = subc(0, 0, c);
    r.w[0] = add_cc(r.w[0], P(0) & mask, c);
#pragma unroll
    for (int i = 1; i < N - 1; ++i) r.w[i] = addc_cc(r.w[i], P(i) & mask, c);
    r.w[N - 1] = addc(r.w[N - 1], P(N - 1) & mask, c);
    return r;
  }
  PL_HD Field operator-() const { return Zero() - *this; }
  PL_HD Field Double() const { return *this + *this; }
  PL_HD Field Square() const { return *this * *this; }
  PL_HD Field ToCanon() const {
    Field one = Zero();
    one.w[0] = 1;
    return *this * one;
  }
  PL_HD Field ToMont() const { return *this * R2(); }

  // x^e for a 64-bit exponent.
  PL_HD Field PowU64(uint64_t e) const {
    Field r = One();
    for (int i = 63; i >= 0; --i) {
      r = r.Square();
      if ((e >> i) & 1) r = r * *this;
    }
    return r;
  }

 private:
  template <int kBits>
  PL_HD static Field FromPowerOfTwo() {
    constexpr auto value = PowerOfTwo(kBits);
    Field r;
#pragma unroll
    for (int i = 0; i < N; ++i) r.w[i] = value.w[i];
    return r;
  }
  struct Words {
    uint32_t w[N];
  };
  static constexpr Words PowerOfTwo(int bits) {
    Words x{};
    x.w[0] = 1;
    for (int k = 0; k < bits; ++k) {
      uint32_t carry = 0;
      for (int i = 0; i < N; ++i) {
        uint32_t top = x.w[i] >> 31;
        x.w[i] = (x.w[i] << 1) | carry;
        carry = top;
      }
      bool subtract = carry != 0;
      if (!subtract) {
        subtract = true;
        for (int i = N; i-- > 0;)
          if (x.w[i] != P(i)) {
            subtract = x.w[i] > P(i);
            break;
          }
      }
      if (subtract) {
        uint64_t borrow = 0;
        for (int i = 0; i < N; ++i) {
          uint64_t d = uint64_t{x.w[i]} - P(i) - borrow;
          x.w[i] = static_cast<uint32_t>(d);
          borrow = d >> 63;
        }
      }
    }
    return x;
  }
  // -p^-1 mod 2^32, by Newton iteration.
  static constexpr uint32_t NegInverse() {
    uint32_t inv = 1;
    for (int i = 0; i < 5; ++i) inv *= 2 - P(0) * inv;
    return 0 - inv;
  }
  PL_HD static uint32_t N0() {
    constexpr uint32_t n0 = NegInverse();
#ifdef __CUDA_ARCH__
    if constexpr (n0 == 0xffffffffu) return kOpaqueMinusOne[0];
#endif
    return n0;
  }

  // x - p if x >= p, else x; for x < 2p.
  PL_HD Field ReducedOnce() const {
    Field s;
    Carry c;
    s.w[0] = sub_cc(w[0], P(0), c);
#pragma unroll
    for (int i = 1; i < N; ++i) s.w[i] = subc_cc(w[i], P(i), c);
    const uint32_t borrow = subc(0, 0, c);
#pragma unroll
    for (int i = 0; i < N; ++i) s.w[i] = borrow ? w[i] : s.w[i];
    return s;
  }

  // acc += sum over even j of x(j) * y * 2^(32 j). The carry out stays in the flag.
  template <class X>
  PL_HD static void AddRow(uint32_t (&acc)[N], const X& x, uint32_t y, Carry& c) {
    acc[0] = mad_lo_cc(x(0), y, acc[0], c);
    acc[1] = madc_hi_cc(x(0), y, acc[1], c);
#pragma unroll
    for (int j = 2; j < N; j += 2) {
      acc[j] = madc_lo_cc(x(j), y, acc[j], c);
      acc[j + 1] = madc_hi_cc(x(j), y, acc[j + 1], c);
    }
  }
  struct AtWords {
    const uint32_t* a;
    PL_HD uint32_t operator()(int j) const { return a[j]; }
  };
  template <int kFrom>
  struct AtModulus {
    PL_HD uint32_t operator()(int j) const { return P(j + kFrom); }
  };

  // (even + 2^32 odd) becomes (even + 2^32 odd + a * b + m * p), whose lowest word is 0. `odd` comes in two words higher than it is used:
  // the division by 2^32 that was due after the row before.
  template <bool kFirst>
  PL_HD static void Row(uint32_t (&even)[N], uint32_t (&odd)[N], const uint32_t (&a)[N], uint32_t b) {
    Carry c;
    if constexpr (kFirst) {
#pragma unroll
      for (int j = 0; j < N; j += 2) {
        const uint64_t e = uint64_t{a[j]} * b;
        even[j] = static_cast<uint32_t>(e);
        even[j + 1] = static_cast<uint32_t>(e >> 32);
        const uint64_t o = uint64_t{a[j + 1]} * b;
        odd[j] = static_cast<uint32_t>(o);
        odd[j + 1] = static_cast<uint32_t>(o >> 32);
      }
    } else {
      even[0] = add_cc(even[0], odd[1], c);
#pragma unroll
      for (int j = 0; j < N - 2; j += 2) {
        odd[j] = madc_lo_cc(a[j + 1], b, odd[j + 2], c);
        odd[j + 1] = madc_hi_cc(a[j + 1], b, odd[j + 3], c);
      }
      odd[N - 2] = madc_lo_cc(a[N - 1], b, 0, c);
      odd[N - 1] = madc_hi(a[N - 1], b, 0, c);
      AddRow(even, AtWords{a}, b, c);
      odd[N - 1] = addc(odd[N - 1], 0, c);
    }
    const uint32_t m = even[0] * N0();
    AddRow(odd, AtModulus<1>{}, m, c);
    AddRow(even, AtModulus<0>{}, m, c);
    odd[N - 1] = addc(odd[N - 1], 0, c);
  }
};

// Fq2 = Fq[u] / (u^2 + 1): c0 + c1 u, as core's Fq2.
template <class F>
struct Field2 {
  using Base = F;
  F c0, c1;

  PL_HD static Field2 Zero() { return {F::Zero(), F::Zero()}; }
  PL_HD static Field2 One() { return {F::One(), F::Zero()}; }
  PL_HD bool IsZero() const { return c0.IsZero() && c1.IsZero(); }
  PL_HD friend bool operator==(const Field2& a, const Field2& b) { return a.c0 == b.c0 && a.c1 == b.c1; }
  PL_HD friend Field2 operator+(const Field2& a, const Field2& b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
  PL_HD friend Field2 operator-(const Field2& a, const Field2& b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
  PL_HD Field2 operator-() const { return {-c0, -c1}; }
  // A call on purpose, like Square: inlined, an addition over Fq2 would fit neither the instruction cache nor a compiler's patience.
  PL_HD_CALL friend Field2 operator*(const Field2& a, const Field2& b) {
    const F v0 = a.c0 * b.c0;
    const F v1 = a.c1 * b.c1;
    return {v0 - v1, (a.c0 + a.c1) * (b.c0 + b.c1) - v0 - v1};
  }
  PL_HD_CALL Field2 Square() const {
    const F m = c0 * c1;
    return {(c0 + c1) * (c0 - c1), m.Double()};
  }
  PL_HD Field2 Double() const { return {c0.Double(), c1.Double()}; }
};

}  // namespace proofline::cuda
