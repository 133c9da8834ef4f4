// Values that break careless field code, and random ones from a seed that a failing test prints.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "core/field/fp.h"
#include "core/field/limbs.h"

namespace proofline {

// Raw limbs, all < p, to be read as canonical or as Montgomery: 0, 1, 2, p - 1, p - 2, (p +- 1) / 2, each power 2^k at a word's border,
// words of all ones below p, p with one word cleared.
template <class M>
std::vector<std::array<uint64_t, M::kLimbs>> HostileLimbs() {
  using Limbs = std::array<uint64_t, M::kLimbs>;
  constexpr Limbs p = M::kValue;
  std::vector<Limbs> out = {Limbs{}, {1}, {2}, LimbsSub(p, 1), LimbsSub(p, 2), LimbsDiv(p, 2)};
  Limbs upper_half = LimbsDiv(p, 2);
  upper_half[0] += 1;
  out.push_back(upper_half);
  Limbs ones{};
  for (size_t i = 0; i < M::kLimbs; ++i) {
    Limbs power{};
    power[i] = 1;
    out.push_back(power);
    if (i + 1 < M::kLimbs) {
      ones[i] = ~uint64_t{0};
      out.push_back(ones);
      power[i] = uint64_t{1} << 63;
      out.push_back(power);
    }
    Limbs hole = p;
    hole[i] = 0;
    out.push_back(hole);
  }
  for (int bit = 0; bit < 64; ++bit) {
    Limbs power{};
    power[M::kLimbs - 1] = uint64_t{1} << bit;
    if (field_detail::Less(power, p)) out.push_back(power);
  }
  ones[M::kLimbs - 1] = p[M::kLimbs - 1] - 1;
  out.push_back(ones);
  return out;
}

// Uniform enough below p: rejection by the top word.
template <class M>
std::array<uint64_t, M::kLimbs> RandomLimbs(std::mt19937_64& rng) {
  std::array<uint64_t, M::kLimbs> x;
  do {
    for (auto& word : x) word = rng();
    x[M::kLimbs - 1] &= ~uint64_t{0} >> __builtin_clzll(M::kValue[M::kLimbs - 1]);
  } while (!field_detail::Less(x, M::kValue));
  return x;
}

template <class F>
std::vector<F> HostileElements(std::mt19937_64& rng, int random_count) {
  std::vector<F> out;
  for (const auto& limbs : HostileLimbs<typename F::Modulus>()) {
    out.push_back(F::FromRaw(limbs));
    out.push_back(F::FromRaw(limbs).ToMont());
  }
  for (int i = 0; i < random_count; ++i) out.push_back(F::FromRaw(RandomLimbs<typename F::Modulus>(rng)));
  return out;
}

// A new seed for each run; SCOPED_TRACE it.
inline uint64_t FreshSeed() { return std::random_device{}() | uint64_t{std::random_device{}()} << 32; }

}  // namespace proofline
