// proofline status: a stack, or one job of it.
#include <CLI/App.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/stack_client.h"
#include "cli/view.h"

namespace proofline::cli {
namespace {

constexpr std::chrono::seconds kAnswerLimit{10};

struct StatusOptions {
  std::string state, job;
  bool json = false;
};

Status ShowStatus(const StatusOptions& options) {
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(options.state));
  wire::Request request;
  request.mutable_status()->set_job_name(options.job);
  PL_ASSIGN_OR_RETURN(const wire::Reply reply, client->Call(std::move(request), kAnswerLimit));
  if (options.job.empty()) {
    std::fputs((options.json ? StackJson(reply.status()) : StackText(reply.status())).c_str(), stdout);
  } else {
    std::fputs((options.json ? JobJson(reply.job()) : JobText(reply.job())).c_str(), stdout);
  }
  return OkStatus();
}

}  // namespace

void AddStatus(CLI::App& app, Command& command) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* sub = app.add_subcommand("status", "show a running stack, or one of its jobs");
  sub->add_option("JOB", options->job, "the id that `submit` printed; without it, the stack")->type_name("");
  sub->add_option("--state", options->state, "the stack's state directory")->type_name("DIR");
  sub->add_flag("--json", options->json, "print JSON");
  sub->callback([options, &command] { command.run = [options] { return ShowStatus(*options); }; });
}

}  // namespace proofline::cli
