// Montgomery multiplication on 32-bit words, row by row: what Field's products, squares and sums of products are made of.
//
// It goes one word of b at a time with the reduction interleaved. Products of one row overlap by one word, so they go into
// two accumulators, products that begin at an even word into one and at an odd word into the other; within an accumulator a row is a
// single carry chain of whole 64-bit products. Dividing by 2^32 after each row swaps the roles of the two, so nothing is ever shifted
// (Emmart, Luitjens, Weems, Woolley: Optimizing Modular Multiplication for NVIDIA's Maxwell GPUs, ARITH 2016).
#pragma once

#include <cstdint>

#include "cuda/arith/carry_chain.cuh"

namespace proofline::cuda {

#ifdef __CUDACC__
// -1/r mod 2^32 of BLS12-381's r is 2^32 - 1. A compiler that sees it turns the quotient digit into a negation and then splits the
// wide multiply-adds of the whole row (measured 1.13 times slower); from constant memory it does not.
__constant__ uint32_t kOpaqueMinusOne[1] = {0xffffffffu};
#endif

template <class M>
struct MontgomeryRows {
  static constexpr int N = 2 * M::kLimbs;

  // Word i of p. The copy is what device code may name; with i known after unrolling it becomes an immediate operand.
  PL_HD static constexpr uint32_t P(int i) {
    constexpr auto value = M::kValue;
    return static_cast<uint32_t>(value[i / 2] >> (32 * (i % 2)));
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

  // Operands of a row: word j of what is multiplied by one word.
  struct AtWords {
    const uint32_t* a;
    PL_HD uint32_t operator()(int j) const { return a[j]; }
  };
  struct AtModulus {
    PL_HD uint32_t operator()(int j) const { return P(j); }
  };
  // a_i, 2 a_(i+1) without the bit that comes from a_i, then the words of 2 a.
  template <int kRow>
  struct AtSquare {
    const uint32_t *a, *twice;
    PL_HD uint32_t operator()(int j) const { return j == kRow ? a[j] : j == kRow + 1 ? a[j] << 1 : twice[j]; }
  };

  // acc[j] += sum over j = kFrom, kFrom + 2, ... of x(j + kShift) * y * 2^(32 j). The carry out stays in the flag.
  template <int kFrom, int kShift, class X>
  PL_HD static void AddChain(uint32_t (&acc)[N], const X& x, uint32_t y, Carry& c) {
#pragma unroll
    for (int j = 0; j < N; j += 2) {
      if (j < kFrom) continue;
      acc[j] = j == kFrom ? mad_lo_cc(x(j + kShift), y, acc[j], c) : madc_lo_cc(x(j + kShift), y, acc[j], c);
      acc[j + 1] = madc_hi_cc(x(j + kShift), y, acc[j + 1], c);
    }
  }

  // The steps of a row. Together they turn (even + 2^32 odd) into (even + 2^32 odd + products + m * p), whose lowest word is 0. After the
  // first row `odd` comes in two words higher than it is used: the division by 2^32 that was due after the row before.
  template <class X>
  PL_HD static void SetProduct(uint32_t (&even)[N], uint32_t (&odd)[N], const X& x, uint32_t y) {
#pragma unroll
    for (int j = 0; j < N; j += 2) {
      const uint64_t e = uint64_t{x(j)} * y;
      even[j] = static_cast<uint32_t>(e);
      even[j + 1] = static_cast<uint32_t>(e >> 32);
      const uint64_t o = uint64_t{x(j + 1)} * y;
      odd[j] = static_cast<uint32_t>(o);
      odd[j + 1] = static_cast<uint32_t>(o >> 32);
    }
  }
  // The lowest word first; the carry in the flag belongs to DivideAndAdd, and nothing else may stand between the two but what leaves it.
  PL_HD static void CompleteLowest(uint32_t (&even)[N], const uint32_t (&odd)[N], Carry& c) { even[0] = add_cc(even[0], odd[1], c); }
  template <class X>
  PL_HD static void DivideAndAdd(uint32_t (&even)[N], uint32_t (&odd)[N], const X& x, uint32_t y, Carry& c) {
#pragma unroll
    for (int j = 0; j < N - 2; j += 2) {
      odd[j] = madc_lo_cc(x(j + 1), y, odd[j + 2], c);
      odd[j + 1] = madc_hi_cc(x(j + 1), y, odd[j + 3], c);
    }
    odd[N - 2] = madc_lo_cc(x(N - 1), y, 0, c);
    odd[N - 1] = madc_hi(x(N - 1), y, 0, c);
    AddChain<0, 0>(even, x, y, c);
    odd[N - 1] = addc(odd[N - 1], 0, c);
  }
  // += sum over j >= kFrom of x(j) * y * 2^(32 j).
  template <int kFrom, class X>
  PL_HD static void AddProduct(uint32_t (&even)[N], uint32_t (&odd)[N], const X& x, uint32_t y) {
    Carry c;
    AddChain<kFrom / 2 * 2, 1>(odd, x, y, c);
    if constexpr (kFrom + 1 < N) {
      AddChain<(kFrom + 1) / 2 * 2, 0>(even, x, y, c);
      odd[N - 1] = addc(odd[N - 1], 0, c);
    }
  }
  PL_HD static void AddQuotient(uint32_t (&even)[N], uint32_t (&odd)[N]) { AddProduct<0>(even, odd, AtModulus{}, even[0] * N0()); }

  template <int kRow>
  PL_HD static void AddFirst(uint32_t (&even)[N], uint32_t (&odd)[N], const uint32_t (&a)[N], uint32_t y) {
    if constexpr (kRow == 0) {
      SetProduct(even, odd, AtWords{a}, y);
    } else {
      Carry c;
      CompleteLowest(even, odd, c);
      DivideAndAdd(even, odd, AtWords{a}, y, c);
    }
  }
  template <int kRow>
  PL_HD static void MulRows(uint32_t (&even)[N], uint32_t (&odd)[N], const uint32_t (&a)[N], const uint32_t (&b)[N]) {
    AddFirst<kRow>(even, odd, a, b[kRow]);
    AddQuotient(even, odd);
    if constexpr (kRow + 1 < N) MulRows<kRow + 1>(odd, even, a, b);
  }
  template <int kRow>
  PL_HD static void SumRows(uint32_t (&even)[N], uint32_t (&odd)[N], const uint32_t (&a)[N], const uint32_t (&b)[N], const uint32_t (&c)[N], const uint32_t (&d)[N]) {
    AddFirst<kRow>(even, odd, a, b[kRow]);
    AddProduct<0>(even, odd, AtWords{c}, d[kRow]);
    AddQuotient(even, odd);
    if constexpr (kRow + 1 < N) SumRows<kRow + 1>(odd, even, a, b, c, d);
  }
  // From row 1 on a row's products begin above the lowest word, so the quotient comes first and takes the division along.
  template <int kRow>
  PL_HD static void SquareRows(uint32_t (&even)[N], uint32_t (&odd)[N], const uint32_t (&a)[N], const uint32_t (&twice)[N]) {
    const AtSquare<kRow> x{a, twice};
    if constexpr (kRow == 0) {
      SetProduct(even, odd, x, a[0]);
      AddQuotient(even, odd);
    } else {
      QuotientRow<kRow>(even, odd);
      AddProduct<kRow>(even, odd, x, a[kRow]);
    }
    if constexpr (kRow + 1 < N) SquareRows<kRow + 1>(odd, even, a, twice);
  }
  template <int kRow>
  PL_HD static void QuotientRow(uint32_t (&even)[N], uint32_t (&odd)[N]) {
    Carry c;
    CompleteLowest(even, odd, c);
    DivideAndAdd(even, odd, AtModulus{}, even[0] * N0(), c);
  }

  template <int kRow>
  PL_HD static void QuotientRows(uint32_t (&even)[N], uint32_t (&odd)[N]) {
    QuotientRow<kRow>(even, odd);
    if constexpr (kRow + 1 < N) QuotientRows<kRow + 1>(odd, even);
  }
  // acc += sum over j = 0, 2, ... of a[j + kShift] * y * 2^(32 (j + kAt)). Every second row begins two words higher than the one before and
  // then finds no more than a carry in its two highest words: it has no carry out.
  template <int kAt, int kShift, bool kCarryOut>
  PL_HD static void WideChain(uint32_t (&acc)[2 * N], const uint32_t (&a)[N], uint32_t y) {
    Carry c;
    acc[kAt] = mad_lo_cc(a[kShift], y, acc[kAt], c);
#pragma unroll
    for (int j = 0; j < N - 2; j += 2) {
      acc[kAt + j + 1] = madc_hi_cc(a[j + kShift], y, acc[kAt + j + 1], c);
      acc[kAt + j + 2] = madc_lo_cc(a[j + 2 + kShift], y, acc[kAt + j + 2], c);
    }
    if constexpr (kCarryOut) {
      acc[kAt + N - 1] = madc_hi_cc(a[N - 2 + kShift], y, acc[kAt + N - 1], c);
      acc[kAt + N] = addc(0, 0, c);
      if constexpr (kAt + N + 1 < 2 * N) acc[kAt + N + 1] = 0;
    } else {
      acc[kAt + N - 1] = madc_hi(a[N - 2 + kShift], y, acc[kAt + N - 1], c);
    }
  }
  // Products that begin at an even word of the result into `even`; at an odd one into `odd`, one word lower.
  template <int kRow>
  PL_HD static void WideRows(uint32_t (&even)[2 * N], uint32_t (&odd)[2 * N], const uint32_t (&a)[N], const uint32_t (&b)[N]) {
    if constexpr (kRow % 2 == 0) {
      WideChain<kRow, 0, true>(even, a, b[kRow]);
      WideChain<kRow, 1, false>(odd, a, b[kRow]);
    } else {
      WideChain<kRow + 1, 1, false>(even, a, b[kRow]);
      WideChain<kRow - 1, 0, true>(odd, a, b[kRow]);
    }
    if constexpr (kRow + 1 < N) WideRows<kRow + 1>(even, odd, a, b);
  }
};

}  // namespace proofline::cuda
