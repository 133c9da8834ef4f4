#include "cli/verify_filecoin.h"

#include <functional>

#include "cli/command.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/circuits/filecoin/shapes.h"
#include "core/formats/params.h"
#include "core/formats/params_writer.h"
#include "core/formats/proof_bytes.h"
#include "core/formats/public_json.h"
#include "core/groth16/backend.h"
#include "core/groth16/verify_batch.h"

namespace proofline::cli {
namespace {

using Partitions = std::vector<std::vector<FrCanonical>>;

// Of one proof: public inputs of a partition, and partitions.
struct Expected {
  uint64_t inputs = 0, partitions = 0;
};

Result<Expected> ExpectedOf(const VerifyFilecoinOptions& options) {
  using namespace filecoin;
  PL_ASSIGN_OR_RETURN(const uint64_t bytes, ParseSectorSize(options.sector_size));
  PL_ASSIGN_OR_RETURN(const SectorShape shape, SectorShapeOf(bytes));
  auto slots = [](const PoStShape& post) { return uint64_t{post.sectors} * (post.challenges + 1); };
  if (options.kind == "porep") return Expected{3 + uint64_t{18} * shape.porep.challenges, shape.porep.partitions};
  if (options.kind == "winning") return Expected{slots(shape.winning), 1};
  // A proof of Window PoSt has a partition for each so many sectors.
  if (options.kind == "window") return Expected{slots(shape.window), 0};
  if (!shape.update) return Status(ErrorCode::kUnsupported, StrCat("sectors of ", options.sector_size, " have no update circuit"));
  return Expected{4, shape.update->partitions};
}

Status CheckNumbers(const VerifyFilecoinOptions& options, const Partitions& publics, size_t proofs) {
  if (publics.size() != proofs)
    return Status(ErrorCode::kMismatch, StrCat(options.proof, ": has ", proofs, " proofs, ", options.publics, " has the public inputs of ",
                                               publics.size(), " partitions"),
                  "", "give files of the same proof");
  if (options.sector_size.empty()) return OkStatus();
  PL_ASSIGN_OR_RETURN(const Expected expected, ExpectedOf(options));
  if (expected.partitions != 0 && proofs != expected.partitions)
    return Status(ErrorCode::kMismatch, StrCat(options.proof, ": has ", proofs, " proofs, expected ", expected.partitions, " for ", options.kind, " of ",
                                               options.sector_size));
  for (size_t i = 0; i < publics.size(); ++i)
    if (publics[i].size() != expected.inputs)
      return Status(ErrorCode::kMismatch, StrCat(options.publics, ": partition ", i, " has ", publics[i].size(), " public inputs, expected ",
                                                 expected.inputs, " for ", options.kind, " of ", options.sector_size));
  return OkStatus();
}

// What `read` makes of the bytes; a change of the file comes before any failure that it may have caused.
template <class Read>
auto ReadFile(const std::string& path, Read read) -> decltype(read(ByteSpan())) {
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, {.guarded = true}));
  auto result = read(file.bytes());
  PL_RETURN_IF_ERROR(file.ChangeOr(result.ok() ? OkStatus() : result.status()));
  return result;
}

// A .vk, or the .params that begins with it.
Result<VerificationKey> ReadKey(const std::string& path) {
  return ReadFile(path, [&](ByteSpan bytes) -> Result<VerificationKey> {
    auto params = ReadParams(bytes, path);
    if (params.ok()) return DecodeVk(params->vk, path);
    PL_ASSIGN_OR_RETURN(VkFile vk, ReadVk(bytes, path));
    return DecodeVk(vk, path);
  });
}

}  // namespace

Status VerifyFilecoin(const VerifyFilecoinOptions& options, nlohmann::ordered_json& report) {
  PL_ASSIGN_OR_RETURN(const VerificationKey vk, ReadKey(options.vk));
  PL_RETURN_IF_ERROR(GetBackend(vk.curve).CheckVerificationKey(vk).WithContext(options.vk));
  report["curve"] = CurveJsonName(vk.curve);
  report["public_count"] = vk.n_public();
  const auto note = ReadParamsNote(options.vk);
  report["known_secret_key"] = note.has_value();
  if (note) Warn(StrCat(options.vk, ": a test key whose secret is known (", *note, "): anybody who knows it can forge proofs"));
  PL_ASSIGN_OR_RETURN(const Partitions publics, ReadFile(options.publics, [&](ByteSpan bytes) {
    return PartitionPublicsFromJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, options.publics, vk.curve);
  }));
  PL_ASSIGN_OR_RETURN(const std::vector<Proof> proofs, ReadFile(options.proof, [&](ByteSpan bytes) { return DecodeProofs(bytes, options.proof); }));
  report["partitions"] = proofs.size();
  PL_RETURN_IF_ERROR(CheckNumbers(options, publics, proofs.size()));
  std::vector<ProofClaim> claims;
  for (size_t i = 0; i < proofs.size(); ++i) claims.push_back({proofs[i], publics[i]});
  return VerifyBatch(vk, claims).WithContext(options.proof);
}

}  // namespace proofline::cli
