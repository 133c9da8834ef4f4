// Byte views, little-endian loads at any alignment, and arithmetic that cannot wrap unseen.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace proofline {

static_assert(std::endian::native == std::endian::little, "limb arrays and files are little-endian; so must the machine be");

using ByteSpan = std::span<const uint8_t>;
using MutableByteSpan = std::span<uint8_t>;

// Precondition: at least sizeof(T) bytes at `p`. No alignment is assumed.
template <class T>
T LoadLe(const void* p) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

template <class T>
void StoreLe(void* p, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(p, &value, sizeof(T));
}

// nullopt instead of a wrapped value.
template <class T>
std::optional<T> CheckedAdd(T a, T b) {
  T out;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

template <class T>
std::optional<T> CheckedMul(T a, T b) {
  T out;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

}  // namespace proofline
