// Constants written as people print them: a hexadecimal string, most significant digit first, turned into limbs by the compiler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace proofline {

// Little-endian 64-bit limbs of "0x..." or "...". A bad digit or a value too wide for N limbs does not compile.
template <size_t N>
consteval std::array<uint64_t, N> HexLimbs(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::array<uint64_t, N> limbs{};
  size_t bit = 0;
  for (size_t i = text.size(); i-- > 0; bit += 4) {
    char c = text[i];
    uint64_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<uint64_t>(c - 'a') + 10;
    } else {
      throw "not a lower-case hexadecimal digit";
    }
    if (digit != 0) limbs.at(bit / 64) |= digit << (bit % 64);
  }
  return limbs;
}

}  // namespace proofline
