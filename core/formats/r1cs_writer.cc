#include "core/formats/r1cs_writer.h"

#include <vector>

#include "core/formats/curve_prime.h"
#include "core/formats/section_writer.h"

namespace proofline {

Status WriteR1cs(const R1csView& r1cs, const std::string& path) {
  PL_ASSIGN_OR_RETURN(SectionWriter out, SectionWriter::Create(path, FileKind::kR1cs, 3, {}));
  PL_RETURN_IF_ERROR(out.Begin(2, r1cs.constraints.size()));
  PL_RETURN_IF_ERROR(out.Append(r1cs.constraints));

  PL_RETURN_IF_ERROR(out.Begin(1, 4 + kFrBytes + 16 + 8 + 4));
  PL_RETURN_IF_ERROR(out.AppendValue(static_cast<uint32_t>(kFrBytes)));
  PL_RETURN_IF_ERROR(out.Append(ScalarFieldPrime(r1cs.curve)));
  for (uint32_t count : {r1cs.n_wires, r1cs.n_pub_out, r1cs.n_pub_in, r1cs.n_prv_in}) PL_RETURN_IF_ERROR(out.AppendValue(count));
  PL_RETURN_IF_ERROR(out.AppendValue(uint64_t{r1cs.n_wires}));  // labels
  PL_RETURN_IF_ERROR(out.AppendValue(r1cs.n_constraints));

  PL_RETURN_IF_ERROR(out.Begin(3, uint64_t{r1cs.n_wires} * 8));
  for (uint64_t wire = 0; wire < r1cs.n_wires; ++wire) PL_RETURN_IF_ERROR(out.AppendValue(wire));
  return out.Commit();
}

}  // namespace proofline
