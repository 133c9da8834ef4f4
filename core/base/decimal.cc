#include "core/base/decimal.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace proofline {

namespace {
using Words = std::array<uint32_t, kMaxDecimalBytes / 4>;
constexpr uint32_t kChunk = 1000000000;  // nine digits at a time
constexpr size_t kChunkDigits = 9;

// Remainder of the in-place division by kChunk.
uint32_t DivideByChunk(Words& words) {
  uint64_t rest = 0;
  for (size_t i = words.size(); i-- > 0;) {
    rest = rest << 32 | words[i];
    words[i] = static_cast<uint32_t>(rest / kChunk);
    rest %= kChunk;
  }
  return static_cast<uint32_t>(rest);
}

bool IsZero(const Words& words) {
  uint32_t any = 0;
  for (uint32_t w : words) any |= w;
  return any == 0;
}
}  // namespace

std::string ToDecimal(ByteSpan little_endian) {
  Words words{};
  if (!little_endian.empty()) std::memcpy(words.data(), little_endian.data(), little_endian.size());
  std::string reversed;
  while (!IsZero(words)) {
    uint32_t chunk = DivideByChunk(words);
    for (size_t i = 0; i < kChunkDigits; ++i, chunk /= 10) reversed += static_cast<char>('0' + chunk % 10);
  }
  while (!reversed.empty() && reversed.back() == '0') reversed.pop_back();
  if (reversed.empty()) return "0";
  return {reversed.rbegin(), reversed.rend()};
}

std::string ToHex(ByteSpan little_endian, size_t min_digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = little_endian.size(); i-- > 0;) {
    out += kDigits[little_endian[i] >> 4];
    out += kDigits[little_endian[i] & 15];
  }
  size_t zeros = 0;
  while (zeros < out.size() && out[zeros] == '0') ++zeros;
  out.erase(0, zeros);
  if (out.size() < min_digits) out.insert(0, min_digits - out.size(), '0');
  return out;
}

bool ParseDecimal(std::string_view text, MutableByteSpan little_endian) {
  constexpr size_t kMaxDigits = 155;  // 2^512 has 155
  if (text.empty() || text.size() > kMaxDigits || (text.size() > 1 && text[0] == '0')) return false;
  std::array<uint32_t, kMaxDecimalBytes / 4 + 1> words{};
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    uint64_t carry = static_cast<uint64_t>(c - '0');
    for (uint32_t& w : words) {
      carry += uint64_t{w} * 10;
      w = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
  for (size_t i = little_endian.size(); i < sizeof(words); ++i)
    if (bytes[i] != 0) return false;
  std::copy(bytes, bytes + little_endian.size(), little_endian.begin());
  return true;
}

}  // namespace proofline
