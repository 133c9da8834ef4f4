#include "cli/inspect_file.h"

#include <algorithm>
#include <bit>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "core/base/text.h"
#include "core/formats/curve_prime.h"
#include "core/formats/filecoin_file.h"
#include "core/formats/parameter_manifest.h"
#include "core/formats/params.h"
#include "core/formats/params_writer.h"
#include "core/formats/proof_bytes.h"
#include "core/formats/proof_json.h"
#include "core/formats/ptau.h"
#include "core/formats/public_json.h"
#include "core/formats/r1cs.h"
#include "core/formats/vkey_json.h"
#include "core/formats/wtns.h"
#include "core/formats/zkey.h"

namespace proofline::cli {
namespace {

// How many of the `stride`-byte records in `bytes` are all zero. A zero first word is rare enough to make the rest cheap.
uint64_t CountZeroRecords(ByteSpan bytes, size_t stride) {
  using Range = tbb::blocked_range<size_t>;
  return tbb::parallel_reduce(
      Range(0, bytes.size() / stride, 4096), uint64_t{0},
      [&](const Range& range, uint64_t count) {
        for (size_t i = range.begin(); i < range.end(); ++i) {
          ByteSpan record = bytes.subspan(i * stride, stride);
          if (std::ranges::all_of(record, [](uint8_t b) { return b == 0; })) ++count;
        }
        return count;
      },
      std::plus<>());
}

void AddSections(const SectionFile& sections, InspectReport& report, InspectReport& odd, uint32_t last_known) {
  InspectReport list = InspectReport::array();
  bool sorted = true;
  uint32_t before = 0;
  for (const Section& s : sections.sections()) {
    list.push_back({{"type", s.type}, {"offset", s.offset}, {"bytes", s.length_bytes}});
    sorted = sorted && s.type >= before;
    before = s.type;
    if (s.type == zkey::kProofline) continue;
    if (s.type == 0 || s.type > last_known) odd.push_back(StrCat("unknown section ", s.type, " of ", s.length_bytes, " bytes"));
  }
  report["sections"] = std::move(list);
  if (!sorted) odd.push_back("sections are not in ascending order (harmless)");
  if (sections.trailing_bytes() != 0) odd.push_back(StrCat(sections.trailing_bytes(), " bytes after the last section"));
}

// Rows that have a record, of A and B, and the highest row of all.
struct CoefficientStats {
  uint64_t a = 0, b = 0, zero = 0;
  uint32_t highest = 0;
};
CoefficientStats ScanCoefficients(const ProvingKeyView& view) {
  CoefficientStats stats;
  for (size_t i = 0; i < view.coefficient_count(); ++i) {
    const uint8_t* record = view.coefficients.data() + i * ProvingKeyView::kCoefficientBytes;
    ++(LoadLe<uint32_t>(record) == 0 ? stats.a : stats.b);
    stats.highest = std::max(stats.highest, LoadLe<uint32_t>(record + 4));
    if (LoadLe<uint64_t>(record + 12) == 0 && std::ranges::all_of(ByteSpan(record + 12, kFrBytes), [](uint8_t b) { return b == 0; }))
      ++stats.zero;
  }
  return stats;
}

void AddPointCounts(const Zkey& key, InspectReport& report, InspectReport& odd) {
  const ProvingKeyView& view = key.view;
  const size_t g1 = 2 * FqBytes(view.curve);
  struct Query {
    const char* name;
    ByteSpan points;
    size_t stride;
    bool zeros_are_common;
  };
  InspectReport counts = InspectReport::object();
  for (const Query& q : {Query{"ic", view.ic, g1, false}, Query{"a", view.a, g1, true}, Query{"b1", view.b1, g1, true},
                         Query{"b2", view.b2, 2 * g1, true}, Query{"c", view.c, g1, true}, Query{"h", view.h, g1, false}}) {
    uint64_t count = CountZeroRecords(q.points, q.stride);
    counts[q.name] = count;
    if (count != 0 && !q.zeros_are_common) odd.push_back(StrCat(count, " points at infinity in ", q.name));
  }
  if (counts["b1"] != counts["b2"]) odd.push_back("b1 and b2 have points at infinity in different places");
  report["points_at_infinity"] = std::move(counts);
}

Status InspectZkey(const MappedFile& file, InspectReport& report, InspectReport& odd) {
  PL_ASSIGN_OR_RETURN(Zkey key, ReadZkey(file.bytes(), file.name()));
  const ProvingKeyView& view = key.view;
  report["curve"] = CurveJsonName(view.curve);
  report["protocol"] = "groth16";
  report["signals"] = view.n_vars;
  report["public_signals"] = view.n_public;
  report["domain"] = view.domain();
  report["log2_domain"] = view.log2_domain;
  CoefficientStats stats = ScanCoefficients(view);
  // Rows of public signals follow the constraints; without a record at the end their number is only a lower bound.
  if (stats.highest >= view.n_public) report["constraints"] = stats.highest - view.n_public;
  report["coefficients"] = key.coefficient_count;
  report["coefficients_a"] = stats.a;
  report["coefficients_b"] = stats.b;
  if (stats.zero != 0) odd.push_back(StrCat(stats.zero, " coefficients are 0"));
  report["unsafe"] = key.unsafe;
  report["known_secret"] = key.known_secret;
  if (key.unsafe) odd.push_back("UNSAFE: gamma2 = delta2, no second-phase contribution; anybody can forge proofs for this key");
  if (key.known_secret)
    odd.push_back(StrCat("UNSAFE: a test key whose secret is known", key.known_secret_note.empty() ? "" : ": ", key.known_secret_note));
  ZkeyContributions contributions = ReadContributions(key);
  if (contributions.readable) report["contributions"] = contributions.count;
  if (!contributions.present) odd.push_back("section 10 (contributions) is missing or there more than once");
  if (contributions.present && !contributions.readable) odd.push_back("section 10 (contributions) does not hold what it counts");
  AddPointCounts(key, report, odd);
  AddSections(key.sections, report, odd, 10);
  return OkStatus();
}

Status InspectWtns(const MappedFile& file, InspectReport& report, InspectReport& odd) {
  PL_ASSIGN_OR_RETURN(WtnsView witness, ReadWtns(file.bytes(), file.name()));
  report["curve"] = CurveJsonName(witness.curve);
  report["values"] = witness.count;
  uint64_t too_large = 0, first_too_large = 0;
  for (uint64_t i = 0; i < witness.count; ++i) {
    if (IsBelowR(witness.curve, &witness.values[i * kFrBytes])) continue;
    if (too_large++ == 0) first_too_large = i;
  }
  if (too_large != 0) odd.push_back(StrCat("INVALID: ", too_large, " values are not below r, the first is value ", first_too_large));
  FrCanonical one{1};
  if (!std::ranges::equal(witness.values.first(kFrBytes), one)) odd.push_back("INVALID: value 0 is not the constant 1");
  AddSections(witness.sections, report, odd, 2);
  return OkStatus();
}

Status InspectR1cs(const MappedFile& file, InspectReport& report, InspectReport& odd) {
  PL_ASSIGN_OR_RETURN(R1cs r1cs, ReadR1cs(file.bytes(), file.name()));
  const R1csView& view = r1cs.view;
  report["curve"] = CurveJsonName(view.curve);
  report["wires"] = view.n_wires;
  report["public_outputs"] = view.n_pub_out;
  report["public_inputs"] = view.n_pub_in;
  report["private_inputs"] = view.n_prv_in;
  report["labels"] = r1cs.n_labels;
  report["constraints"] = view.n_constraints;
  uint64_t linear = 0, empty = 0, terms = 0;
  for (uint32_t i = 0; i < view.n_constraints; ++i) {
    R1csConstraint c = view.constraint(i);
    bool no_product = c.a.count == 0 || c.b.count == 0;
    if (no_product) ++(c.c.count == 0 ? empty : linear);
    terms += uint64_t{c.a.count} + c.b.count + c.c.count;
  }
  report["linear_constraints"] = linear;
  report["terms"] = terms;
  report["log2_domain"] = std::max<uint64_t>(1, std::bit_width(uint64_t{view.n_constraints} + view.n_public()));  // of a key for it
  if (empty != 0) odd.push_back(StrCat(empty, " constraints are empty"));
  if (view.n_constraints == 0) odd.push_back("there are no constraints");
  AddSections(r1cs.sections, report, odd, 5);
  return OkStatus();
}

Status InspectPtau(const MappedFile& file, InspectReport& report, InspectReport& odd) {
  PL_ASSIGN_OR_RETURN(PtauHeader header, ReadPtauHeader(file.bytes(), file.name()));
  report["curve"] = CurveJsonName(header.curve);
  report["power"] = header.power;
  report["ceremony_power"] = header.ceremony_power;
  AddSections(header.sections, report, odd, 15);
  return OkStatus();
}

void AddInfinity(const char* name, bool infinity, InspectReport& odd) {
  if (infinity) odd.push_back(StrCat(name, " is the point at infinity"));
}

// rapidsnark names no curve in its proofs: the size of the coordinates tells.
Result<Proof> ReadAnyProof(std::string_view text, const std::string& name, InspectReport& odd) {
  if (text.find("\"pi_a\"") == std::string_view::npos)
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": is JSON, but neither a proof, nor public signals, nor a verification key"));
  if (text.find("\"curve\"") != std::string_view::npos) return ProofFromJson(text, name, std::nullopt);
  auto proof = ProofFromJson(text, name, CurveId::kBn254);
  if (!proof.ok()) proof = ProofFromJson(text, name, CurveId::kBls12381);
  if (proof.ok()) odd.push_back(StrCat("names no curve; its coordinates fit ", CurveJsonName(proof->curve)));
  return proof;
}

Status InspectJson(const MappedFile& file, InspectReport& report, InspectReport& odd) {
  std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  size_t first = text.find_first_of("[{");
  if (text[first] == '[') {
    // The larger r of the two: such a file does not say its curve.
    PL_ASSIGN_OR_RETURN(auto publics, PublicFromJson(text, file.name(), CurveId::kBls12381));
    report["kind"] = "public signals";
    report["public_signals"] = publics.size();
    auto fits = [](const FrCanonical& v) { return IsBelowR(CurveId::kBn254, v.data()); };
    if (!std::ranges::all_of(publics, fits)) odd.push_back("some values are not below r of bn128: they can only be for bls12381");
    return OkStatus();
  }
  if (text.find("\"cid\"") != std::string_view::npos && text.find("\"sector_size\"") != std::string_view::npos) {
    PL_ASSIGN_OR_RETURN(ParameterManifest manifest, ParameterManifestFromJson(text, file.name()));
    report["kind"] = "parameters manifest";
    report["files"] = manifest.files.size();
    return OkStatus();
  }
  // A name this long occurs in one of the two kinds only.
  if (text.find("\"vk_alpha_1\"") != std::string_view::npos) {
    std::string note;
    PL_ASSIGN_OR_RETURN(VerificationKey vk, VerificationKeyFromJson(text, file.name(), &note));
    report["kind"] = "verification key";
    report["curve"] = CurveJsonName(vk.curve);
    report["public_signals"] = vk.n_public();
    report["unsafe"] = IsUnsafe(vk);
    report["known_secret"] = !note.empty();
    if (IsUnsafe(vk)) odd.push_back("UNSAFE: gamma2 = delta2, no second-phase contribution; anybody can forge proofs for this key");
    if (!note.empty()) odd.push_back(StrCat("UNSAFE: a test key whose secret is known: ", note));
    for (const G1Point& p : vk.ic) AddInfinity("a point of IC", p.infinity, odd);
    return OkStatus();
  }
  PL_ASSIGN_OR_RETURN(Proof proof, ReadAnyProof(text, file.name(), odd));
  report["kind"] = "proof";
  report["curve"] = CurveJsonName(proof.curve);
  AddInfinity("pi_a", proof.a.infinity, odd);
  AddInfinity("pi_b", proof.b.infinity, odd);
  AddInfinity("pi_c", proof.c.infinity, odd);
  return OkStatus();
}

void AddNote(const std::string& name, InspectReport& report, InspectReport& odd) {
  const auto note = ReadParamsNote(name);
  report["known_secret"] = note.has_value();
  if (note) odd.push_back(StrCat("UNSAFE: a test key whose secret is known: ", *note));
}

Status InspectParams(const MappedFile& file, InspectReport& report, InspectReport& odd) {
  PL_ASSIGN_OR_RETURN(ParamsFile params, ReadParams(file.bytes(), file.name()));
  report["curve"] = CurveJsonName(CurveId::kBls12381);
  report["variables"] = params.n_vars();
  report["public_inputs"] = params.n_public();
  report["domain"] = uint64_t{1} << params.log2_domain;
  report["log2_domain"] = params.log2_domain;
  report["points"] = {{"ic", params.vk.ic.size() / 96}, {"h", params.h.size() / 96}, {"l", params.l.size() / 96},
                      {"a", params.a.size() / 96},      {"b_g1", params.b1.size() / 96}, {"b_g2", params.b2.size() / 192}};
  AddNote(file.name(), report, odd);
  auto vk = DecodeVk(params.vk, file.name());
  if (!vk.ok()) odd.push_back(StrCat("INVALID: ", vk.status().error().fact));
  return OkStatus();
}

Status InspectVk(const MappedFile& file, InspectReport& report, InspectReport& odd) {
  PL_ASSIGN_OR_RETURN(VkFile vk, ReadVk(file.bytes(), file.name()));
  report["curve"] = CurveJsonName(CurveId::kBls12381);
  report["public_inputs"] = vk.n_public();
  report["compressed"] = vk.form == PointForm::kCompressed;
  AddNote(file.name(), report, odd);
  auto decoded = DecodeVk(vk, file.name());
  if (!decoded.ok()) odd.push_back(StrCat("INVALID: ", decoded.status().error().fact));
  return OkStatus();
}

Status InspectProofBytes(const MappedFile& file, InspectReport& report, InspectReport& odd) {
  report["curve"] = CurveJsonName(CurveId::kBls12381);
  report["partitions"] = file.size_bytes() / kProofBytes;
  auto proofs = DecodeProofs(file.bytes(), file.name());
  if (!proofs.ok()) odd.push_back(StrCat("INVALID: ", proofs.status().error().fact));
  return OkStatus();
}

Status InspectFilecoin(const MappedFile& file, InspectReport& report, InspectReport& odd) {
  const FilecoinKind kind = DetectFilecoinKind(file.bytes());
  report["kind"] = FilecoinKindName(kind);
  switch (kind) {
    case FilecoinKind::kParams: return InspectParams(file, report, odd);
    case FilecoinKind::kVk: return InspectVk(file, report, odd);
    case FilecoinKind::kProof: return InspectProofBytes(file, report, odd);
    case FilecoinKind::kNone: break;
  }
  // What is wrong with it, where the name says what it was meant to be.
  const std::string_view name = file.name();
  if (name.ends_with(".params")) return ReadParams(file.bytes(), name).status();
  if (name.ends_with(".vk")) return ReadVk(file.bytes(), name).status();
  return Status(ErrorCode::kInvalidFile, StrCat(name, ": is ", FileKindName(DetectFileKind(file.bytes())),
                                                ", expected zkey, wtns, r1cs, ptau, wasm, json, params, vk or proof bytes"));
}

}  // namespace

Result<InspectReport> InspectFile(const MappedFile& file) {
  const FileKind kind = DetectFileKind(file.bytes());
  InspectReport report, odd = InspectReport::array();
  report["file"] = file.name();
  report["kind"] = FileKindName(kind);
  report["bytes"] = file.size_bytes();
  Status status;
  switch (kind) {
    case FileKind::kZkey: status = InspectZkey(file, report, odd); break;
    case FileKind::kWtns: status = InspectWtns(file, report, odd); break;
    case FileKind::kR1cs: status = InspectR1cs(file, report, odd); break;
    case FileKind::kPtau: status = InspectPtau(file, report, odd); break;
    case FileKind::kJson: status = InspectJson(file, report, odd); break;
    case FileKind::kWasm: break;
    case FileKind::kUnknown:
    case FileKind::kEmpty: status = InspectFilecoin(file, report, odd); break;
  }
  if (!status.ok()) return status;
  report["odd"] = std::move(odd);
  return report;
}

}  // namespace proofline::cli
