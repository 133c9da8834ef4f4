// Bits of a circuit: allocated bits and Booleans (a bit, a negated bit or a constant).
//
// Which rule applies when operands are constant decides what is allocated, so the order of the rules is part of the circuit.
#pragma once

#include "core/circuits/filecoin/constraint_system.h"

namespace proofline::filecoin {

enum class BitKind : uint8_t { kConst, kIs, kNot };

template <class CS>
struct Boolean {
  BitKind kind = BitKind::kConst;
  bool bit = false;  // the constant, or the value of the variable (not of its negation)
  [[no_unique_address]] typename CS::Var var{};

  static Boolean Constant(bool value) { return {BitKind::kConst, value, {}}; }
  static Boolean Is(typename CS::Var var, bool bit) { return {BitKind::kIs, bit, var}; }
  bool is_const() const { return kind == BitKind::kConst; }
  bool is_const(bool value) const { return is_const() && bit == value; }
  bool value() const { return bit != (kind == BitKind::kNot); }

  friend Boolean operator!(Boolean x) {
    switch (x.kind) {
      case BitKind::kConst: x.bit = !x.bit; break;
      case BitKind::kIs: x.kind = BitKind::kNot; break;
      case BitKind::kNot: x.kind = BitKind::kIs; break;
    }
    return x;
  }
};

// sum += k * x.
template <class CS, class Sum>
void AddTo(Sum& sum, const Fr& k, const Boolean<CS>& x) {
  switch (x.kind) {
    case BitKind::kConst:
      if (x.bit) sum.Add(k, CS::kOne);
      return;
    case BitKind::kIs: sum.Add(k, x.var); return;
    case BitKind::kNot:
      sum.Add(k, CS::kOne);
      sum.Add(-k, x.var);
      return;
  }
}
template <class CS, class Sum>
void AddTo(Sum& sum, const Boolean<CS>& x) {
  AddTo(sum, Fr::One(), x);
}

// (1 - v) * v = 0.
template <class CS>
Boolean<CS> AllocBit(CS& cs, bool value) {
  auto v = cs.AllocBit(value);
  cs.Enforce([&](auto& a) { a.Add(CS::kOne); a.Subtract(v); }, [&](auto& b) { b.Add(v); }, kNothing);
  return Boolean<CS>::Is(v, value);
}

// A bit that must be 0 where `must_be_false` is 1: (1 - m - v) * v = 0. `must_be_false` is a plain bit.
template <class CS>
Boolean<CS> AllocBitUnless(CS& cs, const Boolean<CS>& must_be_false, bool value) {
  auto v = cs.AllocBit(value);
  cs.Enforce(
      [&](auto& a) {
        a.Add(CS::kOne);
        a.Subtract(must_be_false.var);
        a.Subtract(v);
      },
      [&](auto& b) { b.Add(v); }, kNothing);
  return Boolean<CS>::Is(v, value);
}

namespace boolean_detail {

// c = a' * b', where each side is the variable or one minus it.
template <class CS>
Boolean<CS> Product(CS& cs, const Boolean<CS>& a, bool invert_a, const Boolean<CS>& b, bool invert_b) {
  const bool value = (a.bit != invert_a) && (b.bit != invert_b);
  auto c = cs.AllocBit(value);
  auto side = [](auto& sum, const Boolean<CS>& x, bool invert) {
    if (invert) {
      sum.Add(CS::kOne);
      sum.Subtract(x.var);
    } else {
      sum.Add(x.var);
    }
  };
  cs.Enforce([&](auto& s) { side(s, a, invert_a); }, [&](auto& s) { side(s, b, invert_b); }, [&](auto& s) { s.Add(c); });
  return Boolean<CS>::Is(c, value);
}

// 2a * b = a + b - c.
template <class CS>
Boolean<CS> XorBits(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  const bool value = a.bit != b.bit;
  auto c = cs.AllocBit(value);
  cs.Enforce([&](auto& s) { s.Add(PowerOfTwo(1), a.var); }, [&](auto& s) { s.Add(b.var); },
             [&](auto& s) {
               s.Add(a.var);
               s.Add(b.var);
               s.Subtract(c);
             });
  return Boolean<CS>::Is(c, value);
}

}  // namespace boolean_detail

template <class CS>
Boolean<CS> AndBits(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  return boolean_detail::Product(cs, a, false, b, false);
}
template <class CS>
Boolean<CS> NorBits(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  return boolean_detail::Product(cs, a, true, b, true);
}
template <class CS>
Boolean<CS> AndNotBits(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  return boolean_detail::Product(cs, a, false, b, true);
}

template <class CS>
Boolean<CS> Xor(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  if (a.is_const(false)) return b;
  if (b.is_const(false)) return a;
  if (a.is_const(true)) return !b;
  if (b.is_const(true)) return !a;
  if (a.kind == b.kind) return boolean_detail::XorBits(cs, a, b);
  // The plain operand comes first, whatever the order of the arguments.
  return a.kind == BitKind::kIs ? !boolean_detail::XorBits(cs, a, b) : !boolean_detail::XorBits(cs, b, a);
}

template <class CS>
Boolean<CS> And(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  if (a.is_const(false) || b.is_const(false)) return Boolean<CS>::Constant(false);
  if (a.is_const(true)) return b;
  if (b.is_const(true)) return a;
  if (a.kind == BitKind::kNot && b.kind == BitKind::kNot) return NorBits(cs, a, b);
  if (b.kind == BitKind::kNot) return AndNotBits(cs, a, b);
  if (a.kind == BitKind::kNot) return AndNotBits(cs, b, a);
  return AndBits(cs, a, b);
}

// SHA-256's choice: b where a, else c. With variables: (b - c) * a = ch - c.
template <class CS>
Boolean<CS> Sha256Choose(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b, const Boolean<CS>& c) {
  const bool value = a.value() ? b.value() : c.value();
  if (a.is_const() && b.is_const() && c.is_const()) return Boolean<CS>::Constant(value);
  if (a.is_const(false)) return c;
  if (b.is_const(false)) return And(cs, !a, c);
  if (c.is_const(false)) return And(cs, a, b);
  if (c.is_const(true)) return !And(cs, a, !b);
  if (b.is_const(true)) return !And(cs, !a, !c);
  auto ch = cs.AllocBit(value);
  cs.Enforce(
      [&](auto& s) {
        AddTo(s, b);
        AddTo(s, -Fr::One(), c);
      },
      [&](auto& s) { AddTo(s, a); },
      [&](auto& s) {
        s.Add(ch);
        AddTo(s, -Fr::One(), c);
      });
  return Boolean<CS>::Is(ch, value);
}

// SHA-256's majority. With variables, maj is allocated before both = b and c: (2 both - b - c) * a = both - maj.
template <class CS>
Boolean<CS> Sha256Majority(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b, const Boolean<CS>& c) {
  const bool value = (a.value() && b.value()) || (a.value() && c.value()) || (b.value() && c.value());
  if (a.is_const() && b.is_const() && c.is_const()) return Boolean<CS>::Constant(value);
  if (a.is_const(false)) return And(cs, b, c);
  if (b.is_const(false)) return And(cs, a, c);
  if (c.is_const(false)) return And(cs, a, b);
  if (c.is_const(true)) return !And(cs, !a, !b);
  if (b.is_const(true)) return !And(cs, !a, !c);
  if (a.is_const(true)) return !And(cs, !b, !c);
  auto maj = cs.AllocBit(value);
  const Boolean<CS> both = And(cs, b, c);
  cs.Enforce(
      [&](auto& s) {
        AddTo(s, PowerOfTwo(1), both);
        AddTo(s, -Fr::One(), b);
        AddTo(s, -Fr::One(), c);
      },
      [&](auto& s) { AddTo(s, a); },
      [&](auto& s) {
        AddTo(s, both);
        s.Subtract(maj);
      });
  return Boolean<CS>::Is(maj, value);
}

}  // namespace proofline::filecoin
