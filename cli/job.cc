#include "cli/job.h"

#include <algorithm>

#include "cli/duration.h"
#include "cli/proof_output.h"
#include "cli/view.h"
#include "core/base/text.h"

namespace proofline::cli {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kAnswerLimit{30000}, kWaitSlice{1000};
constexpr size_t kLongestName = 128;

}  // namespace

Status CheckName(const std::string& name, std::string_view of) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'; };
  if (!name.empty() && name.size() <= kLongestName && name[0] != '.' && name[0] != '-' && std::all_of(name.begin(), name.end(), good)) return OkStatus();
  return Status(ErrorCode::kUsage, StrCat("\"", name, "\" is no name for ", of), "", StrCat("letters, digits, '-', '_' and '.', at most ", kLongestName, ", not beginning with '.' or '-'"));
}

Result<wire::Circuit> ShowCircuit(StackClient& client, const std::string& name) {
  wire::Request request;
  request.mutable_circuit_show()->set_name(name);
  PL_ASSIGN_OR_RETURN(const wire::Reply reply, client.Call(std::move(request), kAnswerLimit));
  if (reply.circuits().circuits_size() != 1) return Status(ErrorCode::kInternal, StrCat("the coordinator answered with ", reply.circuits().circuits_size(), " circuits for \"", name, "\", expected 1"));
  return reply.circuits().circuits(0);
}

Result<wire::JobView> WaitForJob(StackClient& client, const std::string& job_name, milliseconds limit, const std::function<void(const wire::JobView&)>& observer) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left = std::max(std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()), milliseconds(0));
    wire::Request request;
    request.mutable_wait_job()->set_job_name(job_name);
    request.mutable_wait_job()->set_timeout_ms(static_cast<uint64_t>(std::min(left, kWaitSlice).count()));
    PL_ASSIGN_OR_RETURN(const wire::Reply reply, client.Call(std::move(request), kAnswerLimit));
    if (IsEnded(reply.job().state())) return reply.job();
    if (observer) observer(reply.job());
    if (left.count() == 0)
      return Status(ErrorCode::kTimeout, StrCat("job ", job_name, " is ", StateName(reply.job().state()), " after the ", FormatNs(static_cast<uint64_t>(limit.count()) * 1'000'000), " given by --timeout"),
                    "", "the job goes on; wait again, or cancel it");
  }
}

Result<ProvedPartition> FetchResult(StackClient& client, uint64_t job, uint32_t partition) {
  PL_ASSIGN_OR_RETURN(const UniqueFd fd, client.GetResult(job, partition));
  return ReadResult(fd.get());
}

Status FailureOf(const wire::JobView& job) {
  if (job.state() == wire::JOB_CANCELLED) return Status(ErrorCode::kCancelled, StrCat("job ", job.job_name(), " was cancelled"));
  for (const auto& partition : job.partitions())
    if (partition.has_error() && partition.error().code()) return wire::ToStatus(partition.error());
  return Status(ErrorCode::kInternal, StrCat("job ", job.job_name(), " failed without a reason"));
}

}  // namespace proofline::cli
