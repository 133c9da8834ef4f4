// AdxArith: Montgomery arithmetic for x86-64 processors with BMI2 and ADX, as inline assembler. Included by arith.h only.
//
// Multiplication is operand scanning interleaved row by row with the reduction, with two independent carry chains (adcx, adox), in the
// "no-carry" form: the top word of every modulus here is below 2^63 - 1, so that a row's overflow never leaves its word
// (gnark-crypto's write-up of the optimisation, 2020; Ozturk et al., "New instructions supporting large integer arithmetic", 2012).
// The two first words of a row's accumulator swap registers in each row, which is why rows name them. No compiler flag is needed.
//
// Registers are the scarce thing: with a frame pointer 14 are left, and a compiler may spend one more on each memory operand. Pointers are
// operands of their own, and become scratch once the factors are read. SumOfProducts has none to spare, so it says "memory" instead of
// naming what it reads.
#pragma once

#include <array>
#include <cstdint>

#include "core/field/fp.h"

namespace proofline {

namespace adx_detail {

template <size_t N>
struct Words {
  uint64_t w[N];
};
template <size_t N>
constexpr Words<N> ToWords(const std::array<uint64_t, N>& x) {
  Words<N> out{};
  for (size_t i = 0; i < N; ++i) out.w[i] = x[i];
  return out;
}
// Hidden and a plain array, so that position-independent and unoptimised code too reach a word with one rip-relative operand.
template <class M>
[[gnu::visibility("hidden")]] inline constexpr Words<M::kLimbs> kModulus = ToWords(M::kValue);

}  // namespace adx_detail

// clang-format off
// The memory that the pointer of an operand stands for.
#define PL_ADX_READS(n, x) "m"(*reinterpret_cast<const uint64_t(*)[n]>(x))

// t += x * y_i, carry word in hi. One word of it: t_j += carry word, t_j += low(x_j * rdx), carry word = high(x_j * rdx).
#define PL_ADX_MUL_STEP(x, hi, offset, t) \
  "adcxq %[" hi "], %[" t "]\n\tmulxq " offset "(%[" x "]), %%rax, %[" hi "]\n\tadoxq %%rax, %[" t "]\n\t"
#define PL_ADX_MUL_BEGIN(x, y, hi, offset, first) \
  "movq " offset "(%[" y "]), %%rdx\n\txorl %%eax, %%eax\n\t" \
  "mulxq (%[" x "]), %%rax, %[" hi "]\n\tadoxq %%rax, %[" first "]\n\t"
#define PL_ADX_MUL_END(hi) \
  "movl $0, %%eax\n\tadcxq %%rax, %[" hi "]\n\tadoxq %%rax, %[" hi "]\n\t"
// The first row starts from nothing: t_j = high word before + low word.
#define PL_ADX_FIRST_BEGIN "movq (%[b]), %%rdx\n\tmulxq (%[a]), %[t0], %[t1]\n\t"
#define PL_ADX_FIRST_STEP(op, offset, t, next) \
  "mulxq " offset "(%[a]), %%rax, %[" next "]\n\t" op " %%rax, %[" t "]\n\t"

// One word of a reduction: the word before becomes t_j + low(m * p_j) + carries, t_j = high(m * p_j).
#define PL_ADX_RED_STEP(p, before, t) \
  "adcxq %[" t "], %[" before "]\n\tmulxq %[" p "], %%rax, %[" t "]\n\tadoxq %%rax, %[" before "]\n\t"
// m = t_0 * n0; the lowest word of t + m * p vanishes.
#define PL_ADX_RED_BEGIN(first, next) \
  "movq %[n0], %%rdx\n\timulq %[" first "], %%rdx\n\txorl %%eax, %%eax\n\t" \
  "mulxq %[p0], %%rax, %[" next "]\n\tadcxq %[" first "], %%rax\n\t"
#define PL_ADX_RED_END(last) \
  "movl $0, %%eax\n\tadcxq %%rax, %[" last "]\n\tadoxq %[hi], %[" last "]\n\t"

#define PL_ADX_RED4(first, next) \
  PL_ADX_RED_BEGIN(first, next) PL_ADX_RED_STEP("p1", next, "t1") PL_ADX_RED_STEP("p2", "t1", "t2") \
  PL_ADX_RED_STEP("p3", "t2", "t3") PL_ADX_RED_END("t3")
#define PL_ADX_MUL4(x, y, hi, offset, first) \
  PL_ADX_MUL_BEGIN(x, y, hi, offset, first) PL_ADX_MUL_STEP(x, hi, "8", "t1") PL_ADX_MUL_STEP(x, hi, "16", "t2") \
  PL_ADX_MUL_STEP(x, hi, "24", "t3") PL_ADX_MUL_END(hi)
#define PL_ADX_ROW4(offset, first, next) PL_ADX_MUL4("a", "b", "hi", offset, first) PL_ADX_RED4(first, next)
// The second product of a row; its carry word lies in the register that the reduction fills next.
#define PL_ADX_SECOND4(offset, first, next) PL_ADX_MUL4("c", "d", next, offset, first) "addq %[" next "], %[hi]\n\t"
#define PL_ADX_SUM_ROW4(offset, first, next) \
  PL_ADX_MUL4("a", "b", "hi", offset, first) PL_ADX_SECOND4(offset, first, next) PL_ADX_RED4(first, next)

#define PL_ADX_RED6(first, next) \
  PL_ADX_RED_BEGIN(first, next) PL_ADX_RED_STEP("p1", next, "t1") PL_ADX_RED_STEP("p2", "t1", "t2") \
  PL_ADX_RED_STEP("p3", "t2", "t3") PL_ADX_RED_STEP("p4", "t3", "t4") PL_ADX_RED_STEP("p5", "t4", "t5") \
  PL_ADX_RED_END("t5")
#define PL_ADX_MUL6(x, y, hi, offset, first) \
  PL_ADX_MUL_BEGIN(x, y, hi, offset, first) PL_ADX_MUL_STEP(x, hi, "8", "t1") PL_ADX_MUL_STEP(x, hi, "16", "t2") \
  PL_ADX_MUL_STEP(x, hi, "24", "t3") PL_ADX_MUL_STEP(x, hi, "32", "t4") PL_ADX_MUL_STEP(x, hi, "40", "t5") \
  PL_ADX_MUL_END(hi)
#define PL_ADX_ROW6(offset, first, next) PL_ADX_MUL6("a", "b", "hi", offset, first) PL_ADX_RED6(first, next)
#define PL_ADX_SECOND6(offset, first, next) PL_ADX_MUL6("c", "d", next, offset, first) "addq %[" next "], %[hi]\n\t"
#define PL_ADX_SUM_ROW6(offset, first, next) \
  PL_ADX_MUL6("a", "b", "hi", offset, first) PL_ADX_SECOND6(offset, first, next) PL_ADX_RED6(first, next)

// s = t - p, for words t in registers; then t = s unless that borrowed.
#define PL_ADX_TRY_SUB(op, t, p, s) "movq %[" t "], " s "\n\t" op " %[" p "], " s "\n\t"
#define PL_ADX_KEEP(t, s) "cmovncq " s ", %[" t "]\n\t"

// t = a op b.
#define PL_ADX_LOAD_OP(op, t, offset) "movq " offset "(%[a]), %[" t "]\n\t" op " " offset "(%[b]), %[" t "]\n\t"
// After t = a - b, whose borrow is kept in rax as a mask: t += p & mask. The mask itself becomes the last word.
#define PL_ADX_MASK(p, s) "movq %[" p "], " s "\n\tandq %%rax, " s "\n\t"
#define PL_ADX_ADD_BACK(op, t, s) op " " s ", %[" t "]\n\t"
// clang-format on

struct AdxArith {
  // r = a * b * 2^(-64 N) mod p, all fully reduced. r may alias a or b.
  template <class M>
  static inline void MulMont(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    static_assert(M::kLimbs == 4 || M::kLimbs == 6);
    static_assert(M::kValue[M::kLimbs - 1] < (uint64_t{1} << 63) - 1, "the no-carry form needs a spare bit");
    if constexpr (M::kLimbs == 4) {
      MulMont4<M>(r, a, b);
    } else {
      MulMont6<M>(r, a, b);
    }
  }
  // r = (a * b + c * d) * 2^(-64 N) mod p with one reduction; all fully reduced. r may alias any.
  template <class M>
  static inline void SumOfProducts(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                   const uint64_t* d) {
    static_assert(M::kValue[M::kLimbs - 1] < ~uint64_t{0} / 3 - 1, "a row stays below 3p, which must fit");
    if constexpr (M::kLimbs == 4) {
      SumOfProducts4<M>(r, a, b, c, d);
    } else {
      SumOfProducts6<M>(r, a, b, c, d);
    }
  }
  // r = a + b, a - b mod p, all fully reduced. r may alias a or b.
  template <class M>
  static inline void Add(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    if constexpr (M::kLimbs == 4) {
      Add4<M>(r, a, b);
    } else {
      Add6<M>(r, a, b);
    }
  }
  template <class M>
  static inline void Sub(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    if constexpr (M::kLimbs == 4) {
      Sub4<M>(r, a, b);
    } else {
      Sub6<M>(r, a, b);
    }
  }

 private:
  template <class M>
  static inline void MulMont4(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    constexpr uint64_t n0 = NegInverse(M::kValue[0]);
    const uint64_t *pa = a, *pb = b;
    uint64_t t0, t1, t2, t3, t4, hi;
    // clang-format off
    __asm__(
        PL_ADX_FIRST_BEGIN PL_ADX_FIRST_STEP("addq", "8", "t1", "t2") PL_ADX_FIRST_STEP("adcq", "16", "t2", "t3")
        PL_ADX_FIRST_STEP("adcq", "24", "t3", "hi") "adcq $0, %[hi]\n\t"
        PL_ADX_RED4("t0", "t4") PL_ADX_ROW4("8", "t4", "t0") PL_ADX_ROW4("16", "t0", "t4") PL_ADX_ROW4("24", "t4", "t0")
        PL_ADX_TRY_SUB("subq", "t0", "p0", "%[t4]") PL_ADX_TRY_SUB("sbbq", "t1", "p1", "%%rax")
        PL_ADX_TRY_SUB("sbbq", "t2", "p2", "%[hi]") PL_ADX_TRY_SUB("sbbq", "t3", "p3", "%%rdx")
        PL_ADX_KEEP("t0", "%[t4]") PL_ADX_KEEP("t1", "%%rax") PL_ADX_KEEP("t2", "%[hi]")
        PL_ADX_KEEP("t3", "%%rdx")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
          [hi] "=&r"(hi), [a] "+&r"(pa), [b] "+&r"(pb)
        : [p0] "m"(adx_detail::kModulus<M>.w[0]), [p1] "m"(adx_detail::kModulus<M>.w[1]),
          [p2] "m"(adx_detail::kModulus<M>.w[2]), [p3] "m"(adx_detail::kModulus<M>.w[3]),
          [n0] "n"(n0), PL_ADX_READS(4, a), PL_ADX_READS(4, b)
        : "rax", "rdx", "cc");
    // clang-format on
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3;
  }

  template <class M>
  static inline void MulMont6(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    constexpr uint64_t n0 = NegInverse(M::kValue[0]);
    const uint64_t *pa = a, *pb = b;
    uint64_t t0, t1, t2, t3, t4, t5, t6, hi;
    // clang-format off
    __asm__(
        PL_ADX_FIRST_BEGIN PL_ADX_FIRST_STEP("addq", "8", "t1", "t2") PL_ADX_FIRST_STEP("adcq", "16", "t2", "t3")
        PL_ADX_FIRST_STEP("adcq", "24", "t3", "t4") PL_ADX_FIRST_STEP("adcq", "32", "t4", "t5") PL_ADX_FIRST_STEP("adcq", "40", "t5", "hi")
        "adcq $0, %[hi]\n\t"
        PL_ADX_RED6("t0", "t6") PL_ADX_ROW6("8", "t6", "t0") PL_ADX_ROW6("16", "t0", "t6") PL_ADX_ROW6("24", "t6", "t0")
        PL_ADX_ROW6("32", "t0", "t6") PL_ADX_ROW6("40", "t6", "t0")
        PL_ADX_TRY_SUB("subq", "t0", "p0", "%[t6]") PL_ADX_TRY_SUB("sbbq", "t1", "p1", "%%rax")
        PL_ADX_TRY_SUB("sbbq", "t2", "p2", "%[hi]") PL_ADX_TRY_SUB("sbbq", "t3", "p3", "%%rdx")
        PL_ADX_TRY_SUB("sbbq", "t4", "p4", "%[a]") PL_ADX_TRY_SUB("sbbq", "t5", "p5", "%[b]")
        PL_ADX_KEEP("t0", "%[t6]") PL_ADX_KEEP("t1", "%%rax") PL_ADX_KEEP("t2", "%[hi]")
        PL_ADX_KEEP("t3", "%%rdx") PL_ADX_KEEP("t4", "%[a]") PL_ADX_KEEP("t5", "%[b]")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5), [t6] "=&r"(t6),
          [hi] "=&r"(hi), [a] "+&r"(pa), [b] "+&r"(pb)
        : [p0] "m"(adx_detail::kModulus<M>.w[0]), [p1] "m"(adx_detail::kModulus<M>.w[1]),
          [p2] "m"(adx_detail::kModulus<M>.w[2]), [p3] "m"(adx_detail::kModulus<M>.w[3]),
          [p4] "m"(adx_detail::kModulus<M>.w[4]), [p5] "m"(adx_detail::kModulus<M>.w[5]),
          [n0] "n"(n0), PL_ADX_READS(6, a), PL_ADX_READS(6, b)
        : "rax", "rdx", "cc");
    // clang-format on
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3, r[4] = t4, r[5] = t5;
  }

  template <class M>
  static inline void SumOfProducts4(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                    const uint64_t* d) {
    constexpr uint64_t n0 = NegInverse(M::kValue[0]);
    const uint64_t *pa = a, *pb = b;
    uint64_t t0, t1, t2, t3, t4, hi;
    // clang-format off
    __asm__(
        PL_ADX_FIRST_BEGIN PL_ADX_FIRST_STEP("addq", "8", "t1", "t2") PL_ADX_FIRST_STEP("adcq", "16", "t2", "t3")
        PL_ADX_FIRST_STEP("adcq", "24", "t3", "hi") "adcq $0, %[hi]\n\t"
        PL_ADX_SECOND4("0", "t0", "t4") PL_ADX_RED4("t0", "t4") PL_ADX_SUM_ROW4("8", "t4", "t0")
        PL_ADX_SUM_ROW4("16", "t0", "t4") PL_ADX_SUM_ROW4("24", "t4", "t0")
        PL_ADX_TRY_SUB("subq", "t0", "p0", "%[t4]") PL_ADX_TRY_SUB("sbbq", "t1", "p1", "%%rax")
        PL_ADX_TRY_SUB("sbbq", "t2", "p2", "%[hi]") PL_ADX_TRY_SUB("sbbq", "t3", "p3", "%%rdx")
        PL_ADX_KEEP("t0", "%[t4]") PL_ADX_KEEP("t1", "%%rax") PL_ADX_KEEP("t2", "%[hi]")
        PL_ADX_KEEP("t3", "%%rdx")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
          [hi] "=&r"(hi), [a] "+&r"(pa), [b] "+&r"(pb)
        : [c] "r"(c), [d] "r"(d), [p0] "m"(adx_detail::kModulus<M>.w[0]), [p1] "m"(adx_detail::kModulus<M>.w[1]),
          [p2] "m"(adx_detail::kModulus<M>.w[2]), [p3] "m"(adx_detail::kModulus<M>.w[3]), [n0] "n"(n0)
        : "rax", "rdx", "cc", "memory");
    // clang-format on
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3;
  }

  template <class M>
  static inline void SumOfProducts6(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                    const uint64_t* d) {
    constexpr uint64_t n0 = NegInverse(M::kValue[0]);
    const uint64_t *pa = a, *pb = b;
    uint64_t t0, t1, t2, t3, t4, t5, t6, hi;
    // clang-format off
    __asm__(
        PL_ADX_FIRST_BEGIN PL_ADX_FIRST_STEP("addq", "8", "t1", "t2") PL_ADX_FIRST_STEP("adcq", "16", "t2", "t3")
        PL_ADX_FIRST_STEP("adcq", "24", "t3", "t4") PL_ADX_FIRST_STEP("adcq", "32", "t4", "t5") PL_ADX_FIRST_STEP("adcq", "40", "t5", "hi")
        "adcq $0, %[hi]\n\t"
        PL_ADX_SECOND6("0", "t0", "t6") PL_ADX_RED6("t0", "t6") PL_ADX_SUM_ROW6("8", "t6", "t0")
        PL_ADX_SUM_ROW6("16", "t0", "t6") PL_ADX_SUM_ROW6("24", "t6", "t0") PL_ADX_SUM_ROW6("32", "t0", "t6")
        PL_ADX_SUM_ROW6("40", "t6", "t0")
        PL_ADX_TRY_SUB("subq", "t0", "p0", "%[t6]") PL_ADX_TRY_SUB("sbbq", "t1", "p1", "%%rax")
        PL_ADX_TRY_SUB("sbbq", "t2", "p2", "%[hi]") PL_ADX_TRY_SUB("sbbq", "t3", "p3", "%%rdx")
        PL_ADX_TRY_SUB("sbbq", "t4", "p4", "%[a]") PL_ADX_TRY_SUB("sbbq", "t5", "p5", "%[b]")
        PL_ADX_KEEP("t0", "%[t6]") PL_ADX_KEEP("t1", "%%rax") PL_ADX_KEEP("t2", "%[hi]")
        PL_ADX_KEEP("t3", "%%rdx") PL_ADX_KEEP("t4", "%[a]") PL_ADX_KEEP("t5", "%[b]")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5), [t6] "=&r"(t6),
          [hi] "=&r"(hi), [a] "+&r"(pa), [b] "+&r"(pb)
        : [c] "r"(c), [d] "r"(d), [p0] "m"(adx_detail::kModulus<M>.w[0]), [p1] "m"(adx_detail::kModulus<M>.w[1]),
          [p2] "m"(adx_detail::kModulus<M>.w[2]), [p3] "m"(adx_detail::kModulus<M>.w[3]),
          [p4] "m"(adx_detail::kModulus<M>.w[4]), [p5] "m"(adx_detail::kModulus<M>.w[5]), [n0] "n"(n0)
        : "rax", "rdx", "cc", "memory");
    // clang-format on
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3, r[4] = t4, r[5] = t5;
  }

  template <class M>
  static inline void Add4(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    const uint64_t *pa = a, *pb = b;
    uint64_t t0, t1, t2, t3, s0;
    // clang-format off
    __asm__(
        PL_ADX_LOAD_OP("addq", "t0", "0") PL_ADX_LOAD_OP("adcq", "t1", "8")
        PL_ADX_LOAD_OP("adcq", "t2", "16") PL_ADX_LOAD_OP("adcq", "t3", "24")
        PL_ADX_TRY_SUB("subq", "t0", "p0", "%[s0]") PL_ADX_TRY_SUB("sbbq", "t1", "p1", "%[a]")
        PL_ADX_TRY_SUB("sbbq", "t2", "p2", "%[b]") PL_ADX_TRY_SUB("sbbq", "t3", "p3", "%%rax")
        PL_ADX_KEEP("t0", "%[s0]") PL_ADX_KEEP("t1", "%[a]") PL_ADX_KEEP("t2", "%[b]")
        PL_ADX_KEEP("t3", "%%rax")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3),
          [s0] "=&r"(s0), [a] "+&r"(pa), [b] "+&r"(pb)
        : [p0] "m"(adx_detail::kModulus<M>.w[0]), [p1] "m"(adx_detail::kModulus<M>.w[1]),
          [p2] "m"(adx_detail::kModulus<M>.w[2]), [p3] "m"(adx_detail::kModulus<M>.w[3]),
          PL_ADX_READS(4, a), PL_ADX_READS(4, b)
        : "rax", "cc");
    // clang-format on
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3;
  }

  template <class M>
  static inline void Sub4(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    const uint64_t *pa = a, *pb = b;
    uint64_t t0, t1, t2, t3, s0;
    // clang-format off
    __asm__(
        PL_ADX_LOAD_OP("subq", "t0", "0") PL_ADX_LOAD_OP("sbbq", "t1", "8")
        PL_ADX_LOAD_OP("sbbq", "t2", "16") PL_ADX_LOAD_OP("sbbq", "t3", "24")
        "sbbq %%rax, %%rax\n\t"
        PL_ADX_MASK("p0", "%[s0]") PL_ADX_MASK("p1", "%[a]") PL_ADX_MASK("p2", "%[b]")
        "andq %[p3], %%rax\n\t"
        PL_ADX_ADD_BACK("addq", "t0", "%[s0]") PL_ADX_ADD_BACK("adcq", "t1", "%[a]") PL_ADX_ADD_BACK("adcq", "t2", "%[b]")
        PL_ADX_ADD_BACK("adcq", "t3", "%%rax")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3),
          [s0] "=&r"(s0), [a] "+&r"(pa), [b] "+&r"(pb)
        : [p0] "m"(adx_detail::kModulus<M>.w[0]), [p1] "m"(adx_detail::kModulus<M>.w[1]),
          [p2] "m"(adx_detail::kModulus<M>.w[2]), [p3] "m"(adx_detail::kModulus<M>.w[3]),
          PL_ADX_READS(4, a), PL_ADX_READS(4, b)
        : "rax", "cc");
    // clang-format on
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3;
  }

  template <class M>
  static inline void Add6(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    const uint64_t *pa = a, *pb = b;
    uint64_t t0, t1, t2, t3, t4, t5, s0, s1, s2;
    // clang-format off
    __asm__(
        PL_ADX_LOAD_OP("addq", "t0", "0") PL_ADX_LOAD_OP("adcq", "t1", "8")
        PL_ADX_LOAD_OP("adcq", "t2", "16") PL_ADX_LOAD_OP("adcq", "t3", "24")
        PL_ADX_LOAD_OP("adcq", "t4", "32") PL_ADX_LOAD_OP("adcq", "t5", "40")
        PL_ADX_TRY_SUB("subq", "t0", "p0", "%[s0]") PL_ADX_TRY_SUB("sbbq", "t1", "p1", "%[s1]")
        PL_ADX_TRY_SUB("sbbq", "t2", "p2", "%[s2]") PL_ADX_TRY_SUB("sbbq", "t3", "p3", "%[a]")
        PL_ADX_TRY_SUB("sbbq", "t4", "p4", "%[b]") PL_ADX_TRY_SUB("sbbq", "t5", "p5", "%%rax")
        PL_ADX_KEEP("t0", "%[s0]") PL_ADX_KEEP("t1", "%[s1]") PL_ADX_KEEP("t2", "%[s2]")
        PL_ADX_KEEP("t3", "%[a]") PL_ADX_KEEP("t4", "%[b]") PL_ADX_KEEP("t5", "%%rax")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
          [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [a] "+&r"(pa), [b] "+&r"(pb)
        : [p0] "m"(adx_detail::kModulus<M>.w[0]), [p1] "m"(adx_detail::kModulus<M>.w[1]),
          [p2] "m"(adx_detail::kModulus<M>.w[2]), [p3] "m"(adx_detail::kModulus<M>.w[3]),
          [p4] "m"(adx_detail::kModulus<M>.w[4]), [p5] "m"(adx_detail::kModulus<M>.w[5]),
          PL_ADX_READS(6, a), PL_ADX_READS(6, b)
        : "rax", "cc");
    // clang-format on
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3, r[4] = t4, r[5] = t5;
  }

  template <class M>
  static inline void Sub6(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    const uint64_t *pa = a, *pb = b;
    uint64_t t0, t1, t2, t3, t4, t5, s0, s1, s2;
    // clang-format off
    __asm__(
        PL_ADX_LOAD_OP("subq", "t0", "0") PL_ADX_LOAD_OP("sbbq", "t1", "8")
        PL_ADX_LOAD_OP("sbbq", "t2", "16") PL_ADX_LOAD_OP("sbbq", "t3", "24")
        PL_ADX_LOAD_OP("sbbq", "t4", "32") PL_ADX_LOAD_OP("sbbq", "t5", "40")
        "sbbq %%rax, %%rax\n\t"
        PL_ADX_MASK("p0", "%[s0]") PL_ADX_MASK("p1", "%[s1]") PL_ADX_MASK("p2", "%[s2]")
        PL_ADX_MASK("p3", "%[a]") PL_ADX_MASK("p4", "%[b]") "andq %[p5], %%rax\n\t"
        PL_ADX_ADD_BACK("addq", "t0", "%[s0]") PL_ADX_ADD_BACK("adcq", "t1", "%[s1]") PL_ADX_ADD_BACK("adcq", "t2", "%[s2]")
        PL_ADX_ADD_BACK("adcq", "t3", "%[a]") PL_ADX_ADD_BACK("adcq", "t4", "%[b]") PL_ADX_ADD_BACK("adcq", "t5", "%%rax")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
          [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [a] "+&r"(pa), [b] "+&r"(pb)
        : [p0] "m"(adx_detail::kModulus<M>.w[0]), [p1] "m"(adx_detail::kModulus<M>.w[1]),
          [p2] "m"(adx_detail::kModulus<M>.w[2]), [p3] "m"(adx_detail::kModulus<M>.w[3]),
          [p4] "m"(adx_detail::kModulus<M>.w[4]), [p5] "m"(adx_detail::kModulus<M>.w[5]),
          PL_ADX_READS(6, a), PL_ADX_READS(6, b)
        : "rax", "cc");
    // clang-format on
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3, r[4] = t4, r[5] = t5;
  }
};

#undef PL_ADX_READS
#undef PL_ADX_MUL_STEP
#undef PL_ADX_MUL_BEGIN
#undef PL_ADX_MUL_END
#undef PL_ADX_FIRST_BEGIN
#undef PL_ADX_FIRST_STEP
#undef PL_ADX_RED_STEP
#undef PL_ADX_RED_BEGIN
#undef PL_ADX_RED_END
#undef PL_ADX_RED4
#undef PL_ADX_MUL4
#undef PL_ADX_ROW4
#undef PL_ADX_SECOND4
#undef PL_ADX_SUM_ROW4
#undef PL_ADX_RED6
#undef PL_ADX_MUL6
#undef PL_ADX_ROW6
#undef PL_ADX_SECOND6
#undef PL_ADX_SUM_ROW6
#undef PL_ADX_TRY_SUB
#undef PL_ADX_KEEP
#undef PL_ADX_LOAD_OP
#undef PL_ADX_MASK
#undef PL_ADX_ADD_BACK

}  // namespace proofline
