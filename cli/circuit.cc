// proofline circuit add, list, show, remove.
#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sys/stat.h>

#include "cli/circuit_key.h"
#include "cli/circuit_plan.h"
#include "cli/command.h"
#include "cli/job.h"
#include "cli/stack_client.h"
#include "cli/view.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace proofline::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds kAnswerLimit{30};

struct AddOptions {
  std::string state, name, key, r1cs;
  bool copy = false;
};

std::string KeysFolder(const StackPaths& paths) { return paths.state_dir + "/keys"; }
std::string CopyOf(const StackPaths& paths, const wire::Circuit& circuit) { return StrCat(KeysFolder(paths), "/", circuit.key_hash(), ".zkey"); }

// What root makes in the state directory of a service belongs to the service's user.
Status GiveToOwnerOf(const std::string& state_dir, const std::string& path) {
  struct stat owner {};
  if (geteuid() != 0) return OkStatus();
  if (stat(state_dir.c_str(), &owner) == 0 && lchown(path.c_str(), owner.st_uid, owner.st_gid) == 0) return OkStatus();
  return Status(ErrorCode::kIo, StrCat(path, ": cannot be given to the owner of ", state_dir, ": ", strerror(errno)));
}

// A copy under the key's hash, which several circuits may share.
Status CopyKey(const StackPaths& paths, wire::Circuit& circuit) {
  const std::string target = CopyOf(paths, circuit);
  if (mkdir(KeysFolder(paths).c_str(), 0700) == 0) {
    PL_RETURN_IF_ERROR(GiveToOwnerOf(paths.state_dir, KeysFolder(paths)));
  } else if (errno != EEXIST) {
    return Status(ErrorCode::kIo, StrCat(KeysFolder(paths), ": cannot be made: ", strerror(errno)));
  }
  PL_ASSIGN_OR_RETURN(const MappedFile source, MappedFile::Open(circuit.key_path(), {.guarded = true}));
  if (std::error_code error; !fs::exists(target, error)) {
    PL_ASSIGN_OR_RETURN(AtomicFileWriter writer, AtomicFileWriter::Create(target, {.secret = false, .sync = true}));
    PL_RETURN_IF_ERROR(source.ChangeOr(writer.Write(source.bytes())));
    PL_RETURN_IF_ERROR(writer.Commit());
    PL_RETURN_IF_ERROR(GiveToOwnerOf(paths.state_dir, target));
  }
  PL_ASSIGN_OR_RETURN(const MappedFile copy, MappedFile::Open(target, {.guarded = true}));
  if (HashKey(copy) != circuit.key_hash())
    return Status(ErrorCode::kInvalidFile, StrCat(circuit.key_path(), " changed while it was copied"), StrCat(target, " has another SHA-256"), "remove the copy and add the circuit again");
  PL_RETURN_IF_ERROR(copy.CheckUnchanged());
  circuit.set_key_path(target);
  circuit.set_key_bytes(copy.size_bytes());
  circuit.set_key_mtime_ns(copy.mtime_ns());
  return OkStatus();
}

Status Add(const AddOptions& options) {
  PL_RETURN_IF_ERROR(CheckName(options.name, "a circuit"));
  PL_ASSIGN_OR_RETURN(const StackPaths paths, ResolvePaths(options.state));
  PL_ASSIGN_OR_RETURN(const auto client, StackClient::Connect(paths));
  PL_ASSIGN_OR_RETURN(wire::Circuit circuit, ReadCircuit(options.name, options.key, options.r1cs));
  if (options.copy) PL_RETURN_IF_ERROR(CopyKey(paths, circuit));
  PL_ASSIGN_OR_RETURN(const wire::CircuitAdded added, SendCircuit(*client, circuit));
  const char* done = added.change() == wire::CIRCUIT_NEW ? "added" : added.change() == wire::CIRCUIT_UPDATED ? "updated" : "unchanged";
  std::printf("%s %s", done, CircuitText(added.circuit()).c_str());
  return OkStatus();
}

Status List(const std::string& state, bool json) {
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(state));
  PL_ASSIGN_OR_RETURN(const auto circuits, AllCircuits(*client));
  std::fputs((json ? CircuitsJson(circuits) : CircuitsText(circuits)).c_str(), stdout);
  return OkStatus();
}

struct ShowOptions {
  std::string state, name, device, vram;
  bool json = false, plan = false;
};

Status Show(const ShowOptions& options) {
  PlanTarget target;
  if (options.plan) {
    PL_ASSIGN_OR_RETURN(target, ResolvePlanTarget(options.device, options.vram));
  }
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(options.state));
  PL_ASSIGN_OR_RETURN(const wire::Circuit circuit, ShowCircuit(*client, options.name));
  if (!options.plan) {
    std::fputs((options.json ? CircuitJson(circuit) : CircuitText(circuit)).c_str(), stdout);
    return OkStatus();
  }
  PL_ASSIGN_OR_RETURN(const cuda::VramPlan plan, PlanCircuit(circuit, target));
  std::fputs((options.json ? PlanJson(circuit, target, plan) : PlanText(circuit, target, plan)).c_str(), stdout);
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
  const std::string copy = CopyOf(paths, circuit);
  PL_ASSIGN_OR_RETURN(const auto others, AllCircuits(*client));
  const bool used = std::any_of(others.begin(), others.end(), [&](const auto& other) { return other.key_path() == copy; });
  if (std::error_code ignored; !used) fs::remove(copy, ignored);
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

void AddShow(CLI::App& group, Command& command) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* sub = group.add_subcommand("show", "one circuit, or with --plan how it lies in a card's memory");
  sub->add_option("NAME", options->name, "the circuit")->required();
  sub->add_option("--state", options->state, "the stack's state directory")->type_name("DIR");
  sub->add_flag("--json", options->json, "print JSON");
  CLI::Option* plan = sub->add_flag("--plan", options->plan, "the memory plan: buffers, pre-staging, what is streamed");
  CLI::Option* device = sub->add_option("--device", options->device, "the card to plan for (default: cuda:0)")->type_name("cuda:N")->needs(plan);
  sub->add_option("--vram", options->vram, "plan for a card with that much memory instead: 16GiB, 24GB")->type_name("SIZE")->needs(plan)->excludes(device);
  sub->callback([options, &command] { command.run = [options] { return Show(*options); }; });
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

  AddShow(*group, command);

  auto remove = std::make_shared<NameOptions>();
  CLI::App* remove_command = AddNamed(*group, "remove", "forget a circuit; refused while a job uses it", remove);
  remove_command->callback([remove, &command] { command.run = [remove] { return Remove(remove->state, remove->name); }; });
}

}  // namespace proofline::cli
