// Prime field elements in Montgomery form.
//
// Fp<Modulus, Arith>: `limbs` holds x * 2^(64 * kLimbs) mod p, little-endian, always fully reduced, so equal elements have
// equal bytes and the bytes are those of a .zkey file. Arith supplies multiplication: PortableArith (128-bit integers, the
// reference) or AdxArith (mulx/adcx/adox, only on processors that have them; see arith.h). Both give the same bytes; the type
// differs so that a kernel is compiled once for each and chosen once, at run time, in core/groth16/backend.
//
// Not constant time: proving does not promise it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/bytes.h"
#include "core/field/inverse.h"
#include "core/field/limbs.h"
#include "core/field/moduli.h"

namespace proofline {

using uint128 = unsigned __int128;

namespace field_detail {

template <size_t N>
constexpr bool Less(const std::array<uint64_t, N>& a, const std::array<uint64_t, N>& b) {
  for (size_t i = N; i-- > 0;)
    if (a[i] != b[i]) return a[i] < b[i];
  return false;
}

// 2^bits mod p, by doubling. Compile-time only.
template <size_t N>
constexpr std::array<uint64_t, N> PowerOfTwoMod(int bits, const std::array<uint64_t, N>& p) {
  std::array<uint64_t, N> x{};
  x[0] = 1;
  for (int k = 0; k < bits; ++k) {
    uint64_t carry = 0;
    for (size_t i = 0; i < N; ++i) {
      uint64_t top = x[i] >> 63;
      x[i] = (x[i] << 1) | carry;
      carry = top;
    }
    if (carry || !Less(x, p)) {
      uint64_t borrow = 0;
      for (size_t i = 0; i < N; ++i) {
        uint128 d = (uint128)x[i] - p[i] - borrow;
        x[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
      }
    }
  }
  return x;
}

}  // namespace field_detail

struct PortableArith {
  // r = a * b * 2^(-64 N) mod p, all fully reduced. Coarsely integrated operand scanning (Koc, Acar, Kaliski 1996); the top limb
  // of every modulus here has a spare bit, so the carry of the last row fits one word. r may alias a or b.
  template <class M>
  static inline void MulMont(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    constexpr int N = M::kLimbs;
    constexpr uint64_t n0 = NegInverse(M::kValue[0]);
    uint64_t t[N + 1] = {};
    for (int i = 0; i < N; ++i) {
      uint128 c = (uint128)a[0] * b[i] + t[0];
      uint64_t hi = (uint64_t)(c >> 64);
      uint64_t m = (uint64_t)c * n0;
      uint64_t red = (uint64_t)(((uint128)m * M::kValue[0] + (uint64_t)c) >> 64);
      for (int j = 1; j < N; ++j) {
        c = (uint128)a[j] * b[i] + t[j] + hi;
        hi = (uint64_t)(c >> 64);
        uint128 d = (uint128)m * M::kValue[j] + (uint64_t)c + red;
        t[j - 1] = (uint64_t)d;
        red = (uint64_t)(d >> 64);
      }
      t[N - 1] = hi + red;
    }
    ReduceOnce<M>(r, t);
  }

  // r = (a * b + c * d) * 2^(-64 N) mod p with one reduction (Longa, "Efficient algorithms for large prime characteristic fields and
  // their application to bilinear pairings", 2022); all fully reduced. r may alias any. 3p must fit N words.
  template <class M>
  static inline void SumOfProducts(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                   const uint64_t* d) {
    constexpr int N = M::kLimbs;
    constexpr uint64_t n0 = NegInverse(M::kValue[0]);
    static_assert(M::kValue[N - 1] < ~uint64_t{0} / 3 - 1);
    uint64_t t[N] = {};
    for (int i = 0; i < N; ++i) {
      uint64_t top = AddProduct<N>(t, a, b[i]);
      top += AddProduct<N>(t, c, d[i]);
      uint64_t m = t[0] * n0;
      uint64_t carry = (uint64_t)(((uint128)m * M::kValue[0] + t[0]) >> 64);
      for (int j = 1; j < N; ++j) {
        uint128 s = (uint128)m * M::kValue[j] + t[j] + carry;
        t[j - 1] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
      }
      t[N - 1] = top + carry;
    }
    ReduceOnce<M>(r, t);
  }

  // r = a + b, a - b mod p, all fully reduced. r may alias a or b.
  template <class M>
  static inline void Add(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    constexpr int N = M::kLimbs;
    uint64_t t[N];
    uint64_t carry = 0;
    for (int i = 0; i < N; ++i) {
      uint128 s = (uint128)a[i] + b[i] + carry;
      t[i] = (uint64_t)s;
      carry = (uint64_t)(s >> 64);
    }
    ReduceOnce<M>(r, t);
  }
  template <class M>
  static inline void Sub(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    constexpr int N = M::kLimbs;
    uint64_t t[N];
    uint64_t borrow = 0;
    for (int i = 0; i < N; ++i) {
      uint128 d = (uint128)a[i] - b[i] - borrow;
      t[i] = (uint64_t)d;
      borrow = (uint64_t)(d >> 64) & 1;
    }
    uint64_t mask = 0 - borrow;
    uint64_t carry = 0;
    for (int i = 0; i < N; ++i) {
      uint128 s = (uint128)t[i] + (M::kValue[i] & mask) + carry;
      r[i] = (uint64_t)s;
      carry = (uint64_t)(s >> 64);
    }
  }

 private:
  // t += a * k; the word that does not fit is returned.
  template <int N>
  static inline uint64_t AddProduct(uint64_t* t, const uint64_t* a, uint64_t k) {
    uint64_t carry = 0;
    for (int j = 0; j < N; ++j) {
      uint128 s = (uint128)a[j] * k + t[j] + carry;
      t[j] = (uint64_t)s;
      carry = (uint64_t)(s >> 64);
    }
    return carry;
  }

  // r = t - p if t >= p else t, for t < 2p.
  template <class M>
  static inline void ReduceOnce(uint64_t* r, const uint64_t* t) {
    constexpr int N = M::kLimbs;
    uint64_t s[N];
    uint64_t borrow = 0;
    for (int i = 0; i < N; ++i) {
      uint128 d = (uint128)t[i] - M::kValue[i] - borrow;
      s[i] = (uint64_t)d;
      borrow = (uint64_t)(d >> 64) & 1;
    }
    uint64_t keep = 0 - borrow;
    for (int i = 0; i < N; ++i) r[i] = (t[i] & keep) | (s[i] & ~keep);
  }
};

template <class M, class Arith = PortableArith>
struct Fp {
  using Modulus = M;
  static constexpr int kLimbs = M::kLimbs;
  static constexpr size_t kBytes = kLimbs * 8;
  static constexpr std::array<uint64_t, kLimbs> kR = field_detail::PowerOfTwoMod(64 * kLimbs, M::kValue);
  static constexpr std::array<uint64_t, kLimbs> kR2 = field_detail::PowerOfTwoMod(128 * kLimbs, M::kValue);
  static constexpr std::array<uint64_t, kLimbs> kR3 = field_detail::PowerOfTwoMod(192 * kLimbs, M::kValue);

  uint64_t limbs[kLimbs];

  static Fp Zero() { return Fp{}; }
  static Fp One() { return FromRaw(kR); }
  static Fp FromRaw(const std::array<uint64_t, kLimbs>& mont) {
    Fp x;
    for (int i = 0; i < kLimbs; ++i) x.limbs[i] = mont[i];
    return x;
  }
  static Fp FromU64(uint64_t v) {
    Fp x{};
    x.limbs[0] = v;
    return x.ToMont();
  }
  // `bytes`: kBytes little-endian bytes already in Montgomery form and < p, at any alignment.
  static Fp LoadMont(const void* bytes) { return LoadLe<Fp>(bytes); }
  // `bytes`: canonical little-endian, < p.
  static Fp LoadCanon(const void* bytes) { return LoadLe<Fp>(bytes).ToMont(); }
  // True if the kBytes little-endian bytes are a value < p.
  static bool IsReduced(const void* bytes) {
    std::array<uint64_t, kLimbs> x = LoadLe<std::array<uint64_t, kLimbs>>(bytes);
    return field_detail::Less(x, M::kValue);
  }

  // Treats the limbs as canonical / as Montgomery and converts to the other form.
  Fp ToMont() const { return *this * FromRaw(kR2); }
  Fp ToCanon() const {
    Fp one{};
    one.limbs[0] = 1;
    return *this * one;
  }
  void StoreMont(void* bytes) const { StoreLe(bytes, *this); }
  void StoreCanon(void* bytes) const { StoreLe(bytes, ToCanon()); }

  bool IsZero() const {
    uint64_t acc = 0;
    for (int i = 0; i < kLimbs; ++i) acc |= limbs[i];
    return acc == 0;
  }
  friend bool operator==(const Fp& a, const Fp& b) {
    uint64_t acc = 0;
    for (int i = 0; i < kLimbs; ++i) acc |= a.limbs[i] ^ b.limbs[i];
    return acc == 0;
  }

  // r = a op b where r is; r may be a or b. For loops that store: `x = a * b` copies, see operator*= below.
  static void Mul(Fp& r, const Fp& a, const Fp& b) { Arith::template MulMont<M>(r.limbs, a.limbs, b.limbs); }
  static void Square(Fp& r, const Fp& a) { Mul(r, a, a); }
  static void Add(Fp& r, const Fp& a, const Fp& b) { Arith::template Add<M>(r.limbs, a.limbs, b.limbs); }
  static void Sub(Fp& r, const Fp& a, const Fp& b) { Arith::template Sub<M>(r.limbs, a.limbs, b.limbs); }

  friend Fp operator*(const Fp& a, const Fp& b) {
    Fp r;
    Arith::template MulMont<M>(r.limbs, a.limbs, b.limbs);
    return r;
  }
  friend Fp operator+(const Fp& a, const Fp& b) {
    Fp r;
    Arith::template Add<M>(r.limbs, a.limbs, b.limbs);
    return r;
  }
  friend Fp operator-(const Fp& a, const Fp& b) {
    Fp r;
    Arith::template Sub<M>(r.limbs, a.limbs, b.limbs);
    return r;
  }
  Fp operator-() const { return Zero() - *this; }
  // a * b + c * d, cheaper than that. Only for moduli with 3p < 2^(64 kLimbs): the two Fq.
  static Fp SumOfProducts(const Fp& a, const Fp& b, const Fp& c, const Fp& d) {
    Fp r;
    Arith::template SumOfProducts<M>(r.limbs, a.limbs, b.limbs, c.limbs, d.limbs);
    return r;
  }
  // In place, so that no copy of a value just stored is loaded in wider pieces (which stalls store forwarding).
  Fp& operator*=(const Fp& b) {
    Arith::template MulMont<M>(limbs, limbs, b.limbs);
    return *this;
  }
  Fp& operator+=(const Fp& b) {
    Arith::template Add<M>(limbs, limbs, b.limbs);
    return *this;
  }
  Fp& operator-=(const Fp& b) {
    Arith::template Sub<M>(limbs, limbs, b.limbs);
    return *this;
  }
  Fp Square() const { return *this * *this; }
  Fp Double() const { return *this + *this; }

  // this^e for a little-endian exponent.
  template <size_t E>
  [[gnu::noinline]] Fp Pow(const std::array<uint64_t, E>& e) const {
    Fp r = One();
    for (size_t i = E * 64; i-- > 0;) {
      r = r.Square();
      if ((e[i / 64] >> (i % 64)) & 1) r *= *this;
    }
    return r;
  }
  // 1/x; 0 for 0.
  [[gnu::noinline]] Fp Inverse() const {
    std::array<uint64_t, kLimbs> raw;
    for (int i = 0; i < kLimbs; ++i) raw[i] = limbs[i];
    // (x R)^-1 R^3 / R = x^-1 R
    return FromRaw(InvertModulo<M>(raw)) * FromRaw(kR3);
  }
  // The same as x^(p-2).
  [[gnu::noinline]] Fp InverseFermat() const { return Pow(LimbsSub(M::kValue, 2)); }
};

// x[i] = 1 / x[i], zeros stay 0; one inversion in all (Montgomery's trick). `scratch` has room for x.size() elements.
template <class F>
void BatchInvert(std::span<F> x, std::span<F> scratch) {
  F product = F::One();
  for (size_t i = 0; i < x.size(); ++i) {
    scratch[i] = product;
    if (!x[i].IsZero()) product *= x[i];
  }
  F inverse = product.Inverse();
  for (size_t i = x.size(); i-- > 0;) {
    if (x[i].IsZero()) continue;
    F next = inverse * x[i];
    x[i] = inverse * scratch[i];
    inverse = next;
  }
}

}  // namespace proofline
