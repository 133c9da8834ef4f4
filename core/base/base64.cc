#include "core/base/base64.h"

#include <algorithm>
#include <openssl/evp.h>

namespace proofline {

std::optional<std::string> Base64Decode(std::string_view text) {
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  // The library takes white space and misplaced padding.
  auto in_alphabet = [](unsigned char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  };
  if (text.size() % 4 != 0 || !std::all_of(text.begin(), text.end() - padding, in_alphabet)) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  constexpr size_t kPiece = size_t{1} << 24;  // lengths are ints
  for (size_t at = 0; at < text.size(); at += kPiece) {
    const size_t length = std::min(kPiece, text.size() - at);
    const int decoded = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data() + at / 4 * 3),
                                        reinterpret_cast<const unsigned char*>(text.data() + at), static_cast<int>(length));
    if (decoded < 0) return std::nullopt;
  }
  out.resize(out.size() - padding);
  return out;
}

}  // namespace proofline
