// Giving a job to a stack that is not private: inputs are copied into its spool, and the job is acknowledged when it is durable.
#pragma once

#include <string>
#include <vector>

#include "cli/stack_client.h"
#include "core/base/file.h"
#include "core/base/status.h"

namespace proofline::cli {

// Opens a .wtns and checks what can be told without the key's file: kind, curve, number of values. A stream is read no further than
// that goes well, and not after `interrupt_fd` has become readable.
Result<MappedFile> OpenWitness(const std::string& path, const wire::Circuit& circuit, int interrupt_fd);

// `begin` without a partition count: there is one partition for each file. On failure the submission is given up.
Result<wire::SubmitAck> SubmitFiles(StackClient& client, wire::SubmitBegin begin, const wire::Circuit& circuit, const std::vector<MappedFile>& files);

}  // namespace proofline::cli
