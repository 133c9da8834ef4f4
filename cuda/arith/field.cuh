// Field elements on the device: Field<Modulus>, the twin of core's Fp<Modulus>, on 32-bit words.
//
// Same representation and same bytes as Fp: Montgomery form with R = 2^(32 kWords), little-endian, fully reduced after every
// operation; an array of one may be read as an array of the other. Compiles for the host too, with the same control flow.
#pragma once

#include <bit>

#include "core/field/moduli.h"
#include "cuda/arith/carry_chain.cuh"
#include "cuda/arith/montgomery_rows.cuh"

namespace proofline::cuda {

template <class M>
struct alignas(16) Field {
  using Modulus = M;
  static constexpr int kWords = 2 * M::kLimbs;
  static constexpr int N = kWords;
  // Bits of R above the modulus.
  static constexpr int kSpareBits = std::countl_zero(M::kValue[M::kLimbs - 1]);

  using Rows = MontgomeryRows<M>;

  uint32_t w[N];

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
  PL_HD static Field R3() { return FromPowerOfTwo<96 * N>(); }

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
    Rows::template MulRows<0>(even, odd, a.w, b.w);
    return Merged(even, odd).ReducedOnce();
  }
  // a b + c d with one reduction. Two spare bits are needed: a row adds less than 3 p 2^32, and the sum comes out below (1 + 2 p/R) p.
  PL_HD static Field SumOfProducts(const Field& a, const Field& b, const Field& c, const Field& d) {
    if constexpr (kSpareBits >= 2) {
      uint32_t even[N], odd[N];
      Rows::template SumRows<0>(even, odd, a.w, b.w, c.w, d.w);
      return Merged(even, odd).ReducedOnce();
    } else {
      return a * b + c * d;
    }
  }
  // a b - c d.
  PL_HD static Field DifferenceOfProducts(const Field& a, const Field& b, const Field& c, const Field& d) {
    if constexpr (kSpareBits >= 2) {
      return SumOfProducts(a, b, c.FromModulus(), d);
    } else {
      return a * b - c * d;
    }
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
    r.w[0] = add_cc(r.w[0], Rows::P(0) & mask, c);
#pragma unroll
    for (int i = 1; i < N - 1; ++i) r.w[i] = addc_cc(r.w[i], Rows::P(i) & mask, c);
    r.w[N - 1] = addc(r.w[N - 1], Rows::P(N - 1) & mask, c);
    return r;
  }
  // In place, as Field2's.
  PL_HD static void Multiply(Field& r, const Field& a, const Field& b) { r = a * b; }
  PL_HD static void Square(Field& r, const Field& a) { r = a.Square(); }
  // r = a b - c d, where r may be any of them.
  PL_HD static void SubtractProducts(Field& r, const Field& a, const Field& b, const Field& c, const Field& d) {
    r = DifferenceOfProducts(a, b, c, d);
  }
  PL_HD Field operator-() const { return Zero() - *this; }
  PL_HD Field Double() const { return *this + *this; }
  // Row i is a_i (a_i + 2 (a_(i+1), a_(i+2), ...)): of the N^2 products of a multiplication, N (N + 1) / 2. The two spare bits are for
  // row 0, which adds up to 2 p 2^32 before anything is reduced.
  PL_HD Field Square() const {
    if constexpr (kSpareBits >= 2) {
      Field twice;
      twice.w[0] = 0;
#pragma unroll
      for (int i = 1; i < N; ++i) twice.w[i] = w[i] << 1 | w[i - 1] >> 31;
      uint32_t even[N], odd[N];
      Rows::template SquareRows<0>(even, odd, w, twice.w);
      return Merged(even, odd).ReducedOnce();
    } else {
      return *this * *this;
    }
  }
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
          if (x.w[i] != Rows::P(i)) {
            subtract = x.w[i] > Rows::P(i);
            break;
          }
      }
      if (subtract) {
        uint64_t borrow = 0;
        for (int i = 0; i < N; ++i) {
          uint64_t d = uint64_t{x.w[i]} - Rows::P(i) - borrow;
          x.w[i] = static_cast<uint32_t>(d);
          borrow = d >> 63;
        }
      }
    }
    return x;
  }
  // x - p if x >= p, else x; for x < 2p.
  PL_HD Field ReducedOnce() const {
    Field s;
    Carry c;
    s.w[0] = sub_cc(w[0], Rows::P(0), c);
#pragma unroll
    for (int i = 1; i < N; ++i) s.w[i] = subc_cc(w[i], Rows::P(i), c);
    const uint32_t borrow = subc(0, 0, c);
#pragma unroll
    for (int i = 0; i < N; ++i) s.w[i] = borrow ? w[i] : s.w[i];
    return s;
  }

  // p - x for x <= p; not reduced, for 0 becomes p.
  PL_HD Field FromModulus() const {
    Field r;
    Carry c;
    r.w[0] = sub_cc(Rows::P(0), w[0], c);
#pragma unroll
    for (int i = 1; i < N - 1; ++i) r.w[i] = subc_cc(Rows::P(i), w[i], c);
    r.w[N - 1] = subc(Rows::P(N - 1), w[N - 1], c);
    return r;
  }

  // What N rows leave, divided by 2^32 once more. Below 2 R.
  PL_HD static Field Merged(const uint32_t (&even)[N], const uint32_t (&odd)[N]) {
    Field r;
    Carry c;
    r.w[0] = add_cc(even[0], odd[1], c);
#pragma unroll
    for (int i = 1; i < N - 1; ++i) r.w[i] = addc_cc(even[i], odd[i + 1], c);
    r.w[N - 1] = addc(even[N - 1], 0, c);
    return r;
  }

 public:
  // A product that is not reduced yet: 2 N words. For sums and differences of products before one reduction; needs two spare bits.
  struct Wide {
    uint32_t w[2 * N];
    PL_HD friend Wide operator+(const Wide& a, const Wide& b) {
      Wide r;
      Carry c;
      r.w[0] = add_cc(a.w[0], b.w[0], c);
#pragma unroll
      for (int i = 1; i < 2 * N - 1; ++i) r.w[i] = addc_cc(a.w[i], b.w[i], c);
      r.w[2 * N - 1] = addc(a.w[2 * N - 1], b.w[2 * N - 1], c);
      return r;
    }
    // For a >= b.
    PL_HD friend Wide operator-(const Wide& a, const Wide& b) {
      Wide r;
      Carry c;
      r.w[0] = sub_cc(a.w[0], b.w[0], c);
#pragma unroll
      for (int i = 1; i < 2 * N - 1; ++i) r.w[i] = subc_cc(a.w[i], b.w[i], c);
      r.w[2 * N - 1] = subc(a.w[2 * N - 1], b.w[2 * N - 1], c);
      return r;
    }
    // a - b, and p R more if that is negative; for b <= p R.
    PL_HD static Wide Difference(const Wide& a, const Wide& b) {
      Wide r;
      Carry c;
      r.w[0] = sub_cc(a.w[0], b.w[0], c);
#pragma unroll
      for (int i = 1; i < 2 * N; ++i) r.w[i] = subc_cc(a.w[i], b.w[i], c);
      const uint32_t mask = subc(0, 0, c);
      r.w[N] = add_cc(r.w[N], Rows::P(0) & mask, c);
#pragma unroll
      for (int i = 1; i < N - 1; ++i) r.w[N + i] = addc_cc(r.w[N + i], Rows::P(i) & mask, c);
      r.w[2 * N - 1] = addc(r.w[2 * N - 1], Rows::P(N - 1) & mask, c);
      return r;
    }
    // this / R, for this < p R.
    PL_HD Field Reduced() const {
      uint32_t even[N], odd[N];
#pragma unroll
      for (int i = 0; i < N; ++i) even[i] = w[i], odd[i] = 0;
      Rows::AddQuotient(even, odd);
      Rows::template QuotientRows<1>(odd, even);
      Field r = Merged(even, odd);
      Carry c;
      r.w[0] = add_cc(r.w[0], w[N], c);
#pragma unroll
      for (int i = 1; i < N - 1; ++i) r.w[i] = addc_cc(r.w[i], w[N + i], c);
      r.w[N - 1] = addc(r.w[N - 1], w[2 * N - 1], c);
      return r.ReducedOnce();
    }
  };
  // a b for any words.
  PL_HD static Wide Product(const Field& a, const Field& b) {
    uint32_t even[2 * N], odd[2 * N];
#pragma unroll
    for (int j = 0; j < N; j += 2) {
      const uint64_t e = uint64_t{a.w[j]} * b.w[0];
      even[j] = static_cast<uint32_t>(e);
      even[j + 1] = static_cast<uint32_t>(e >> 32);
      const uint64_t o = uint64_t{a.w[j + 1]} * b.w[0];
      odd[j] = static_cast<uint32_t>(o);
      odd[j + 1] = static_cast<uint32_t>(o >> 32);
    }
    even[N] = even[N + 1] = 0;
    Rows::template WideRows<1>(even, odd, a.w, b.w);
    Wide r;
    Carry c;
    r.w[0] = even[0];
    r.w[1] = add_cc(even[1], odd[0], c);
#pragma unroll
    for (int i = 2; i < 2 * N - 1; ++i) r.w[i] = addc_cc(even[i], odd[i - 1], c);
    r.w[2 * N - 1] = addc(even[2 * N - 1], odd[2 * N - 2], c);
    return r;
  }
  // a + b, not reduced.
  PL_HD static Field SumOfWords(const Field& a, const Field& b) {
    Field r;
    Carry c;
    r.w[0] = add_cc(a.w[0], b.w[0], c);
#pragma unroll
    for (int i = 1; i < N - 1; ++i) r.w[i] = addc_cc(a.w[i], b.w[i], c);
    r.w[N - 1] = addc(a.w[N - 1], b.w[N - 1], c);
    return r;
  }

};

}  // namespace proofline::cuda
