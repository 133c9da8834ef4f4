// What is said, loudly, about keys that must not be trusted.
#pragma once

#include <string_view>

#include "core/formats/zkey.h"

namespace proofline::cli {

// On stderr, one warning for each thing that is wrong: no second-phase contribution, known secret.
void WarnAboutKey(const Zkey& key, std::string_view name);

}  // namespace proofline::cli
