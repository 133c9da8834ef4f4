// Base64 (RFC 4648, with padding), by OpenSSL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proofline {

// nullopt unless the text is whole groups of four from the standard alphabet, padded at the end. Allocates the result alone.
std::optional<std::string> Base64Decode(std::string_view text);

}  // namespace proofline
