#include "core/formats/wtns_writer.h"

#include "core/formats/curve_prime.h"
#include "core/formats/section_writer.h"

namespace proofline {

Status WriteWtns(CurveId curve, ByteSpan values, const std::string& path) {
  PL_ASSIGN_OR_RETURN(SectionWriter out, SectionWriter::Create(path, FileKind::kWtns, 2, {.secret = true}));
  PL_RETURN_IF_ERROR(out.Begin(1, 8 + kFrBytes));
  PL_RETURN_IF_ERROR(out.AppendValue(static_cast<uint32_t>(kFrBytes)));
  PL_RETURN_IF_ERROR(out.Append(ScalarFieldPrime(curve)));
  PL_RETURN_IF_ERROR(out.AppendValue(static_cast<uint32_t>(values.size() / kFrBytes)));
  PL_RETURN_IF_ERROR(out.Begin(2, values.size()));
  PL_RETURN_IF_ERROR(out.Append(values));
  return out.Commit();
}

}  // namespace proofline
