// Compile-time arithmetic on limb arrays (little-endian 64-bit words), for exponents such as (q - 1) / 3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace proofline {

// -p^-1 mod 2^64 by Newton iteration.
constexpr uint64_t NegInverse(uint64_t p0) {
  uint64_t inv = 1;
  for (int i = 0; i < 6; ++i) inv *= 2 - p0 * inv;
  return 0 - inv;
}

// x - k. Precondition: x >= k.
template <size_t N>
constexpr std::array<uint64_t, N> LimbsSub(std::array<uint64_t, N> x, uint64_t k) {
  for (size_t i = 0; i < N && k != 0; ++i) {
    uint64_t before = x[i];
    x[i] -= k;
    k = before < k ? 1 : 0;
  }
  return x;
}

// floor(x / k), k != 0.
template <size_t N>
constexpr std::array<uint64_t, N> LimbsDiv(std::array<uint64_t, N> x, uint64_t k) {
  unsigned __int128 rest = 0;
  for (size_t i = N; i-- > 0;) {
    rest = (rest << 64) | x[i];
    x[i] = static_cast<uint64_t>(rest / k);
    rest %= k;
  }
  return x;
}

}  // namespace proofline
