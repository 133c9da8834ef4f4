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

namespace {

// `where` is empty or "partition 3: ".
Result<std::vector<FrCanonical>> ReadPublics(const Json& array, std::string_view name, const std::string& where, CurveId curve) {
  std::vector<FrCanonical> out;
  out.reserve(array.size());
  for (size_t i = 0; i < array.size(); ++i) {
    PL_ASSIGN_OR_RETURN(FrCanonical value, json_text::ReadFr(array[i], StrCat(where, "public signal ", i), name, curve));
    out.push_back(value);
  }
  return out;
}

}  // namespace

Result<std::vector<FrCanonical>> PublicFromJson(std::string_view text, std::string_view name, CurveId curve) {
  PL_ASSIGN_OR_RETURN(Json root, json_text::Parse(text, name, kMaxPublicJsonBytes));
  if (!root.is_array()) return json_text::Wrong(name, "", root, "an array of decimal strings");
  return ReadPublics(root, name, "", curve);
}

Result<std::vector<std::vector<FrCanonical>>> PartitionPublicsFromJson(std::string_view text, std::string_view name, CurveId curve) {
  PL_ASSIGN_OR_RETURN(Json root, json_text::Parse(text, name, kMaxPublicJsonBytes));
  if (!root.is_array()) return json_text::Wrong(name, "", root, "an array of decimal strings, or one for each partition");
  std::vector<std::vector<FrCanonical>> out;
  if (root.empty() || !root[0].is_array()) {
    PL_ASSIGN_OR_RETURN(auto publics, ReadPublics(root, name, "", curve));
    out.push_back(std::move(publics));
    return out;
  }
  for (size_t i = 0; i < root.size(); ++i) {
    const std::string where = StrCat("partition ", i);
    if (!root[i].is_array()) return json_text::Wrong(name, where, root[i], "an array of decimal strings");
    PL_ASSIGN_OR_RETURN(auto publics, ReadPublics(root[i], name, where + ": ", curve));
    out.push_back(std::move(publics));
  }
  return out;
}

}  // namespace proofline
