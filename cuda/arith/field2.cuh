// The quadratic extension Fq2 on the device, the twin of core's Fq2: same bytes, compiles for the host too.
#pragma once

#include "cuda/arith/field.cuh"

namespace proofline::cuda {

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
    static_assert(F::kSpareBits >= 2);
    using Wide = typename F::Wide;
    const Wide v0 = F::Product(a.c0, b.c0);
    const Wide v1 = F::Product(a.c1, b.c1);
    const Wide both = v0 + v1;
    const F real = Wide::Difference(v0, v1).Reduced();
    return {real, (F::Product(F::SumOfWords(a.c0, a.c1), F::SumOfWords(b.c0, b.c1)) - both).Reduced()};
  }
  PL_HD_CALL Field2 Square() const {
    const F m = c0 * c1;
    return {(c0 + c1) * (c0 - c1), m.Double()};
  }
  PL_HD static Field2 DifferenceOfProducts(const Field2& a, const Field2& b, const Field2& c, const Field2& d) { return a * b - c * d; }
  PL_HD static void Multiply(Field2& r, const Field2& a, const Field2& b) { r = a * b; }
  PL_HD static void Square(Field2& r, const Field2& a) { r = a.Square(); }
  PL_HD static void SubtractProducts(Field2& r, const Field2& a, const Field2& b, const Field2& c, const Field2& d) {
    r = DifferenceOfProducts(a, b, c, d);
  }
  PL_HD Field2 Double() const { return {c0.Double(), c1.Double()}; }
};

}  // namespace proofline::cuda
