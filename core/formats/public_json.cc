#include "core/formats/public_json.h"

#include "core/base/decimal.h"
#include "core/base/text.h"
#include "core/formats/json_text.h"

namespace proofline {

using json_text::Json;

std::string PublicToJson(std::span<const FrCanonical> publics) {
  json_text::Writer out;
  out.OpenArray();
  for (const FrCanonical& value : publics) out.String(ToDecimal(value));
  out.CloseArray();
  return out.Take();
}

Result<std::vector<FrCanonical>> PublicFromJson(std::string_view text, std::string_view name, CurveId curve) {
  PL_ASSIGN_OR_RETURN(Json root, json_text::Parse(text, name, kMaxPublicJsonBytes));
  if (!root.is_array()) return json_text::Wrong(name, "", root, "an array of decimal strings");
  std::vector<FrCanonical> out;
  out.reserve(root.size());
  for (size_t i = 0; i < root.size(); ++i) {
    PL_ASSIGN_OR_RETURN(FrCanonical value, json_text::ReadFr(root[i], StrCat("public signal ", i), name, curve));
    out.push_back(value);
  }
  return out;
}

}  // namespace proofline
