#include "core/formats/proof_json.h"

#include "core/base/text.h"
#include "core/formats/curve_prime.h"
#include "core/formats/json_text.h"

namespace proofline {

using json_text::Json;

std::string ProofToJson(const Proof& proof) {
  json_text::Writer out;
  out.OpenObject();
  out.Key("pi_a");
  out.Point(proof.a);
  out.Key("pi_b");
  out.Point(proof.b);
  out.Key("pi_c");
  out.Point(proof.c);
  out.Key("protocol");
  out.String("groth16");
  out.Key("curve");
  out.String(CurveJsonName(proof.curve));
  out.CloseObject();
  return out.Take();
}

Result<Proof> ProofFromJson(std::string_view text, std::string_view name, std::optional<CurveId> expected) {
  PL_ASSIGN_OR_RETURN(Json root, json_text::Parse(text, name, kMaxProofJsonBytes));
  PL_RETURN_IF_ERROR(json_text::CheckProtocol(root, name, /*optional=*/true));
  PL_ASSIGN_OR_RETURN(std::optional<CurveId> curve, json_text::ReadCurve(root, name));
  if (!curve && !expected) return json_text::Missing(name, "curve");
  if (curve && expected && *curve != *expected)
    return Status(ErrorCode::kMismatch, StrCat(name, ": curve: is ", CurveTitle(*curve), ", expected ", CurveTitle(*expected)), {},
                  "give a proof and a verification key of the same circuit");
  Proof proof;
  proof.curve = expected ? *expected : *curve;
  PL_ASSIGN_OR_RETURN(const Json* a, json_text::Member(root, "pi_a", name));
  PL_ASSIGN_OR_RETURN(const Json* b, json_text::Member(root, "pi_b", name));
  PL_ASSIGN_OR_RETURN(const Json* c, json_text::Member(root, "pi_c", name));
  PL_ASSIGN_OR_RETURN(proof.a, json_text::ReadG1(*a, "pi_a", name, proof.curve));
  PL_ASSIGN_OR_RETURN(proof.b, json_text::ReadG2(*b, "pi_b", name, proof.curve));
  PL_ASSIGN_OR_RETURN(proof.c, json_text::ReadG1(*c, "pi_c", name, proof.curve));
  return proof;
}

}  // namespace proofline
