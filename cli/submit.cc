// proofline submit, cancel: jobs of a running stack.
#include <CLI/App.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/stack_client.h"
#include "cli/submission.h"
#include "cli/view.h"
#include "core/base/file.h"

namespace proofline::cli {
namespace {

constexpr std::chrono::seconds kAnswerLimit{30};

struct SubmitOptions {
  std::string state, circuit, id, priority = "normal", deadline;
  std::vector<std::string> witnesses;
};

Status Submit(const SubmitOptions& options) {
  if (!options.id.empty()) PL_RETURN_IF_ERROR(CheckName(options.id, "a job"));
  wire::SubmitBegin body;
  body.set_circuit(options.circuit);
  body.set_partition_count(static_cast<uint32_t>(options.witnesses.size()));
  body.set_id(options.id);
  PL_ASSIGN_OR_RETURN(const wire::Priority priority, ParsePriority(options.priority));
  body.set_priority(priority);
  if (!options.deadline.empty()) {
    PL_ASSIGN_OR_RETURN(const auto deadline, ParseDuration(options.deadline, "--deadline"));
    if (deadline.count() == 0) return Status(ErrorCode::kUsage, "--deadline: 0 can never be met", "", "leave it out for no deadline");
    body.set_deadline_ms(static_cast<uint64_t>(deadline.count()));
  }
  InterruptGuard interrupt;
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(options.state, {{interrupt.fd(), Interrupted}}));
  PL_ASSIGN_OR_RETURN(const wire::Circuit circuit, ShowCircuit(*client, options.circuit));
  std::vector<MappedFile> files;
  for (const std::string& witness : options.witnesses) {
    PL_ASSIGN_OR_RETURN(MappedFile file, OpenWitness(witness, circuit, interrupt.fd()));
    files.push_back(std::move(file));
  }
  PL_ASSIGN_OR_RETURN(const wire::SubmitAck ack, SubmitFiles(*client, std::move(body), circuit, files));
  std::printf("%s\n", ack.job_name().c_str());
  return OkStatus();
}

Status Cancel(const std::string& state, const std::string& job) {
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(state));
  wire::Request request;
  request.mutable_cancel_job()->set_job_name(job);
  auto reply = client->Call(std::move(request), kAnswerLimit);
  if (!reply.ok()) return std::move(reply).status();
  return OkStatus();
}

}  // namespace

void AddSubmit(CLI::App& app, Command& command) {
  auto options = std::make_shared<SubmitOptions>();
  CLI::App* sub = app.add_subcommand("submit", "give a job to a running stack; prints the job's id");
  sub->add_option("--circuit", options->circuit, "a circuit that `circuit add` made known")->required()->type_name("NAME");
  sub->add_option("--witness", options->witnesses, "a .wtns file for each partition, in order; may be repeated")->required()->expected(1, -1)->type_name("FILE");
  sub->add_option("--id", options->id, "your own id: the same id with the same content joins the job or its stored result")->type_name("ID");
  sub->add_option("--priority", options->priority, "critical, high, normal (default) or low")->type_name("");
  sub->add_option("--deadline", options->deadline, "the job fails if it is not done in this time: 30s, 2m")->type_name("TIME");
  sub->add_option("--state", options->state, "the stack's state directory")->type_name("DIR");
  sub->callback([options, &command] { command.run = [options] { return Submit(*options); }; });
}

void AddCancel(CLI::App& app, Command& command) {
  struct Options {
    std::string state, job;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("cancel", "cancel a job; what is being computed is finished and dropped");
  sub->add_option("JOB", options->job, "the id that `submit` printed")->required()->type_name("");
  sub->add_option("--state", options->state, "the stack's state directory")->type_name("DIR");
  sub->callback([options, &command] { command.run = [options] { return Cancel(options->state, options->job); }; });
}

}  // namespace proofline::cli
