// Little-endian bytes <-> decimal text, for the JSON files of snarkjs.
#pragma once

#include <string>
#include <string_view>

#include "core/base/bytes.h"

namespace proofline {

// The longest value handled, in bytes: 48 are needed (Fq of BLS12-381).
inline constexpr size_t kMaxDecimalBytes = 64;

// "0" for zero, no leading zeros otherwise. Precondition: at most kMaxDecimalBytes bytes.
std::string ToDecimal(ByteSpan little_endian);
// At least `min_digits` lower-case hexadecimal digits, no prefix.
std::string ToHex(ByteSpan little_endian, size_t min_digits);

// Strict: one or more digits 0-9 and nothing else; no sign, no space, no prefix, no leading zero (but "0"). False for anything
// else and for a value that does not fit `little_endian`; the bytes are then unspecified. At most kMaxDecimalBytes bytes.
bool ParseDecimal(std::string_view text, MutableByteSpan little_endian);

}  // namespace proofline
