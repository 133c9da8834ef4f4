// proofline verify VKEY.json PUBLIC.json PROOF.json, and with --filecoin KIND the same three in Filecoin's forms
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/output_paths.h"
#include "cli/verify_filecoin.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/formats/proof_json.h"
#include "core/formats/public_json.h"
#include "core/formats/solidity_calldata.h"
#include "core/formats/vkey_json.h"
#include "core/formats/zkey.h"
#include "core/groth16/backend.h"

namespace proofline::cli {
namespace {

struct VerifyOptions {
  std::string vkey, publics, proof, calldata, filecoin, sector_size;
  bool allow_unsafe = false, json = false;
};

std::string_view TextOf(const MappedFile& file) { return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}; }

struct TrustedKey {
  VerificationKey vk;
  std::string known_secret_note;  // empty: nothing is known
};

// A .zkey holds its verification key; taking it from there also tells what only the .zkey says.
Result<TrustedKey> ReadKey(const MappedFile& file, const std::string& path) {
  TrustedKey key;
  if (DetectFileKind(file.bytes()) != FileKind::kZkey) {
    PL_ASSIGN_OR_RETURN(key.vk, VerificationKeyFromJson(TextOf(file), path, &key.known_secret_note));
    return key;
  }
  PL_ASSIGN_OR_RETURN(Zkey zkey, ReadZkey(file.bytes(), path, ZkeyUse::kWithoutCoefficients));
  auto vk = GetBackend(zkey.view.curve).ExtractVerificationKey(zkey.view);
  if (!vk.ok()) return std::move(vk).status().WithContext(path);
  key.vk = *std::move(vk);
  if (zkey.known_secret) key.known_secret_note = zkey.known_secret_note.empty() ? "the file says so" : zkey.known_secret_note;
  return key;
}

// What `read` makes of the file's bytes; a change of the file comes before any failure that it may have caused.
template <typename Read>
auto ReadFile(const std::string& path, MappedFile::StreamLimit limit, Read read) -> decltype(read(std::declval<const MappedFile&>())) {
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, {.guarded = true, .stream_limit = std::move(limit)}));
  auto result = read(file);
  PL_RETURN_IF_ERROR(file.ChangeOr(result.ok() ? OkStatus() : result.status()));
  return result;
}

Status CheckSafety(const TrustedKey& key, const VerifyOptions& options) {
  if (!key.known_secret_note.empty())
    Warn(StrCat(options.vkey, ": a test key whose secret is known (", key.known_secret_note, "): anybody who knows it can forge proofs"));
  if (!IsUnsafe(key.vk)) return OkStatus();
  std::string fact = StrCat(options.vkey, ": is unsafe: gamma2 and delta2 are the same, so anybody can forge proofs for it");
  if (options.allow_unsafe) {
    Warn(fact);
    return OkStatus();
  }
  return Status(ErrorCode::kUnsafeKey, std::move(fact), "the key had no second-phase contribution (snarkjs zkey contribute)",
                "use a key with a contribution, or give --allow-unsafe-key for a test");
}

Status Check(const VerifyOptions& options, nlohmann::ordered_json& report) {
  PL_RETURN_IF_ERROR(CheckOutputPaths({options.calldata}, {options.vkey, options.publics, options.proof}));
  PL_ASSIGN_OR_RETURN(TrustedKey key, ReadFile(options.vkey, StreamOf({FileKind::kJson, FileKind::kZkey}), [&](const MappedFile& file) { return ReadKey(file, options.vkey); }));
  const VerificationKey& vk = key.vk;
  report["curve"] = CurveJsonName(vk.curve);
  report["public_count"] = vk.n_public();
  report["unsafe_key"] = IsUnsafe(vk);
  report["known_secret_key"] = !key.known_secret_note.empty();
  PL_ASSIGN_OR_RETURN(std::vector<FrCanonical> publics, ReadFile(options.publics, StreamOf({FileKind::kJson}, kMaxPublicJsonBytes), [&](const MappedFile& file) {
    return PublicFromJson(TextOf(file), options.publics, vk.curve);
  }));
  if (publics.size() != vk.n_public())
    return Status(ErrorCode::kMismatch, StrCat(options.publics, ": has ", publics.size(), " public signals, expected ", vk.n_public(),
                                               ", the nPublic of ", options.vkey),
                  {}, "give files of the same circuit");
  PL_ASSIGN_OR_RETURN(Proof proof, ReadFile(options.proof, StreamOf({FileKind::kJson}, kMaxProofJsonBytes), [&](const MappedFile& file) {
    return ProofFromJson(TextOf(file), options.proof, vk.curve);
  }));
  const Backend& backend = GetBackend(vk.curve);
  PL_RETURN_IF_ERROR(backend.CheckVerificationKey(vk).WithContext(options.vkey));
  PL_RETURN_IF_ERROR(CheckSafety(key, options));
  PL_RETURN_IF_ERROR(backend.Verify(vk, publics, proof).WithContext(options.proof));
  if (options.calldata.empty()) return OkStatus();
  return WriteFileAtomically(options.calldata, SolidityCalldata(proof, publics) + "\n");
}

Status CheckFilecoin(const VerifyOptions& options, nlohmann::ordered_json& report) {
  if (!options.calldata.empty() || options.allow_unsafe)
    return Status(ErrorCode::kUsage, "--calldata and --allow-unsafe-key are not for proofs of Filecoin");
  report["kind"] = options.filecoin;
  return VerifyFilecoin({options.filecoin, options.sector_size, options.vkey, options.publics, options.proof}, report);
}

Status RunVerify(const VerifyOptions& options) {
  nlohmann::ordered_json report;
  report["valid"] = false;
  Status status = options.filecoin.empty() ? Check(options, report) : CheckFilecoin(options, report);
  report["valid"] = status.ok();
  if (!status.ok()) report["error"] = {{"code", ErrorCodeName(status.code())}, {"fact", status.error().fact}};
  if (options.json) {
    std::printf("%s\n", report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else if (status.ok()) {
    std::printf("OK\n");
  }
  return status;
}

}  // namespace

void AddVerify(CLI::App& app, Command& command) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* sub = app.add_subcommand("verify", "Checks a proof: prints OK and exits 0, or says why not and exits 1.");
  sub->add_option("VKEY.json", options->vkey,
                  "verification key (verification_key.json, or the .zkey itself); with --filecoin a .vk or .params")
      ->required();
  sub->add_option("PUBLIC.json", options->publics, "public signals; with --filecoin of one partition, or an array with those of each")->required();
  sub->add_option("PROOF.json", options->proof, "the proof; with --filecoin its bytes, 192 for each partition")->required();
  auto* filecoin = sub->add_option("--filecoin", options->filecoin, "a proof of Filecoin, of this kind; all partitions are checked at once")
                       ->check(CLI::IsMember({"porep", "winning", "window", "update"}));
  sub->add_option("--sector-size", options->sector_size, "of --filecoin: compare the numbers of inputs and partitions with this size's (32GiB)")
      ->needs(filecoin);
  sub->add_flag("--allow-unsafe-key", options->allow_unsafe, "accept a key with gamma2 = delta2 (for tests: its proofs can be forged)");
  sub->add_option("--calldata", options->calldata,
                  "if the proof is valid, write the arguments for snarkjs's Solidity verifier to this file");
  sub->add_flag("--json", options->json, "print one JSON document instead of OK");
  sub->callback([options, &command] { command.run = [options] { return RunVerify(*options); }; });
}

}  // namespace proofline::cli
