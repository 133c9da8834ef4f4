// What `proofline inspect` tells about a file, as a JSON object in the order in which it is printed.
#pragma once

#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/status.h"

namespace proofline::cli {

using InspectReport = nlohmann::ordered_json;

// Always: file, kind, bytes, and "odd", an array of sentences (empty if nothing is). The rest depends on the kind. A file that its
// reader refuses is that reader's failure; one of no known kind is kInvalidFile. No value of a witness is in it.
Result<InspectReport> InspectFile(const MappedFile& file);

}  // namespace proofline::cli
