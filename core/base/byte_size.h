// Sizes of memory as people type them.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/status.h"

namespace proofline {

// "16GiB", "24GB", "15.6GiB", "512MiB", "1024B": digits, at most six more behind a point, and a unit: B; KiB, MiB, GiB, TiB; kB, MB, GB, TB.
// Above 0, below 2^63. kUsage names `option` (or setting) otherwise.
Result<uint64_t> ParseByteSize(std::string_view text, std::string_view option);

}  // namespace proofline
