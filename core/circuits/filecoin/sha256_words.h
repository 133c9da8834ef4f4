// SHA-256's compression for witnesses: whole words instead of bits, the same values in the same order as sha256_gadget.h's bitwise form.
//
// The constraint system has PutBits(bits, count): `count` new auxiliary values that are bits, least significant first.
#pragma once

#include "core/circuits/filecoin/uint32.h"
#include "core/circuits/sha256_constants.h"

namespace proofline::filecoin {

namespace sha256_words {

// 32 Booleans: what is allocated (`var`), of that what is negated (`neg`), and the values of variables and constants (`bits`).
struct Masked {
  uint32_t bits = 0, var = 0, neg = 0;
  uint32_t value() const { return bits ^ neg; }
};

inline constexpr uint32_t kAll = ~uint32_t{0};

template <class CS>
Masked FromWord(const Word32<CS>& w) {
  Masked m;
  for (int i = 0; i < 32; ++i) {
    m.bits |= uint32_t{w[i].bit} << i;
    m.var |= uint32_t{!w[i].is_const()} << i;
    m.neg |= uint32_t{w[i].kind == BitKind::kNot} << i;
  }
  return m;
}

template <class CS>
Word32<CS> ToWord(const Masked& m) {
  Word32<CS> w;
  for (int i = 0; i < 32; ++i) {
    const bool var = (m.var >> i) & 1, neg = (m.neg >> i) & 1;
    w[i].kind = !var ? BitKind::kConst : neg ? BitKind::kNot : BitKind::kIs;
    w[i].bit = (m.bits >> i) & 1;
  }
  return w;
}

inline Masked Constant(uint32_t value) { return {value, 0, 0}; }
inline uint32_t Rotate(uint32_t x, int by) { return x >> by | x << (32 - by); }
inline Masked RotateRight(const Masked& m, int by) { return {Rotate(m.bits, by), Rotate(m.var, by), Rotate(m.neg, by)}; }
inline Masked ShiftRight(const Masked& m, int by) { return {m.bits >> by, m.var >> by, m.neg >> by}; }

template <class CS>
void PutMasked(CS& cs, uint32_t bits, uint32_t mask) {
  if (mask == kAll) return cs.PutBits(bits, 32);
  for (; mask != 0; mask &= mask - 1) cs.PutBits((bits >> std::countr_zero(mask)) & 1, 1);
}

// Xor of boolean.h for 32 bits at once.
template <class CS>
Masked Xor(CS& cs, const Masked& x, const Masked& y) {
  const uint32_t both = x.var & y.var, only_x = x.var & ~y.var, only_y = y.var & ~x.var, mixed = x.bits ^ y.bits;
  PutMasked(cs, mixed, both);
  Masked r;
  r.var = x.var | y.var;
  r.bits = (mixed & ~(only_x | only_y)) | (x.bits & only_x) | (y.bits & only_y);
  r.neg = ((x.neg ^ y.neg) & both) | ((x.neg ^ y.bits) & only_x) | ((y.neg ^ x.bits) & only_y);
  return r;
}

template <class CS>
Masked Sigma(CS& cs, const Masked& x, int r0, int r1, int r2) {
  return Xor(cs, Xor(cs, RotateRight(x, r0), RotateRight(x, r1)), RotateRight(x, r2));
}
template <class CS>
Masked SigmaShift(CS& cs, const Masked& x, int r0, int r1, int r2) {
  return Xor(cs, Xor(cs, RotateRight(x, r0), RotateRight(x, r1)), ShiftRight(x, r2));
}

// Where constants meet variables, bit by bit.
template <class CS, class F>
Masked Bitwise(CS& cs, const Masked& a, const Masked& b, const Masked& c, const F& rule) {
  const Word32<CS> wa = ToWord<CS>(a), wb = ToWord<CS>(b), wc = ToWord<CS>(c);
  Word32<CS> r;
  for (int i = 0; i < 32; ++i) r[i] = rule(cs, wa[i], wb[i], wc[i]);
  return FromWord<CS>(r);
}

template <class CS>
Masked Choose(CS& cs, const Masked& a, const Masked& b, const Masked& c) {
  if ((a.var & b.var & c.var) != kAll)
    return Bitwise(cs, a, b, c, [](CS& s, const auto& x, const auto& y, const auto& z) { return Sha256Choose(s, x, y, z); });
  const uint32_t ch = (a.value() & b.value()) | (~a.value() & c.value());
  cs.PutBits(ch, 32);
  return {ch, kAll, 0};
}

// Bit i of `even` at 2i, of `odd` at 2i + 1.
inline uint64_t Interleave(uint32_t even, uint32_t odd) {
  auto spread = [](uint64_t x) {
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    return (x | x << 1) & 0x5555555555555555;
  };
  return spread(even) | spread(odd) << 1;
}

template <class CS>
Masked Majority(CS& cs, const Masked& a, const Masked& b, const Masked& c) {
  if ((a.var & b.var & c.var) != kAll)
    return Bitwise(cs, a, b, c, [](CS& s, const auto& x, const auto& y, const auto& z) { return Sha256Majority(s, x, y, z); });
  const uint32_t both = b.value() & c.value();
  const uint32_t maj = both | (a.value() & (b.value() | c.value()));
  const uint64_t pairs = Interleave(maj, both);
  cs.PutBits(static_cast<uint32_t>(pairs), 32);
  cs.PutBits(pairs >> 32, 32);
  return {maj, kAll, 0};
}

// The operands of a sum.
struct Sum {
  uint64_t value = 0;
  uint32_t var = 0;
  size_t count = 0;
  Sum& operator+=(const Masked& m) {
    value += m.value();
    var |= m.var;
    ++count;
    return *this;
  }
};

template <class CS>
Masked Force(CS& cs, const Sum& sum) {
  const uint32_t word = static_cast<uint32_t>(sum.value);
  if (sum.var == 0) return Constant(word);
  cs.PutBits(sum.value, SumBits(sum.count));
  return {word, kAll, 0};
}

// A register: a word, or a sum not made yet.
struct Lazy {
  Masked word;
  Sum sum;  // if count > 0
};
template <class CS>
Masked Force(CS& cs, const Lazy& lazy) {
  return lazy.sum.count > 0 ? Force(cs, lazy.sum) : lazy.word;
}

template <class CS>
void Schedule(CS& cs, Masked* w) {
  for (int i = 16; i < 64; ++i) {
    const Masked s0 = SigmaShift(cs, w[i - 15], 7, 18, 3), s1 = SigmaShift(cs, w[i - 2], 17, 19, 10);
    Sum sum;
    sum += w[i - 16];
    sum += s0;
    sum += w[i - 7];
    sum += s1;
    w[i] = Force(cs, sum);
  }
}

}  // namespace sha256_words

template <class CS>
std::array<Word32<CS>, 8> WordwiseCompress(CS& cs, std::span<const Boolean<CS>> block, const std::array<Word32<CS>, 8>& state) {
  using namespace sha256_words;
  Masked w[64], s[8];
  for (int i = 0; i < 16; ++i) w[i] = FromWord<CS>(WordFromBigEndian<CS>(block.subspan(32 * i, 32)));
  for (int i = 0; i < 8; ++i) s[i] = FromWord<CS>(state[i]);
  Schedule(cs, w);
  Lazy a{s[0], {}}, e{s[4], {}};
  Masked b = s[1], c = s[2], d = s[3], f = s[5], g = s[6], h = s[7];
  for (int i = 0; i < 64; ++i) {
    const Masked new_e = Force(cs, e);
    Sum temp = {};
    temp += h;
    temp += Sigma(cs, new_e, 6, 11, 25);
    temp += Choose(cs, new_e, f, g);
    temp += Constant(kSha256Round[i]);
    temp += w[i];
    const Masked new_a = Force(cs, a);
    e.sum = temp;
    e.sum += d;
    a.sum = temp;
    a.sum += Sigma(cs, new_a, 2, 13, 22);
    a.sum += Majority(cs, new_a, b, c);
    h = g;
    g = f;
    f = new_e;
    d = c;
    c = b;
    b = new_a;
  }
  a.sum += s[0];
  e.sum += s[4];
  std::array<Word32<CS>, 8> out;
  auto plus = [&](const Masked& x, int i) {
    Sum sum;
    sum += s[i];
    sum += x;
    return ToWord<CS>(Force(cs, sum));
  };
  out[0] = ToWord<CS>(Force(cs, a));
  out[1] = plus(b, 1);
  out[2] = plus(c, 2);
  out[3] = plus(d, 3);
  out[4] = ToWord<CS>(Force(cs, e));
  out[5] = plus(f, 5);
  out[6] = plus(g, 6);
  out[7] = plus(h, 7);
  return out;
}

}  // namespace proofline::filecoin
