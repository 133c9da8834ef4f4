// Commands whose file is not there yet. A command that lands removes its line here.
#include "cli/command.h"

namespace proofline::cli {

void AddInspect(CLI::App&, Command&) {}
void AddVerify(CLI::App&, Command&) {}
void AddCheck(CLI::App&, Command&) {}
void AddProve(CLI::App&, Command&) {}
void AddUp(CLI::App&, Command&) {}
void AddCircuit(CLI::App&, Command&) {}
void AddSubmit(CLI::App&, Command&) {}
void AddWait(CLI::App&, Command&) {}
void AddStatus(CLI::App&, Command&) {}
void AddCancel(CLI::App&, Command&) {}

}  // namespace proofline::cli
