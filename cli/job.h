// What several commands do with jobs and circuits of a stack.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/stack_client.h"
#include "core/base/status.h"
#include "core/groth16/result.h"

namespace proofline::cli {

// kUsage for a name that the coordinator would refuse; `of`: "a circuit", "a job".
Status CheckName(const std::string& name, std::string_view of);
// kNotFound if the stack does not know it.
Result<wire::Circuit> ShowCircuit(StackClient& client, const std::string& name);
// Until the job has ended or `limit` is over (kTimeout; nothing happens to the job). `observer` sees the job now and then meanwhile.
Result<wire::JobView> WaitForJob(StackClient& client, const std::string& job_name, std::chrono::milliseconds limit,
                                 const std::function<void(const wire::JobView&)>& observer = {});
// kNotFound if that partition has no result.
Result<ProvedPartition> FetchResult(StackClient& client, uint64_t job, uint32_t partition);
// The reason of a job that ended otherwise than done, from its first failed partition.
Status FailureOf(const wire::JobView& job);

}  // namespace proofline::cli
