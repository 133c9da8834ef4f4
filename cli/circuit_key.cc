#include "cli/circuit_key.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

#include "cli/warnings.h"
#include "core/base/digest.h"
#include "core/base/progress.h"
#include "core/base/text.h"
#include "core/formats/curve_prime.h"
#include "core/formats/r1cs.h"
#include "core/formats/zkey.h"
#include "core/groth16/backend.h"
#include "core/groth16/r1cs_match.h"

namespace proofline::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds kAnswerLimit{30};
constexpr size_t kHashBlockBytes = size_t{16} << 20;

// A file that the stack's workers open again later by its name, so a stream will not do; a FIFO is not even opened.
Result<MappedFile> OpenForStack(const std::string& path) {
  const auto refused = [&] { return Status(ErrorCode::kInvalidFile, StrCat(path, ": is no regular file, so the stack cannot read it again"), "", "store it in a file first"); };
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return refused();
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, {.guarded = true}));
  if (!file.is_mapped_file() && file.size_bytes() != 0) return refused();
  return file;
}

// The r1cs must be of the circuit that the key is for: its counts, and its A and B. (C is in the key's points only.)
Status CheckR1cs(const MappedFile& file, const ProvingKeyView& key, const std::string& key_name) {
  const std::string& path = file.name();
  PL_ASSIGN_OR_RETURN(const R1cs r1cs, ReadR1cs(file.bytes(), path));
  const auto differ = [&](const char* what, uint64_t found, uint64_t expected) {
    return Status(ErrorCode::kMismatch, StrCat(path, " does not belong to ", key_name, ": it has ", found, " ", what, ", the key ", expected), "", "give the .r1cs that the key was made from");
  };
  if (r1cs.view.curve != key.curve) return Status(ErrorCode::kMismatch, StrCat(path, " is of ", CurveTitle(r1cs.view.curve), ", ", key_name, " of ", CurveTitle(key.curve)));
  if (r1cs.view.n_wires != key.n_vars) return differ("wires", r1cs.view.n_wires, key.n_vars);
  if (r1cs.view.n_public() != key.n_public) return differ("public signals", r1cs.view.n_public(), key.n_public);
  PL_ASSIGN_OR_RETURN(const auto unlike, FirstRowUnlike(r1cs.view, key));
  if (!unlike) return OkStatus();
  return Status(ErrorCode::kMismatch, StrCat(path, " does not belong to ", key_name, ": constraint ", *unlike, " is another in the key"), "", "give the .r1cs that the key was made from");
}

// Whether the workers would still take the file of a known circuit.
bool IsAsRecorded(const wire::Circuit& circuit) {
  const auto file = MappedFile::Open(circuit.key_path());
  return file.ok() && file->size_bytes() == circuit.key_bytes() && file->mtime_ns() == circuit.key_mtime_ns();
}

// All of the key is read: structure, coefficients, every point on its curve and in its subgroup.
Result<wire::Circuit> DescribeKey(const std::string& name, const MappedFile& file, const std::string& r1cs_path) {
  const std::string& key_path = file.name();
  PL_ASSIGN_OR_RETURN(const Zkey key, ReadZkey(file.bytes(), key_path));
  const Backend& backend = GetBackend(key.view.curve);
  PL_RETURN_IF_ERROR(backend.CheckPoints(key.view, Backend::PointCheck::kSubgroup).WithContext(key_path));
  wire::Circuit circuit;
  if (!r1cs_path.empty()) {
    PL_ASSIGN_OR_RETURN(const MappedFile r1cs, OpenForStack(r1cs_path));
    PL_RETURN_IF_ERROR(r1cs.ChangeOr(CheckR1cs(r1cs, key.view, key_path)));
    circuit.set_r1cs_path(fs::canonical(r1cs_path).string());
    circuit.set_r1cs_bytes(r1cs.size_bytes());
    circuit.set_r1cs_mtime_ns(r1cs.mtime_ns());
  }
  PL_RETURN_IF_ERROR(file.CheckUnchanged());
  WarnAboutKey(key, key_path);
  circuit.set_name(name);
  circuit.set_key_path(fs::canonical(key_path).string());
  circuit.set_key_bytes(file.size_bytes());
  circuit.set_key_mtime_ns(file.mtime_ns());
  circuit.set_curve(static_cast<uint32_t>(key.view.curve));
  circuit.set_n_vars(key.view.n_vars);
  circuit.set_n_public(key.view.n_public);
  circuit.set_log2_domain(key.view.log2_domain);
  circuit.set_coefficient_count(key.coefficient_count);
  circuit.set_unsafe_key(key.unsafe);
  circuit.set_known_secret_key(key.known_secret);
  circuit.set_key_hash(HashKey(file));
  return circuit;
}

}  // namespace

std::string HashKey(const MappedFile& file) {
  Sha256 hash;
  Progress progress("hashing the key", file.size_bytes() >> 20, "MiB");
  for (ByteSpan left = file.bytes(); !left.empty();) {
    const ByteSpan block = left.first(std::min(left.size(), kHashBlockBytes));
    hash.Update(block);
    left = left.subspan(block.size());
    progress.Advance(block.size() >> 20);
  }
  return DigestHex(hash.Finish());
}

Result<wire::Circuit> ReadCircuit(const std::string& name, const std::string& key_path, const std::string& r1cs_path) {
  PL_ASSIGN_OR_RETURN(const MappedFile file, OpenForStack(key_path));
  auto circuit = DescribeKey(name, file, r1cs_path);
  PL_RETURN_IF_ERROR(file.ChangeOr(circuit.ok() ? OkStatus() : circuit.status()));
  return circuit;
}

Result<std::vector<wire::Circuit>> AllCircuits(StackClient& client) {
  std::vector<wire::Circuit> all;
  for (uint32_t page = 0;; ++page) {
    wire::Request request;
    request.mutable_circuit_list()->set_page(page);
    PL_ASSIGN_OR_RETURN(const wire::Reply reply, client.Call(std::move(request), kAnswerLimit));
    all.insert(all.end(), reply.circuits().circuits().begin(), reply.circuits().circuits().end());
    if (page + 1 >= reply.circuits().page_count()) return all;
  }
}

Result<wire::CircuitAdded> SendCircuit(StackClient& client, const wire::Circuit& circuit) {
  wire::Request request;
  *request.mutable_circuit_add()->mutable_circuit() = circuit;
  PL_ASSIGN_OR_RETURN(const wire::Reply reply, client.Call(std::move(request), kAnswerLimit));
  return reply.circuit_added();
}

Result<wire::Circuit> FindOrAddCircuit(StackClient& client, const std::string& key_path) {
  PL_ASSIGN_OR_RETURN(const MappedFile file, OpenForStack(key_path));
  std::error_code error;
  const std::string canonical = fs::canonical(key_path, error).string();
  PL_ASSIGN_OR_RETURN(const auto known, AllCircuits(client));
  for (const wire::Circuit& circuit : known)
    if (circuit.key_path() == canonical && circuit.key_bytes() == file.size_bytes() && circuit.key_mtime_ns() == file.mtime_ns()) return circuit;
  PL_ASSIGN_OR_RETURN(wire::Circuit circuit, ReadCircuit("key", key_path, ""));
  circuit.set_name("key-" + circuit.key_hash().substr(0, 16));
  for (const wire::Circuit& other : known) {
    if (other.key_hash() != circuit.key_hash()) continue;
    if (IsAsRecorded(other)) return other;
    // Its jobs would fail; the same key is here.
    circuit.set_name(other.name());
    circuit.set_r1cs_path(other.r1cs_path());
  }
  PL_ASSIGN_OR_RETURN(const wire::CircuitAdded added, SendCircuit(client, circuit));
  return added.circuit();
}

}  // namespace proofline::cli
