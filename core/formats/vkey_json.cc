#include "core/formats/vkey_json.h"

#include "core/base/decimal.h"
#include "core/base/text.h"
#include "core/formats/json_text.h"

namespace proofline {

using json_text::Json;

namespace {

constexpr char kKnownSecret[] = "proofline_known_secret";
constexpr size_t kMaxNoteBytes = 256;

// Nothing that would need an escape in JSON or could play tricks on a terminal.
std::string PlainNote(std::string_view note) {
  std::string out(note.substr(0, kMaxNoteBytes));
  for (char& c : out)
    if (c < 0x20 || c > 0x7e || c == '"' || c == '\\') c = '?';
  return out;
}

void ReadKnownSecret(const Json& root, std::string* note) {
  if (!note) return;
  note->clear();
  auto it = root.find(kKnownSecret);
  if (it == root.end()) return;
  *note = it->is_string() ? PlainNote(it->get_ref<const std::string&>()) : std::string();
  if (note->empty()) *note = "the file says so";
}

}  // namespace

std::string VerificationKeyToJson(const VerificationKey& vk, const AlphaBetaValues& alpha_beta, std::string_view known_secret_note) {
  json_text::Writer out;
  out.OpenObject();
  out.Key("protocol");
  out.String("groth16");
  out.Key("curve");
  out.String(CurveJsonName(vk.curve));
  out.Key("nPublic");
  out.Number(vk.n_public());
  out.Key("vk_alpha_1");
  out.Point(vk.alpha1);
  out.Key("vk_beta_2");
  out.Point(vk.beta2);
  out.Key("vk_gamma_2");
  out.Point(vk.gamma2);
  out.Key("vk_delta_2");
  out.Point(vk.delta2);
  out.Key("vk_alphabeta_12");
  out.OpenArray();
  for (size_t half = 0; half < 2; ++half) {
    out.OpenArray();
    for (size_t i = 0; i < 3; ++i) {
      out.OpenArray();
      for (size_t j = 0; j < 2; ++j) out.String(ToDecimal(alpha_beta[half * 6 + i * 2 + j]));
      out.CloseArray();
    }
    out.CloseArray();
  }
  out.CloseArray();
  out.Key("IC");
  out.OpenArray();
  for (const G1Point& point : vk.ic) out.Point(point);
  out.CloseArray();
  if (!known_secret_note.empty()) {
    out.Key(kKnownSecret);
    out.String(PlainNote(known_secret_note));
  }
  out.CloseObject();
  return out.Take();
}

Result<VerificationKey> VerificationKeyFromJson(std::string_view text, std::string_view name, std::string* known_secret_note) {
  PL_ASSIGN_OR_RETURN(Json root, json_text::Parse(text, name, kMaxVerificationKeyJsonBytes));
  PL_RETURN_IF_ERROR(json_text::CheckProtocol(root, name, /*optional=*/false));
  PL_ASSIGN_OR_RETURN(std::optional<CurveId> curve, json_text::ReadCurve(root, name));
  if (!curve) return json_text::Missing(name, "curve");
  VerificationKey vk;
  vk.curve = *curve;
  PL_ASSIGN_OR_RETURN(const Json* alpha, json_text::Member(root, "vk_alpha_1", name));
  PL_ASSIGN_OR_RETURN(vk.alpha1, json_text::ReadG1(*alpha, "vk_alpha_1", name, vk.curve));
  struct Point {
    const char* key;
    G2Point* out;
  };
  for (const Point& p : {Point{"vk_beta_2", &vk.beta2}, Point{"vk_gamma_2", &vk.gamma2}, Point{"vk_delta_2", &vk.delta2}}) {
    PL_ASSIGN_OR_RETURN(const Json* point, json_text::Member(root, p.key, name));
    PL_ASSIGN_OR_RETURN(*p.out, json_text::ReadG2(*point, p.key, name, vk.curve));
  }
  PL_ASSIGN_OR_RETURN(const Json* ic, json_text::Member(root, "IC", name));
  if (!ic->is_array() || ic->empty()) return json_text::Wrong(name, "IC", *ic, "an array of nPublic + 1 points");
  PL_ASSIGN_OR_RETURN(const Json* n_public, json_text::Member(root, "nPublic", name));
  if (!n_public->is_number_unsigned() || n_public->get<uint64_t>() != ic->size() - 1)
    return json_text::Wrong(name, "nPublic", *n_public, StrCat(ic->size() - 1, " (IC has ", ic->size(), " points)"));
  vk.ic.reserve(ic->size());
  for (size_t i = 0; i < ic->size(); ++i) {
    PL_ASSIGN_OR_RETURN(G1Point point, json_text::ReadG1((*ic)[i], StrCat("IC[", i, "]"), name, vk.curve));
    vk.ic.push_back(point);
  }
  ReadKnownSecret(root, known_secret_note);
  return vk;
}

}  // namespace proofline
