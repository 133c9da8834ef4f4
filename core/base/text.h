// StrCat: builds a message from strings and integers. No locale, no format string.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace proofline {

namespace text_detail {
inline void Append(std::string& out, std::string_view s) { out += s; }
inline void Append(std::string& out, char c) { out += c; }
template <std::integral T>
  requires(!std::same_as<T, char> && !std::same_as<T, bool>)
void Append(std::string& out, T value) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  out.append(digits, end);
}
}  // namespace text_detail

// Strings, string views, literals, single characters and integers (a uint8_t prints as a number).
template <class... Parts>
std::string StrCat(const Parts&... parts) {
  std::string out;
  (text_detail::Append(out, parts), ...);
  return out;
}

}  // namespace proofline
