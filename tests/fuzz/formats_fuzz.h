// What the file fuzz targets share.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "core/base/bytes.h"

namespace proofline::fuzz {

inline std::string_view Text(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

// A property that does not hold is a crash, which is what a fuzzer looks for.
inline void Require(bool holds) {
  if (!holds) std::abort();
}

// Reads every byte, so that a span which leaves the input is found by the address sanitizer.
inline void Touch(ByteSpan bytes) {
  volatile uint8_t sink = 0;
  for (uint8_t b : bytes) sink = static_cast<uint8_t>(sink ^ b);
}

}  // namespace proofline::fuzz
