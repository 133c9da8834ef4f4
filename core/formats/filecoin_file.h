// What a file without a magic is, of those that Filecoin's programs write: told by whether its counts account for its length.
#pragma once

#include <string_view>

#include "core/base/bytes.h"

namespace proofline {

enum class FilecoinKind : uint8_t { kNone, kParams, kVk, kProof };

// Reads a few pages of any file. A file of another kind is taken for one of these only if it happens to hold the right counts or flags at
// the right places: ask DetectFileKind first.
FilecoinKind DetectFilecoinKind(ByteSpan bytes);
// "params", "vk", "proof bytes", "unknown kind of file".
std::string_view FilecoinKindName(FilecoinKind kind);

}  // namespace proofline
