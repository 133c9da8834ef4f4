// That no output of a command overwrites another output of it, or an input.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"

namespace proofline::cli {

// Called before an output is opened. kUsage when two of `outputs` are one file under whatever names, or one of them is an input.
// Pipes and devices are no files in this sense. Empty names (an option that was not given) are passed over.
Status CheckOutputPaths(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

}  // namespace proofline::cli
