// Inside core/formats only: what the JSON and the binary reader of C1 share.
#pragma once

#include "core/base/text.h"
#include "core/formats/filecoin_c1.h"

namespace proofline::c1_parts {

struct Parents {
  std::string_view name;
  filecoin::ColumnProof *begin, *end;
};
// In the order of the file.
inline std::array<Parents, 2> ParentsOf(filecoin::PoRepChallenge& c) {
  return {{{"DRG parent", c.drg_parents.data(), c.drg_parents.data() + c.drg_parents.size()},
           {"expander parent", c.expander_parents.data(), c.expander_parents.data() + c.expander_parents.size()}}};
}

inline std::string ChallengeName(size_t partition, size_t challenge) { return StrCat("partition ", partition, ", challenge ", challenge); }

Result<FilecoinC1> ReadBinary(ByteSpan bytes, std::string_view name);

// Copies what is common into each partition and the challenged node into each challenge. kInvalidFile if there is nothing to prove.
Status Complete(FilecoinC1& c1, std::string_view name);

}  // namespace proofline::c1_parts
