// Writes an .r1cs as circom does: sections 2, 1, 3, each wire its own label.
#pragma once

#include <string>

#include "core/base/status.h"
#include "core/groth16/r1cs.h"

namespace proofline {

Status WriteR1cs(const R1csView& r1cs, const std::string& path);

}  // namespace proofline
