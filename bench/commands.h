// The sub-commands of proofline-bench. Their shape is that of cli/command.h: each adds itself to the parser and stores what has to run.
#pragma once

#include "cli/command.h"

namespace proofline::bench {

void AddMakeCircuit(CLI::App& app, cli::Command& command);
void AddCompare(CLI::App& app, cli::Command& command);
void AddProveOnDevice(CLI::App& app, cli::Command& command);
void AddPartition(CLI::App& app, cli::Command& command);
void AddMakeKey(CLI::App& app, cli::Command& command);

}  // namespace proofline::bench
