// proofline wait: until a job has ended, then its stage times and its proofs.
#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/proof_output.h"
#include "cli/stack_client.h"
#include "cli/view.h"
#include "core/base/progress.h"
#include "core/base/text.h"

namespace proofline::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::hours kNoTimeout{24 * 365};

struct WaitOptions {
  std::string state, job, out, timeout;
  bool json = false;
};

Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return OkStatus();
  return Status(ErrorCode::kInvalidArgument, StrCat(path, ": the directory cannot be made: ", error.message()), "", "name a directory that you may write");
}

// DIR/I/proof.json and public.json of every partition that has a result.
Status WriteResults(StackClient& client, const wire::JobView& job, const std::string& out) {
  for (uint32_t i = 0; i < job.partition_count(); ++i) {
    auto result = FetchResult(client, job.job(), i);
    if (!result.ok() && result.status().code() == ErrorCode::kNotFound && job.state() != wire::JOB_DONE) continue;
    if (!result.ok()) return std::move(result).status();
    const std::string folder = StrCat(out, "/", i);
    PL_RETURN_IF_ERROR(MakeFolder(folder));
    PL_RETURN_IF_ERROR(WriteProofFiles({folder + "/proof.json", folder + "/public.json", ""}, *result));
  }
  return OkStatus();
}

// Whatever went wrong, a job that failed is exit 1: repeating `wait` cannot help.
Status JobFailed(const wire::JobView& job) {
  if (job.state() == wire::JOB_DONE) return OkStatus();
  const Status reason = FailureOf(job);
  if (job.state() == wire::JOB_CANCELLED) return reason;
  const auto failed = std::count_if(job.partitions().begin(), job.partitions().end(), [](const auto& p) { return p.state() == wire::JOB_FAILED; });
  const ErrorCode code = ExitCodeFor(reason.code()) == 1 ? reason.code() : ErrorCode::kCancelled;
  return Status(code, StrCat("job ", job.job_name(), " failed: ", failed, " of ", job.partition_count(), " partitions failed"), reason.error().fact, reason.error().remedy);
}

uint64_t EndedPartitions(const wire::JobView& job) {
  return static_cast<uint64_t>(std::count_if(job.partitions().begin(), job.partitions().end(), [](const auto& p) { return IsEnded(p.state()); }));
}

Status Wait(const WaitOptions& options) {
  std::chrono::milliseconds limit = kNoTimeout;
  if (!options.timeout.empty()) {
    PL_ASSIGN_OR_RETURN(limit, ParseDuration(options.timeout, "--timeout"));
  }
  if (!options.out.empty()) PL_RETURN_IF_ERROR(MakeFolder(options.out));
  InterruptGuard interrupt;
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(options.state, {{interrupt.fd(), Interrupted}}));
  std::unique_ptr<Progress> progress;
  uint64_t shown = 0;
  const auto observe = [&](const wire::JobView& job) {
    if (!progress) progress = std::make_unique<Progress>("waiting for " + options.job, job.partition_count(), "partitions");
    const uint64_t ended = EndedPartitions(job);
    progress->Advance(ended > shown ? ended - shown : 0);
    shown = std::max(shown, ended);
  };
  auto waited = WaitForJob(*client, options.job, limit, observe);
  progress.reset();
  if (!waited.ok()) return std::move(waited).status();
  std::fputs((options.json ? JobJson(*waited) : JobText(*waited)).c_str(), stdout);
  if (!options.out.empty()) PL_RETURN_IF_ERROR(WriteResults(*client, *waited, options.out));
  return JobFailed(*waited);
}

}  // namespace

void AddWait(CLI::App& app, Command& command) {
  auto options = std::make_shared<WaitOptions>();
  CLI::App* sub = app.add_subcommand("wait", "wait for a job, print its stage times, write its proofs");
  sub->add_option("JOB", options->job, "the id that `submit` printed")->required()->type_name("");
  sub->add_option("--out", options->out, "write DIR/0/proof.json, DIR/0/public.json, DIR/1/... (of a failed job: what is done)")->type_name("DIR");
  sub->add_option("--timeout", options->timeout, "give up waiting (exit 3) after 500ms, 60s, 2m, 1h; the job goes on")->type_name("TIME");
  sub->add_option("--state", options->state, "the stack's state directory")->type_name("DIR");
  sub->add_flag("--json", options->json, "print the job as JSON");
  sub->callback([options, &command] { command.run = [options] { return Wait(*options); }; });
}

}  // namespace proofline::cli
