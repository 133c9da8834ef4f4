// Field elements of a circuit: allocation, arithmetic, bits of a number and numbers of bits.
#pragma once

#include <span>
#include <vector>

#include "core/circuits/filecoin/boolean.h"

namespace proofline::filecoin {

template <class CS>
struct Num {
  [[no_unique_address]] typename CS::Var var{};
  [[no_unique_address]] typename CS::Scalar value{};
};

// A chunk of bits that is a number without wrapping: Fr's capacity.
inline constexpr int kFrCapacity = 254;

template <class CS>
Num<CS> AllocNum(CS& cs, const typename CS::Scalar& value) {
  return {cs.AllocAux(value), value};
}

// A public input equal to x: in * 1 = x.
template <class CS>
void Inputize(CS& cs, const Num<CS>& x) {
  auto in = cs.AllocInput(x.value);
  cs.Enforce([&](auto& s) { s.Add(in); }, [&](auto& s) { s.Add(CS::kOne); }, [&](auto& s) { s.Add(x.var); });
}

template <class CS>
Num<CS> Multiply(CS& cs, const Num<CS>& a, const Num<CS>& b) {
  Num<CS> c = AllocNum(cs, a.value * b.value);
  cs.Enforce([&](auto& s) { s.Add(a.var); }, [&](auto& s) { s.Add(b.var); }, [&](auto& s) { s.Add(c.var); });
  return c;
}

// a * 1 = b.
template <class CS>
void EnforceEqual(CS& cs, const Num<CS>& a, const Num<CS>& b) {
  cs.Enforce([&](auto& s) { s.Add(a.var); }, [&](auto& s) { s.Add(CS::kOne); }, [&](auto& s) { s.Add(b.var); });
}

// (a + b) * 1 = c.
template <class CS>
Num<CS> Add(CS& cs, const Num<CS>& a, const Num<CS>& b) {
  Num<CS> c = AllocNum(cs, a.value + b.value);
  cs.Enforce(
      [&](auto& s) {
        s.Add(a.var);
        s.Add(b.var);
      },
      [&](auto& s) { s.Add(CS::kOne); }, [&](auto& s) { s.Add(c.var); });
  return c;
}

// (d + b) * 1 = a.
template <class CS>
Num<CS> Subtract(CS& cs, const Num<CS>& a, const Num<CS>& b) {
  Num<CS> d = AllocNum(cs, a.value - b.value);
  cs.Enforce(
      [&](auto& s) {
        s.Add(d.var);
        s.Add(b.var);
      },
      [&](auto& s) { s.Add(CS::kOne); }, [&](auto& s) { s.Add(a.var); });
  return d;
}

// sum += sum over i of 2^i * bits[i].
template <class CS, class Sum>
void AddBits(Sum& sum, std::span<const Boolean<CS>> bits) {
  for (size_t i = 0; i < bits.size(); ++i) AddTo(sum, PowerOfTwo(static_cast<int>(i)), bits[i]);
}

// The value of up to 256 bits, least significant first.
template <class CS>
typename CS::Scalar BitsValue(std::span<const Boolean<CS>> bits) {
  return CS::Value([&] {
    Fr x = Fr::Zero();
    for (size_t i = 0; i < bits.size(); ++i) x.limbs[i / 64] |= uint64_t{bits[i].value()} << (i % 64);
    return x.ToMont();
  });
}

// 255 bits of x, least significant first, each with its own row, no sum yet.
template <class CS>
std::vector<Boolean<CS>> AllocBitsOf(CS& cs, const Num<CS>& x) {
  std::vector<Boolean<CS>> bits;
  bits.reserve(kFrBits + 1);
  if constexpr (CS::kHasValues) {
    const Fr canonical = x.value.ToCanon();
    for (int i = 0; i < kFrBits; ++i) bits.push_back(AllocBit(cs, (canonical.limbs[i / 64] >> (i % 64)) & 1));
  } else {
    for (int i = 0; i < kFrBits; ++i) bits.push_back(AllocBit(cs, false));
  }
  return bits;
}

// The bits of x: 255 rows for bits, and 0 * 0 = sum - x. Not unique: x + r fits for small x, and keys were made so.
template <class CS>
std::vector<Boolean<CS>> ToBits(CS& cs, const Num<CS>& x) {
  std::vector<Boolean<CS>> bits = AllocBitsOf(cs, x);
  cs.Enforce(kNothing, kNothing, [&](auto& s) {
    AddBits<CS>(s, bits);
    s.Subtract(x.var);
  });
  return bits;
}

// A new number from at most 254 bits: sum * 1 = n.
template <class CS>
Num<CS> PackBits(CS& cs, std::span<const Boolean<CS>> bits) {
  bits = bits.first(std::min<size_t>(bits.size(), kFrCapacity));
  Num<CS> n = AllocNum(cs, BitsValue<CS>(bits));
  cs.Enforce([&](auto& s) { AddBits<CS>(s, bits); }, [&](auto& s) { s.Add(CS::kOne); }, [&](auto& s) { s.Add(n.var); });
  return n;
}

// Public inputs from bits, 254 to each.
template <class CS>
void PackIntoInputs(CS& cs, std::span<const Boolean<CS>> bits) {
  while (!bits.empty()) {
    auto chunk = bits.first(std::min<size_t>(bits.size(), kFrCapacity));
    bits = bits.subspan(chunk.size());
    auto in = cs.AllocInput(BitsValue<CS>(chunk));
    cs.Enforce([&](auto& s) { AddBits<CS>(s, chunk); }, [&](auto& s) { s.Add(CS::kOne); }, [&](auto& s) { s.Add(in); });
  }
}

}  // namespace proofline::filecoin
