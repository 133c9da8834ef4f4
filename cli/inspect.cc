// proofline inspect FILE: what a file is, what is in it, what is odd about it. The reports are made in inspect_file.cc.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/inspect_file.h"
#include "cli/output_paths.h"
#include "core/base/text.h"
#include "core/formats/parameter_manifest.h"
#include "core/formats/params.h"
#include "core/formats/point_check_record.h"
#include "core/formats/vkey_json.h"
#include "core/formats/zkey.h"
#include "core/groth16/backend.h"

namespace proofline::cli {
namespace {

struct InspectOptions {
  std::string file, export_vkey, manifest;
  bool check_points = false, json = false;
};

std::string ScalarText(const InspectReport& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// "type 4, offset 1024, bytes 92"
std::string FieldsText(const InspectReport& object) {
  std::string out;
  for (const auto& item : object.items()) out += StrCat(out.empty() ? "" : ", ", item.key(), " ", ScalarText(item.value()));
  return out;
}

void PrintField(const std::string& name, const InspectReport& value) {
  if (value.is_object()) {
    std::printf("%s: %s\n", name.c_str(), FieldsText(value).c_str());
  } else if (!value.is_array()) {
    std::printf("%s: %s\n", name.c_str(), ScalarText(value).c_str());
  } else if (value.empty()) {
    std::printf("%s: nothing\n", name.c_str());
  } else {
    std::printf("%s:\n", name.c_str());
    for (const auto& item : value) std::printf("  %s\n", item.is_object() ? FieldsText(item).c_str() : ScalarText(item).c_str());
  }
}

Status ExportVerificationKey(const MappedFile& file, const std::string& path) {
  PL_ASSIGN_OR_RETURN(Zkey key, ReadZkey(file.bytes(), file.name(), ZkeyUse::kWithoutCoefficients));
  const Backend& backend = GetBackend(key.view.curve);
  auto vk = backend.ExtractVerificationKey(key.view);
  if (!vk.ok()) return std::move(vk).status().WithContext(file.name());
  std::string note = key.known_secret && key.known_secret_note.empty() ? "the file says so" : key.known_secret_note;
  const std::string text = VerificationKeyToJson(*vk, backend.AlphaBeta(*vk), note);
  PL_RETURN_IF_ERROR(file.CheckUnchanged());
  return WriteFileAtomically(path, text);
}

Status CheckPoints(const MappedFile& file, InspectReport& report) {
  PL_ASSIGN_OR_RETURN(Zkey key, ReadZkey(file.bytes(), file.name(), ZkeyUse::kWithoutCoefficients));
  PL_RETURN_IF_ERROR(GetBackend(key.view.curve).CheckPoints(key.view, Backend::PointCheck::kSubgroup).WithContext(file.name()));
  report["points"] = "all on their curves and in their subgroups";
  return OkStatus();
}

// The work of hours for a large file: done once for each content.
Status CheckParamsPoints(const MappedFile& file, InspectReport& report) {
  PL_ASSIGN_OR_RETURN(ParamsFile params, ReadParams(file.bytes(), file.name()));
  PL_ASSIGN_OR_RETURN(const Digest512 digest, Blake2bOfFile(file));
  const PointCheckRecords records = PointCheckRecords::OfUser();
  report["points_checked_before"] = records.Has(digest);
  if (!records.Has(digest)) {
    PL_RETURN_IF_ERROR(proofline::CheckParamsPoints(params, file.name(), PointChecks::kSubgroup, [&](ByteSpan section) { file.DropPages(section); }));
    PL_RETURN_IF_ERROR(file.CheckUnchanged());
    if (Status kept = records.Add(digest); !kept.ok()) Warn(StrCat("the result will not be remembered: ", kept.ToString()));
  }
  report["point_check"] = "all on their curves and in their subgroups";
  return OkStatus();
}

Status CheckManifest(const MappedFile& file, const std::string& path, InspectReport& report) {
  PL_ASSIGN_OR_RETURN(MappedFile text, MappedFile::Open(path, {.guarded = true, .stream_limit = StreamOf({FileKind::kJson}, kMaxManifestBytes)}));
  PL_ASSIGN_OR_RETURN(const ParameterManifest manifest,
                      ParameterManifestFromJson({reinterpret_cast<const char*>(text.bytes().data()), text.bytes().size()}, path));
  PL_ASSIGN_OR_RETURN(const Digest512 whole, Blake2bOfFile(file));
  const ParameterDigest digest = ParameterDigestOf(whole);
  report["digest"] = ParameterDigestHex(digest);
  return CheckAgainstManifest(manifest, file.name(), digest);
}

// Leave to read on is given for the kinds that an option is for.
Status CheckUse(const InspectOptions& options, const std::string& kind) {
  const bool is_params = kind == "params", is_zkey = kind == "zkey";
  if (options.check_points && !is_zkey && !is_params)
    return Status(ErrorCode::kUsage, StrCat(options.file, ": is ", kind, ", --check-points is for a zkey or params"));
  if (!options.export_vkey.empty() && !is_zkey)
    return Status(ErrorCode::kUsage, StrCat(options.file, ": is ", kind, ", --export-vkey is for a zkey"));
  return OkStatus();
}

Status Inspect(const InspectOptions& options, const MappedFile& file, InspectReport& report) {
  PL_ASSIGN_OR_RETURN(report, InspectFile(file));
  const std::string kind = report["kind"];
  PL_RETURN_IF_ERROR(CheckUse(options, kind));
  if (!options.manifest.empty()) PL_RETURN_IF_ERROR(CheckManifest(file, options.manifest, report));
  if (options.check_points) PL_RETURN_IF_ERROR(kind == "params" ? CheckParamsPoints(file, report) : CheckPoints(file, report));
  if (!options.export_vkey.empty()) PL_RETURN_IF_ERROR(ExportVerificationKey(file, options.export_vkey));
  return OkStatus();
}

Status RunInspect(const InspectOptions& options) {
  PL_RETURN_IF_ERROR(CheckOutputPaths({options.export_vkey}, {options.file}));
  const auto known = {FileKind::kZkey, FileKind::kWtns, FileKind::kR1cs, FileKind::kPtau, FileKind::kWasm, FileKind::kJson};
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(options.file, {.secret = true, .guarded = true, .stream_limit = StreamOf(known)}));
  InspectReport report;
  PL_RETURN_IF_ERROR(file.ChangeOr(Inspect(options, file, report)));
  if (options.json) {
    std::printf("%s\n", report.dump(2, ' ', false, InspectReport::error_handler_t::replace).c_str());
    return OkStatus();
  }
  for (const auto& item : report.items()) PrintField(item.key(), item.value());
  return OkStatus();
}

}  // namespace

void AddInspect(CLI::App& app, Command& command) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* sub = app.add_subcommand("inspect", "Says what a file is: kind, curve, sizes, and what is odd about it. Prints no witness value.");
  sub->add_option("FILE", options->file, ".zkey, .wtns, .r1cs, .ptau, .params, .vk, a proof in JSON or in bytes, public signals, a verification key or a manifest in JSON")
      ->required();
  sub->add_option("--export-vkey", options->export_vkey, "write the verification key of a .zkey to this file, as snarkjs would");
  sub->add_flag("--check-points", options->check_points, "check that every point of a .zkey or .params is on its curve and in its subgroup");
  sub->add_option("--manifest", options->manifest, "a parameters.json: the file must have the digest that stands there under its name");
  sub->add_flag("--json", options->json, "print one JSON document");
  sub->callback([options, &command] { command.run = [options] { return RunInspect(*options); }; });
}

}  // namespace proofline::cli
