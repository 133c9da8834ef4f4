// proofline prove: one proof, by a private stack of the same processes, or by a running stack.
#include <CLI/App.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <unistd.h>

#include "cli/circuit_key.h"
#include "cli/command.h"
#include "cli/duration.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/private_dir.h"
#include "cli/proof_output.h"
#include "cli/stack.h"
#include "cli/stack_client.h"
#include "cli/submission.h"
#include "cli/view.h"
#include "cli/warnings.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/formats/wtns.h"
#include "core/formats/zkey.h"

namespace proofline::cli {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kAnswerLimit{30000};
constexpr std::chrono::hours kJobLimit{24 * 30};
constexpr int kMostRestarts = 2;

struct ProveOptions {
  std::string key, witness;
  ProofPaths out;
  std::string device, state;
  bool verbose = false;
};

struct Inputs {
  SharedInput key, witness;
  Zkey zkey;
};

// Headers only, so that a wrong file is refused in milliseconds and before any process is started. The workers check the rest.
Result<Inputs> OpenInputs(const ProveOptions& options) {
  Inputs inputs;
  PL_ASSIGN_OR_RETURN(inputs.key, OpenSharedInput(options.key, {.guarded = true, .stream_limit = StreamOf({FileKind::kZkey})}));
  auto zkey = ReadZkey(inputs.key.file.bytes(), options.key, ZkeyUse::kWithoutCoefficients);
  if (!zkey.ok()) return inputs.key.file.ChangeOr(std::move(zkey).status());
  inputs.zkey = *std::move(zkey);
  PL_ASSIGN_OR_RETURN(inputs.witness, OpenSharedInput(options.witness, {.secret = true, .guarded = true, .stream_limit = WitnessStream(inputs.zkey.view.n_vars)}));
  const auto witness = ReadWtns(inputs.witness.file.bytes(), options.witness);
  if (!witness.ok()) return inputs.witness.file.ChangeOr(witness.status());
  PL_RETURN_IF_ERROR(CheckWitnessFitsKey(*witness, options.witness, inputs.zkey.view, options.key));
  return inputs;
}

wire::Circuit DescribeCircuit(const Inputs& inputs) {
  wire::Circuit circuit;
  circuit.set_name("private");
  circuit.set_key_path(inputs.key.path);
  circuit.set_key_bytes(inputs.key.file.size_bytes());
  circuit.set_key_mtime_ns(inputs.key.file.mtime_ns());
  circuit.set_curve(static_cast<uint32_t>(inputs.zkey.view.curve));
  circuit.set_n_vars(inputs.zkey.view.n_vars);
  circuit.set_n_public(inputs.zkey.view.n_public);
  circuit.set_log2_domain(inputs.zkey.view.log2_domain);
  circuit.set_coefficient_count(inputs.zkey.coefficient_count);
  circuit.set_unsafe_key(inputs.zkey.unsafe);
  circuit.set_known_secret_key(inputs.zkey.known_secret);
  return circuit;
}

class ProgressLine {
 public:
  ProgressLine() : shown_(isatty(STDERR_FILENO) == 1), start_(std::chrono::steady_clock::now()) {}
  ~ProgressLine() {
    if (printed_) std::fputs("\r\033[K", stderr);
  }
  void Show(const wire::JobView& job) {
    if (!shown_) return;
    const std::string_view stage = job.partitions_size() && job.partitions(0).stages_size() ? "device" : "synthesis";
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    std::fprintf(stderr, "\r\033[Kproving (%.*s): %s", static_cast<int>(stage.size()), stage.data(),
                 FormatNs(static_cast<uint64_t>(std::chrono::nanoseconds(elapsed).count())).c_str());
    printed_ = true;
  }

 private:
  bool shown_, printed_ = false;
  std::chrono::steady_clock::time_point start_;
};

Result<ProvedPartition> RunJob(StackClient& client, const Inputs& inputs, wire::JobView& job) {
  wire::Request add;
  *add.mutable_circuit_add()->mutable_circuit() = DescribeCircuit(inputs);
  PL_ASSIGN_OR_RETURN(const wire::Reply added, client.Call(std::move(add), kAnswerLimit));
  wire::Request begin;
  begin.mutable_submit_begin()->set_circuit("private");
  begin.mutable_submit_begin()->set_partition_count(1);
  begin.mutable_submit_begin()->set_direct(true);
  PL_ASSIGN_OR_RETURN(const wire::Reply opened, client.Call(std::move(begin), kAnswerLimit));
  const uint64_t number = opened.ticket().job();
  PL_RETURN_IF_ERROR(client.PutInput(number, 0, inputs.witness.fd.get()));
  wire::Request commit;
  commit.mutable_submit_commit()->set_job(number);
  PL_ASSIGN_OR_RETURN(const wire::Reply committed, client.Call(std::move(commit), kAnswerLimit));
  ProgressLine progress;
  PL_ASSIGN_OR_RETURN(job, WaitForJob(client, committed.ack().job_name(), kJobLimit, [&](const wire::JobView& view) { progress.Show(view); }));
  if (job.state() != wire::JOB_DONE) return FailureOf(job);
  return FetchResult(client, number, 0);
}

// Workers name files as they opened them; a person knows what he typed.
Status InUserTerms(Status status, const Inputs& inputs) {
  if (status.ok()) return status;
  Error error = status.error();
  const std::pair<std::string, std::string> names[] = {
      {inputs.key.path, inputs.key.name}, {inputs.witness.path, inputs.witness.name}, {"witness of partition 0", inputs.witness.name}};
  for (const auto& [theirs, ours] : names)
    for (std::string* text : {&error.fact, &error.detail})
      for (size_t at = 0; theirs != ours && (at = text->find(theirs, at)) != std::string::npos; at += ours.size()) text->replace(at, theirs.size(), ours);
  return Status(std::move(error));
}

struct Proved {
  ProvedPartition result;
  wire::JobView job;
};

// A coordinator that died takes a private job with it; its successor gets the job again.
bool MayHelpToRepeat(ErrorCode code) { return code == ErrorCode::kNotFound || code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout; }

Result<Proved> ProvePrivately(const Inputs& inputs, const std::string& device) {
  PL_RETURN_IF_ERROR(RaiseFileLimit());
  PL_ASSIGN_OR_RETURN(const PrivateDir dir, PrivateDir::Make());
  InterruptGuard interrupt;
  StackOptions stack;
  stack.paths.state_dir = stack.paths.run_dir = dir.path();
  stack.is_private = true;
  stack.shape = inputs.zkey.view;
  stack.devices = {device};
  stack.output = getenv("PROOFLINE_LOG") ? SupervisorOptions::Output::kInherit : SupervisorOptions::Output::kKeep;
  PL_ASSIGN_OR_RETURN(const auto supervisor, StartStack(std::move(stack)));
  const auto failed = [&] { return supervisor->failure(); };
  StackPaths paths;
  paths.state_dir = paths.run_dir = dir.path();
  PL_ASSIGN_OR_RETURN(const auto client, StackClient::Connect(paths, {{interrupt.fd(), Interrupted}, {supervisor->failure_fd(), failed}}));
  for (int restarts = 0;;) {
    Proved proved;
    auto result = RunJob(*client, inputs, proved.job);
    const int now = supervisor->programs()[0].restarts;
    if (!result.ok() && MayHelpToRepeat(result.status().code()) && now > restarts && now <= kMostRestarts) {
      restarts = now;
      continue;
    }
    // The processes' memory is given back while the files are written.
    supervisor->Stop(milliseconds(0));
    if (!result.ok()) return InUserTerms(std::move(result).status(), inputs);
    proved.result = *std::move(result);
    return proved;
  }
}

Result<Proved> ProveOnStack(const ProveOptions& options, const Inputs& inputs) {
  InterruptGuard interrupt;
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(options.state, {{interrupt.fd(), Interrupted}}));
  PL_ASSIGN_OR_RETURN(const wire::Circuit circuit, FindOrAddCircuit(*client, options.key));
  std::vector<MappedFile> files(1);
  PL_ASSIGN_OR_RETURN(files[0], MappedFile::FromDescriptor(inputs.witness.fd.get(), options.witness, {.secret = true, .guarded = true}));
  PL_ASSIGN_OR_RETURN(const wire::SubmitAck ack, SubmitFiles(*client, {}, circuit, files));
  Proved proved;
  {
    ProgressLine progress;
    PL_ASSIGN_OR_RETURN(proved.job, WaitForJob(*client, ack.job_name(), kJobLimit, [&](const wire::JobView& view) { progress.Show(view); }));
  }
  if (proved.job.state() != wire::JOB_DONE) return InUserTerms(FailureOf(proved.job), inputs);
  PL_ASSIGN_OR_RETURN(proved.result, FetchResult(*client, ack.job(), 0));
  return proved;
}

Status Prove(const ProveOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const bool is_private = options.state.empty();
  if (!is_private && !options.device.empty()) return Status(ErrorCode::kUsage, "--device and --state exclude each other", "", "the stack that --state names has its own devices");
  std::string device = "of the stack";
  if (is_private) {
    PL_ASSIGN_OR_RETURN(device, ResolveDevice(options.device));
  }
  PL_RETURN_IF_ERROR(CheckOutputs(options.out, {options.key, options.witness}));
  PL_ASSIGN_OR_RETURN(const Inputs inputs, OpenInputs(options));
  WarnAboutKey(inputs.zkey, options.key);
  PL_ASSIGN_OR_RETURN(const Proved proved, is_private ? ProvePrivately(inputs, device) : ProveOnStack(options, inputs));
  PL_RETURN_IF_ERROR(inputs.key.file.CheckUnchanged());
  PL_RETURN_IF_ERROR(WriteProofFiles(options.out, proved.result));
  if (options.verbose) {
    std::fputs(JobText(proved.job).c_str(), stderr);
    const auto took = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "device %s, %s in all\n", device.c_str(), FormatNs(static_cast<uint64_t>(std::chrono::nanoseconds(took).count())).c_str());
  }
  return OkStatus();
}

}  // namespace

void AddProve(CLI::App& app, Command& command) {
  auto options = std::make_shared<ProveOptions>();
  CLI::App* sub = app.add_subcommand("prove", "make one proof (rapidsnark's argument order)");
  sub->add_option("KEY", options->key, "the .zkey; its points are checked to be on their curves (`circuit add` also checks subgroups)")->required()->type_name("");
  sub->add_option("WITNESS", options->witness, "the .wtns")->required()->type_name("");
  sub->add_option("PROOF", options->out.proof, "proof.json to write")->required()->type_name("");
  sub->add_option("PUBLIC", options->out.publics, "public.json to write")->required()->type_name("");
  sub->add_option("--calldata", options->out.calldata, "also write the arguments of snarkjs's Solidity verifier to this file")->type_name("FILE");
  sub->add_option("--device", options->device, "cpu or cuda:N (default: the first free CUDA device, else cpu)")->type_name("DEVICE");
  sub->add_option("--state", options->state, "use the running stack of this state directory instead of a private one")->type_name("DIR");
  sub->add_flag("-v,--verbose", options->verbose, "print the stages' times and the device");
  sub->footer("A private stack of processes is started for it and ended with it. The outputs are written both or not at all.");
  sub->callback([options, &command] { command.run = [options] { return Prove(*options); }; });
}

}  // namespace proofline::cli
