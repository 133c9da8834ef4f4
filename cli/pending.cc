// Commands whose file is not there yet. A command that lands removes its line here.
#include "cli/command.h"

namespace proofline::cli {

void AddInspectCommand(CLI::App&, Commands&) {}
void AddVerifyCommand(CLI::App&, Commands&) {}
void AddCheckCommand(CLI::App&, Commands&) {}
void AddProveCommand(CLI::App&, Commands&) {}
void AddUpCommand(CLI::App&, Commands&) {}
void AddCircuitCommand(CLI::App&, Commands&) {}
void AddSubmitCommand(CLI::App&, Commands&) {}
void AddWaitCommand(CLI::App&, Commands&) {}
void AddStatusCommand(CLI::App&, Commands&) {}
void AddCancelCommand(CLI::App&, Commands&) {}

}  // namespace proofline::cli
