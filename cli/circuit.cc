// proofline circuit add, list, show, remove.
#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/stack_client.h"
#include "cli/job.h"
#include "cli/view.h"
#include "cli/warnings.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/progress.h"
#include "core/base/text.h"
#include "core/formats/curve_prime.h"
#include "core/formats/r1cs.h"
#include "core/formats/zkey.h"
#include "core/groth16/backend.h"

namespace proofline::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds kAnswerLimit{30};
constexpr size_t kHashBlockBytes = size_t{16} << 20;
constexpr size_t kLongestName = 64;

struct AddOptions {
  std::string state, name, key, r1cs;
  bool copy = false;
};

Status CheckName(const std::string& name) {
  const auto good = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  if (!name.empty() && name.size() <= kLongestName && name[0] != '.' && name[0] != '-' && std::all_of(name.begin(), name.end(), good)) return OkStatus();
  return Status(ErrorCode::kUsage, StrCat("\"", name, "\" is no name for a circuit"), "", StrCat("letters, digits, '-', '_' and '.', at most ", kLongestName, ", not beginning with '.' or '-'"));
}

std::string HashFile(const MappedFile& file) {
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

// The r1cs must be of the circuit that the key is for, as far as counts tell.
Status CheckR1cs(const std::string& path, const ProvingKeyView& key, const std::string& key_name) {
  PL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  PL_ASSIGN_OR_RETURN(const R1cs r1cs, ReadR1cs(file.bytes(), path));
  const auto differ = [&](const char* what, uint64_t found, uint64_t expected) {
    return Status(ErrorCode::kMismatch, StrCat(path, " does not belong to ", key_name, ": it has ", found, " ", what, ", the key ", expected), "", "give the .r1cs that the key was made from");
  };
  if (r1cs.view.curve != key.curve) return Status(ErrorCode::kMismatch, StrCat(path, " is of ", CurveTitle(r1cs.view.curve), ", ", key_name, " of ", CurveTitle(key.curve)));
  if (r1cs.view.n_wires != key.n_vars) return differ("wires", r1cs.view.n_wires, key.n_vars);
  if (r1cs.view.n_public() != key.n_public) return differ("public signals", r1cs.view.n_public(), key.n_public);
  return OkStatus();
}

// Reads all of the key: structure, coefficients, every point on its curve and in its subgroup.
Result<wire::Circuit> ReadCircuit(const AddOptions& options) {
  PL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(options.key));
  if (!file.is_mapped_file())
    return Status(ErrorCode::kInvalidFile, StrCat(options.key, ": is no regular file, so the stack cannot read it again"), "", "store the key in a file first");
  PL_ASSIGN_OR_RETURN(const Zkey key, ReadZkey(file.bytes(), options.key));
  const Backend& backend = GetBackend(key.view.curve);
  PL_RETURN_IF_ERROR(backend.CheckPoints(key.view, Backend::PointCheck::kSubgroup).WithContext(options.key));
  if (!options.r1cs.empty()) PL_RETURN_IF_ERROR(CheckR1cs(options.r1cs, key.view, options.key));
  WarnAboutKey(key, options.key);
  wire::Circuit circuit;
  circuit.set_name(options.name);
  circuit.set_key_path(fs::canonical(options.key).string());
  circuit.set_key_bytes(file.size_bytes());
  circuit.set_key_mtime_ns(file.mtime_ns());
  if (!options.r1cs.empty()) circuit.set_r1cs_path(fs::canonical(options.r1cs).string());
  circuit.set_curve(static_cast<uint32_t>(key.view.curve));
  circuit.set_n_vars(key.view.n_vars);
  circuit.set_n_public(key.view.n_public);
  circuit.set_log2_domain(key.view.log2_domain);
  circuit.set_coefficient_count(key.coefficient_count);
  circuit.set_unsafe_key(key.unsafe);
  circuit.set_known_secret_key(key.known_secret);
  circuit.set_key_hash(HashFile(file));
  PL_RETURN_IF_ERROR(file.CheckUnchanged());
  return circuit;
}

std::string KeysFolder(const StackPaths& paths) { return paths.state_dir + "/keys"; }

// A copy under the key's hash, which several circuits may share.
Status CopyKey(const StackPaths& paths, wire::Circuit& circuit) {
  const std::string target = StrCat(KeysFolder(paths), "/", circuit.key_hash(), ".zkey");
  if (mkdir(KeysFolder(paths).c_str(), 0700) < 0 && errno != EEXIST) return Status(ErrorCode::kIo, StrCat(KeysFolder(paths), ": cannot be made: ", strerror(errno)));
  PL_ASSIGN_OR_RETURN(const MappedFile source, MappedFile::Open(circuit.key_path()));
  if (std::error_code error; !fs::exists(target, error)) {
    PL_ASSIGN_OR_RETURN(AtomicFileWriter writer, AtomicFileWriter::Create(target, {.secret = false, .sync = true}));
    PL_RETURN_IF_ERROR(writer.Write(source.bytes()));
    PL_RETURN_IF_ERROR(writer.Commit());
  }
  PL_ASSIGN_OR_RETURN(const MappedFile copy, MappedFile::Open(target));
  if (HashFile(copy) != circuit.key_hash())
    return Status(ErrorCode::kInvalidFile, StrCat(circuit.key_path(), " changed while it was copied"), StrCat(target, " has another SHA-256"), "remove the copy and add the circuit again");
  circuit.set_key_path(target);
  circuit.set_key_bytes(copy.size_bytes());
  circuit.set_key_mtime_ns(copy.mtime_ns());
  return OkStatus();
}

Status Add(const AddOptions& options) {
  PL_RETURN_IF_ERROR(CheckName(options.name));
  PL_ASSIGN_OR_RETURN(const StackPaths paths, ResolvePaths(options.state));
  PL_ASSIGN_OR_RETURN(const auto client, StackClient::Connect(paths));
  PL_ASSIGN_OR_RETURN(wire::Circuit circuit, ReadCircuit(options));
  if (options.copy) PL_RETURN_IF_ERROR(CopyKey(paths, circuit));
  wire::Request request;
  *request.mutable_circuit_add()->mutable_circuit() = circuit;
  PL_ASSIGN_OR_RETURN(const wire::Reply reply, client->Call(std::move(request), kAnswerLimit));
  std::printf("added %s", CircuitText(reply.circuits().circuits_size() ? reply.circuits().circuits(0) : circuit).c_str());
  return OkStatus();
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

Status List(const std::string& state, bool json) {
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(state));
  PL_ASSIGN_OR_RETURN(const auto circuits, AllCircuits(*client));
  std::fputs((json ? CircuitsJson(circuits) : CircuitsText(circuits)).c_str(), stdout);
  return OkStatus();
}

Status Show(const std::string& state, const std::string& name, bool json) {
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(state));
  PL_ASSIGN_OR_RETURN(const wire::Circuit circuit, ShowCircuit(*client, name));
  std::fputs((json ? CircuitJson(circuit) : CircuitText(circuit)).c_str(), stdout);
  return OkStatus();
}

// The stack's own copy goes with the last circuit that used it.
Status Remove(const std::string& state, const std::string& name) {
  PL_ASSIGN_OR_RETURN(const StackPaths paths, ResolvePaths(state));
  PL_ASSIGN_OR_RETURN(const auto client, StackClient::Connect(paths));
  PL_ASSIGN_OR_RETURN(const wire::Circuit circuit, ShowCircuit(*client, name));
  wire::Request request;
  request.mutable_circuit_remove()->set_name(name);
  PL_ASSIGN_OR_RETURN(const wire::Reply reply, client->Call(std::move(request), kAnswerLimit));
  if (circuit.key_path() != StrCat(KeysFolder(paths), "/", circuit.key_hash(), ".zkey")) return OkStatus();
  PL_ASSIGN_OR_RETURN(const auto others, AllCircuits(*client));
  const bool used = std::any_of(others.begin(), others.end(), [&](const auto& other) { return other.key_path() == circuit.key_path(); });
  if (std::error_code ignored; !used) fs::remove(circuit.key_path(), ignored);
  return OkStatus();
}

struct NameOptions {
  std::string state, name;
  bool json = false;
};

void AddAdd(CLI::App& group, Command& command) {
  auto options = std::make_shared<AddOptions>();
  CLI::App* sub = group.add_subcommand("add", "make a circuit known; its key is read and checked in full, every point on its curve and in its subgroup");
  sub->add_option("NAME", options->name, "what `submit --circuit` will call it")->required();
  sub->add_option("--key", options->key, "the .zkey; read where it is, so it must stay there unchanged (see --copy)")->required();
  sub->add_option("--r1cs", options->r1cs, "its .r1cs: constraints are then checked before the device");
  sub->add_flag("--copy", options->copy, "copy the key into the state directory");
  sub->add_option("--state", options->state, "the stack's state directory")->type_name("DIR");
  sub->callback([options, &command] { command.run = [options] { return Add(*options); }; });
}

CLI::App* AddNamed(CLI::App& group, const char* verb, const char* help, std::shared_ptr<NameOptions> options) {
  CLI::App* sub = group.add_subcommand(verb, help);
  sub->add_option("NAME", options->name, "the circuit")->required();
  sub->add_option("--state", options->state, "the stack's state directory")->type_name("DIR");
  return sub;
}

}  // namespace

void AddCircuit(CLI::App& app, Command& command) {
  CLI::App* group = app.add_subcommand("circuit", "the circuits a running stack knows: add, list, show, remove");
  group->require_subcommand(1);
  AddAdd(*group, command);

  auto list = std::make_shared<NameOptions>();
  CLI::App* list_command = group->add_subcommand("list", "all circuits");
  list_command->add_option("--state", list->state, "the stack's state directory")->type_name("DIR");
  list_command->add_flag("--json", list->json, "print JSON");
  list_command->callback([list, &command] { command.run = [list] { return List(list->state, list->json); }; });

  auto show = std::make_shared<NameOptions>();
  CLI::App* show_command = AddNamed(*group, "show", "one circuit", show);
  show_command->add_flag("--json", show->json, "print JSON");
  show_command->callback([show, &command] { command.run = [show] { return Show(show->state, show->name, show->json); }; });

  auto remove = std::make_shared<NameOptions>();
  CLI::App* remove_command = AddNamed(*group, "remove", "forget a circuit; refused while a job uses it", remove);
  remove_command->callback([remove, &command] { command.run = [remove] { return Remove(remove->state, remove->name); }; });
}

}  // namespace proofline::cli
