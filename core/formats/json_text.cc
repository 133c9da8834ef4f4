#include "core/formats/json_text.h"

#include <array>
#include <set>

#include "core/base/decimal.h"
#include "core/base/text.h"
#include "core/formats/curve_prime.h"
#include "core/formats/section_file.h"

namespace proofline::json_text {

namespace {

constexpr size_t kShownBytes = 100;

std::string Shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return StrCat("an array of ", value.size());
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "...";
  return text;
}

// The deepest nesting of brackets outside of strings. Whether they match is the parser's business.
int Depth(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return deepest;
}

Status NotJson(std::string_view text, std::string_view name) {
  FileKind kind = DetectFileKind({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return Status(ErrorCode::kInvalidFile, StrCat(name, ": is ", FileKindName(kind), ", expected json"), {},
                "check the order of the file names on the command line");
}

Result<std::array<uint8_t, 48>> ReadFq(const Json& value, std::string_view path, std::string_view name, CurveId curve) {
  std::array<uint8_t, 48> out{};
  if (!value.is_string() || !ParseDecimal(value.get_ref<const std::string&>(), {out.data(), FqBytes(curve)})) {
    // A value too long for the field is most often one of the other curve.
    return Wrong(name, path, value, StrCat("a decimal string below q of ", CurveTitle(curve)));
  }
  if (!IsBelowQ(curve, out.data())) return Wrong(name, path, value, StrCat("less than q, which is ", ToDecimal(BaseFieldPrime(curve))));
  return out;
}

bool IsZeroValue(const std::array<uint8_t, 48>& v) { return v == std::array<uint8_t, 48>{}; }
bool IsOneValue(const std::array<uint8_t, 48>& v) {
  std::array<uint8_t, 48> one{1};
  return v == one;
}

Status CheckArray(const Json& value, size_t count, std::string_view path, std::string_view name) {
  if (value.is_array() && value.size() == count) return OkStatus();
  return Wrong(name, path, value, StrCat("an array of ", count));
}

struct Fq2Value {
  std::array<uint8_t, 48> c0, c1;
};
Result<Fq2Value> ReadFq2(const Json& value, std::string_view path, std::string_view name, CurveId curve) {
  PL_RETURN_IF_ERROR(CheckArray(value, 2, path, name));
  Fq2Value out;
  PL_ASSIGN_OR_RETURN(out.c0, ReadFq(value[0], StrCat(path, "[0]"), name, curve));
  PL_ASSIGN_OR_RETURN(out.c1, ReadFq(value[1], StrCat(path, "[1]"), name, curve));
  return out;
}

}  // namespace

Result<Json> Parse(std::string_view text, std::string_view name, size_t max_bytes, int max_depth) {
  if (text.empty()) return Status(ErrorCode::kInvalidFile, StrCat(name, ": is empty, expected json"));
  if (DetectFileKind({reinterpret_cast<const uint8_t*>(text.data()), text.size()}) != FileKind::kJson) return NotJson(text, name);
  if (text.size() > max_bytes)
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": has ", text.size(), " bytes, expected at most ", max_bytes));
  if (int depth = Depth(text); depth > max_depth)
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": is nested ", depth, " levels deep, expected at most ", max_depth));
  // The parser takes one for the end of the text.
  if (const size_t zero = text.find('\0'); zero != text.npos)
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": is no valid JSON: byte ", zero, " is zero"));
  std::set<std::string> names;
  std::string twice;
  auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second) twice = parsed.get<std::string>();
    return true;
  };
  try {
    Json value = Json::parse(text, watch);
    if (!twice.empty()) return Status(ErrorCode::kInvalidFile, StrCat(name, ": has \"", twice.substr(0, kShownBytes), "\" more than once"));
    return value;
  } catch (const Json::exception& e) {
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": is no valid JSON"), std::string(e.what()).substr(0, 2 * kShownBytes));
  }
}

Status Wrong(std::string_view name, std::string_view path, const Json& found, std::string_view expected) {
  return Status(ErrorCode::kInvalidFile, StrCat(name, ": ", path, path.empty() ? "" : ": ", "is ", Shown(found), ", expected ", expected));
}

Status Missing(std::string_view name, std::string_view path) {
  return Status(ErrorCode::kInvalidFile, StrCat(name, ": \"", path, "\" is missing"));
}

Result<const Json*> Member(const Json& object, std::string_view key, std::string_view name) {
  if (!object.is_object()) return Wrong(name, "", object, "an object");
  auto it = object.find(std::string(key));
  if (it == object.end()) return Missing(name, key);
  return &*it;
}

Status CheckProtocol(const Json& object, std::string_view name, bool optional) {
  if (optional && object.is_object() && !object.contains("protocol")) return OkStatus();
  PL_ASSIGN_OR_RETURN(const Json* protocol, Member(object, "protocol", name));
  if (!protocol->is_string() || *protocol != "groth16") return Wrong(name, "protocol", *protocol, "\"groth16\"");
  return OkStatus();
}

Result<std::optional<CurveId>> ReadCurve(const Json& object, std::string_view name) {
  if (!object.is_object()) return Wrong(name, "", object, "an object");
  auto it = object.find("curve");
  if (it == object.end()) return std::optional<CurveId>();
  auto curve = it->is_string() ? CurveOfJsonName(it->get_ref<const std::string&>()) : std::nullopt;
  if (!curve) return Wrong(name, "curve", *it, "\"bn128\" or \"bls12381\"");
  return curve;
}

Result<FrCanonical> ReadFr(const Json& value, std::string_view path, std::string_view name, CurveId curve) {
  FrCanonical out{};
  if (!value.is_string() || !ParseDecimal(value.get_ref<const std::string&>(), out)) return Wrong(name, path, value, "a decimal string below r");
  if (!IsBelowR(curve, out.data())) return Wrong(name, path, value, StrCat("less than r, which is ", ToDecimal(ScalarFieldPrime(curve))));
  return out;
}

Result<G1Point> ReadG1(const Json& value, std::string_view path, std::string_view name, CurveId curve) {
  PL_RETURN_IF_ERROR(CheckArray(value, 3, path, name));
  G1Point p;
  PL_ASSIGN_OR_RETURN(p.x, ReadFq(value[0], StrCat(path, "[0]"), name, curve));
  PL_ASSIGN_OR_RETURN(p.y, ReadFq(value[1], StrCat(path, "[1]"), name, curve));
  PL_ASSIGN_OR_RETURN(auto z, ReadFq(value[2], StrCat(path, "[2]"), name, curve));
  if (IsOneValue(z)) return p;
  if (!IsZeroValue(z) || !IsZeroValue(p.x) || !IsOneValue(p.y))
    return Wrong(name, StrCat(path, "[2]"), value[2], "\"1\", or [\"0\", \"1\", \"0\"] as a whole for the point at infinity");
  p = G1Point();
  p.infinity = true;
  return p;
}

Result<G2Point> ReadG2(const Json& value, std::string_view path, std::string_view name, CurveId curve) {
  PL_RETURN_IF_ERROR(CheckArray(value, 3, path, name));
  PL_ASSIGN_OR_RETURN(Fq2Value x, ReadFq2(value[0], StrCat(path, "[0]"), name, curve));
  PL_ASSIGN_OR_RETURN(Fq2Value y, ReadFq2(value[1], StrCat(path, "[1]"), name, curve));
  PL_ASSIGN_OR_RETURN(Fq2Value z, ReadFq2(value[2], StrCat(path, "[2]"), name, curve));
  G2Point p{x.c0, x.c1, y.c0, y.c1, false};
  if (IsOneValue(z.c0) && IsZeroValue(z.c1)) return p;
  bool infinity = IsZeroValue(z.c0) && IsZeroValue(z.c1) && IsZeroValue(x.c0) && IsZeroValue(x.c1) && IsOneValue(y.c0) && IsZeroValue(y.c1);
  if (!infinity) return Wrong(name, StrCat(path, "[2]"), value[2], "[\"1\", \"0\"]");
  p = G2Point();
  p.infinity = true;
  return p;
}

void Writer::Begin() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!empty_) out_ += ',';
  out_ += '\n';
  out_.append(depth_, ' ');
  empty_ = false;
}

void Writer::Open(char bracket) {
  Begin();
  out_ += bracket;
  ++depth_;
  empty_ = true;
}

void Writer::Close(char bracket) {
  --depth_;
  out_ += '\n';  // also in an empty array: "[\n]" is what snarkjs's file holds
  out_.append(depth_, ' ');
  out_ += bracket;
  empty_ = false;
}

void Writer::Key(std::string_view key) {
  Begin();
  out_ += StrCat('"', key, "\": ");
  after_key_ = true;
}

void Writer::String(std::string_view text) {
  Begin();
  out_ += StrCat('"', text, '"');
}

void Writer::Number(uint64_t value) {
  Begin();
  out_ += StrCat(value);
}

void Writer::Pair(std::string_view c0, std::string_view c1) {
  OpenArray();
  String(c0);
  String(c1);
  CloseArray();
}

void Writer::Point(const G1Point& p) {
  OpenArray();
  String(ToDecimal(p.x));
  String(p.infinity ? "1" : ToDecimal(p.y));
  String(p.infinity ? "0" : "1");
  CloseArray();
}

void Writer::Point(const G2Point& p) {
  OpenArray();
  Pair(ToDecimal(p.x0), ToDecimal(p.x1));
  if (p.infinity) {
    Pair("1", "0");
    Pair("0", "0");
  } else {
    Pair(ToDecimal(p.y0), ToDecimal(p.y1));
    Pair("1", "0");
  }
  CloseArray();
}

}  // namespace proofline::json_text
