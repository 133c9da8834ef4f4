// Writes a .wtns as circom's calculators do. The file is made with mode 0600: a witness is secret.
#pragma once

#include <string>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/field/moduli.h"

namespace proofline {

// `values`: canonical values of 32 bytes, fewer than 2^32 of them.
Status WriteWtns(CurveId curve, ByteSpan values, const std::string& path);

}  // namespace proofline
