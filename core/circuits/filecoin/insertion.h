// Putting an element among its siblings at a place given by bits, and picking one of a list.
#pragma once

#include <cstdlib>
#include <span>
#include <vector>

#include "core/circuits/filecoin/number.h"

namespace proofline::filecoin {

// a where the bit is 1, else b: (b - a) * bit = b - c. The bit is a plain one.
template <class CS>
Num<CS> Pick(CS& cs, const Boolean<CS>& bit, const Num<CS>& a, const Num<CS>& b) {
  Num<CS> c = AllocNum(cs, CS::Value([&] { return bit.value() ? a.value : b.value; }));
  cs.Enforce(
      [&](auto& s) {
        s.Add(b.var);
        s.Subtract(a.var);
      },
      [&](auto& s) { AddTo(s, bit); },
      [&](auto& s) {
        s.Add(b.var);
        s.Subtract(c.var);
      });
  return c;
}

namespace insertion_detail {

template <class CS>
std::vector<Num<CS>> Insert2(CS& cs, const Num<CS>& x, std::span<const Boolean<CS>> bit, std::span<const Num<CS>> s) {
  Num<CS> p0 = Pick(cs, bit[0], s[0], x);
  Num<CS> p1 = Pick(cs, bit[0], x, s[0]);
  return {p0, p1};
}

template <class CS>
std::vector<Num<CS>> Insert4(CS& cs, const Num<CS>& x, std::span<const Boolean<CS>> bit, std::span<const Num<CS>> s) {
  const Num<CS>&b = s[0], &c = s[1], &d = s[2];
  auto pick = [&](int i, const Num<CS>& yes, const Num<CS>& no) { return Pick(cs, bit[i], yes, no); };
  Num<CS> u0 = pick(0, b, x), p0 = pick(1, b, u0);
  Num<CS> u1 = pick(0, x, b), p1 = pick(1, c, u1);
  Num<CS> u2 = pick(0, d, x), p2 = pick(1, u2, c);
  Num<CS> u3 = pick(0, x, d), p3 = pick(1, u3, d);
  return {p0, p1, p2, p3};
}

template <class CS>
std::vector<Num<CS>> Insert8(CS& cs, const Num<CS>& x, std::span<const Boolean<CS>> bit, std::span<const Num<CS>> s) {
  const Boolean<CS> nor = NorBits(cs, bit[0], bit[1]), both = AndBits(cs, bit[0], bit[1]);
  const Num<CS>&b = s[0], &c = s[1], &d = s[2], &e = s[3], &f = s[4], &g = s[5], &h = s[6];
  auto pick = [&](const Boolean<CS>& i, const Num<CS>& yes, const Num<CS>& no) { return Pick(cs, i, yes, no); };
  const Boolean<CS>&b0 = bit[0], &b1 = bit[1], &b2 = bit[2];
  Num<CS> q0 = pick(nor, x, b), p0 = pick(b2, b, q0);
  Num<CS> u1 = pick(b0, x, b), q1 = pick(b1, c, u1), p1 = pick(b2, c, q1);
  Num<CS> u2 = pick(b0, d, x), q2 = pick(b1, u2, c), p2 = pick(b2, d, q2);
  Num<CS> q3 = pick(both, x, d), p3 = pick(b2, e, q3);
  Num<CS> q4 = pick(nor, x, f), p4 = pick(b2, q4, e);
  Num<CS> u5 = pick(b0, x, f), q5 = pick(b1, g, u5), p5 = pick(b2, q5, f);
  Num<CS> u6 = pick(b0, h, x), q6 = pick(b1, u6, g), p6 = pick(b2, q6, g);
  Num<CS> q7 = pick(both, x, h), p7 = pick(b2, q7, h);
  return {p0, p1, p2, p3, p4, p5, p6, p7};
}

}  // namespace insertion_detail

// The siblings with x put in at index `bits` (plain bits, least significant first). 1, 3 or 7 siblings; anything else stops the program.
template <class CS>
std::vector<Num<CS>> Insert(CS& cs, const Num<CS>& x, std::span<const Boolean<CS>> bits, std::span<const Num<CS>> siblings) {
  switch (siblings.size()) {
    case 1: return insertion_detail::Insert2(cs, x, bits, siblings);
    case 3: return insertion_detail::Insert4(cs, x, bits, siblings);
    case 7: return insertion_detail::Insert8(cs, x, bits, siblings);
    default: std::abort();
  }
}

// The element at index `bits`, least significant first. Precondition: 2^bits.size() elements.
template <class CS>
Num<CS> Select(CS& cs, std::vector<Num<CS>> elements, std::span<const Boolean<CS>> bits) {
  for (size_t k = bits.size(); k-- > 0;) {
    const size_t half = elements.size() / 2;
    for (size_t j = 0; j < half; ++j) elements[j] = Pick(cs, bits[k], elements[half + j], elements[j]);
    elements.resize(half, elements[0]);
  }
  return elements[0];
}

}  // namespace proofline::filecoin
