// Fq2 = Fq[u] / (u^2 + 1), the field of G2's coordinates on both curves (-1 is a non-residue: q = 3 mod 4).
//
// c0 + c1 * u; both coordinates in Montgomery form and fully reduced, so equal elements have equal bytes. In bytes c0 comes first, as
// in a .zkey file. Same operators as Fp, so point formulas are written once for both groups.
#pragma once

#include <array>
#include <cstdint>

#include "core/field/fp.h"

namespace proofline {

template <class FqT>
struct Fq2 {
  using Fq = FqT;
  static constexpr size_t kBytes = 2 * Fq::kBytes;

  Fq c0, c1;

  static Fq2 Zero() { return Fq2{}; }
  static Fq2 One() { return {Fq::One(), Fq::Zero()}; }
  static Fq2 FromU64(uint64_t v) { return {Fq::FromU64(v), Fq::Zero()}; }
  // Byte forms: c0 then c1, each as in Fp; any alignment.
  static Fq2 LoadMont(const void* bytes) { return {Fq::LoadMont(bytes), Fq::LoadMont(Second(bytes))}; }
  static Fq2 LoadCanon(const void* bytes) { return {Fq::LoadCanon(bytes), Fq::LoadCanon(Second(bytes))}; }
  static bool IsReduced(const void* bytes) { return Fq::IsReduced(bytes) && Fq::IsReduced(Second(bytes)); }
  void StoreMont(void* bytes) const {
    c0.StoreMont(bytes);
    c1.StoreMont(static_cast<uint8_t*>(bytes) + Fq::kBytes);
  }
  void StoreCanon(void* bytes) const {
    c0.StoreCanon(bytes);
    c1.StoreCanon(static_cast<uint8_t*>(bytes) + Fq::kBytes);
  }
  // Treats the limbs as canonical / as Montgomery and converts to the other form.
  Fq2 ToMont() const { return {c0.ToMont(), c1.ToMont()}; }
  Fq2 ToCanon() const { return {c0.ToCanon(), c1.ToCanon()}; }

  bool IsZero() const { return c0.IsZero() && c1.IsZero(); }
  friend bool operator==(const Fq2& a, const Fq2& b) { return a.c0 == b.c0 && a.c1 == b.c1; }

  // r = a op b where r is; r may be a or b. As in Fp, so that loops that store need no copies.
  static void Add(Fq2& r, const Fq2& a, const Fq2& b) {
    Fq::Add(r.c0, a.c0, b.c0);
    Fq::Add(r.c1, a.c1, b.c1);
  }
  static void Sub(Fq2& r, const Fq2& a, const Fq2& b) {
    Fq::Sub(r.c0, a.c0, b.c0);
    Fq::Sub(r.c1, a.c1, b.c1);
  }
  // Multiplication and squaring are calls on purpose: inlined, a point addition over Fq2 would not fit the first-level instruction cache,
  // and files that use the towers would take minutes to compile.
  //
  // Schoolbook with one reduction for each coordinate: faster than Karatsuba's 3 multiplications and 5 additions.
  [[gnu::noinline]] static void Mul(Fq2& r, const Fq2& a, const Fq2& b) {
    const Fq minus_b1 = -b.c1;
    const Fq c0 = Fq::SumOfProducts(a.c0, b.c0, a.c1, minus_b1);
    r.c1 = Fq::SumOfProducts(a.c0, b.c1, a.c1, b.c0);
    r.c0 = c0;
  }
  // Complex squaring: 2 multiplications.
  [[gnu::noinline]] static void Square(Fq2& r, const Fq2& a) {
    const Fq sum = a.c0 + a.c1;
    const Fq difference = a.c0 - a.c1;
    Fq::Mul(r.c1, a.c0, a.c1);
    r.c1 += r.c1;
    Fq::Mul(r.c0, sum, difference);
  }

  friend Fq2 operator+(const Fq2& a, const Fq2& b) {
    Fq2 r;
    Add(r, a, b);
    return r;
  }
  friend Fq2 operator-(const Fq2& a, const Fq2& b) {
    Fq2 r;
    Sub(r, a, b);
    return r;
  }
  friend Fq2 operator*(const Fq2& a, const Fq2& b) {
    Fq2 r;
    Mul(r, a, b);
    return r;
  }
  Fq2 Square() const {
    Fq2 r;
    Square(r, *this);
    return r;
  }
  Fq2 operator-() const { return {-c0, -c1}; }
  Fq2& operator*=(const Fq2& b) {
    Mul(*this, *this, b);
    return *this;
  }
  Fq2& operator+=(const Fq2& b) {
    Add(*this, *this, b);
    return *this;
  }
  Fq2& operator-=(const Fq2& b) {
    Sub(*this, *this, b);
    return *this;
  }
  Fq2 Double() const { return {c0.Double(), c1.Double()}; }
  Fq2 Scale(const Fq& k) const { return {c0 * k, c1 * k}; }
  // The q-th power.
  Fq2 Conjugate() const { return {c0, -c1}; }

  template <size_t E>
  Fq2 Pow(const std::array<uint64_t, E>& e) const {
    Fq2 r = One();
    for (size_t i = E * 64; i-- > 0;) {
      r = r.Square();
      if ((e[i / 64] >> (i % 64)) & 1) r *= *this;
    }
    return r;
  }
  // 1/x over the norm c0^2 + c1^2; 0 for 0.
  [[gnu::noinline]] Fq2 Inverse() const {
    Fq n = (c0.Square() + c1.Square()).Inverse();
    return {c0 * n, -(c1 * n)};
  }

 private:
  static const void* Second(const void* bytes) { return static_cast<const uint8_t*>(bytes) + Fq::kBytes; }
};

}  // namespace proofline
