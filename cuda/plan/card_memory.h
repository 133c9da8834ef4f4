// How much memory a card has, for a program that does not want to own it.
#pragma once

#include <cstdint>

#include "core/base/status.h"

namespace proofline::cuda {

// All of it, in use or not. Asks the driver, which is loaded for the call; makes no context and holds no memory on the card. kUnsupported
// where there is no driver, kNotFound where it has no such card.
Result<uint64_t> CardMemoryBytes(uint32_t ordinal);

}  // namespace proofline::cuda
