// The shape of a sub-command. Each cli/<name>.cc offers one function
//
//     void AddVerify(CLI::App& app, Command& command);
//
// which adds its sub-command with its options to `app` and sets the sub-command's callback to store what has to run:
//
//     auto options = std::make_shared<VerifyOptions>();
//     CLI::App* sub = app.add_subcommand("verify", "checks a proof against a verification key");
//     sub->add_option("VKEY.json", options->vkey, "...")->required();
//     sub->callback([options, &command] { command.run = [options] { return RunVerify(*options); }; });
//
// cli/main.cc parses, then calls `run` outside of the parser, prints a failure as "proofline: fact", "  detail", "  remedy" on
// stderr and exits with ExitCodeFor(code). Wrong usage exits 2 whatever the parser says.
//
// Rules: results go to stdout, warnings (through Warn) and progress to stderr. With --json the one thing on stdout is one JSON
// document. Options that take several values swallow the positional arguments after them: give them
// ->expected(1)->take_all() or allow_extra_args(false), so that each value needs its own option name.
#pragma once

#include <cstdio>
#include <functional>
#include <string_view>

#include "core/base/status.h"

namespace CLI {
class App;
}

namespace proofline::cli {

struct Command {
  std::function<Status()> run;  // set by the callback of the sub-command that was named
};

inline void Warn(std::string_view text) {
  std::fprintf(stderr, "proofline: warning: %.*s\n", static_cast<int>(text.size()), text.data());
}

// "proofline: fact", then detail and remedy indented on lines of their own, on stderr. Only main.cc needs it.
void PrintError(const Status& status);

void AddVerify(CLI::App& app, Command& command);
void AddInspect(CLI::App& app, Command& command);
void AddCheck(CLI::App& app, Command& command);
void AddProve(CLI::App& app, Command& command);
void AddUp(CLI::App& app, Command& command);
void AddCircuit(CLI::App& app, Command& command);
void AddSubmit(CLI::App& app, Command& command);
void AddWait(CLI::App& app, Command& command);
void AddStatus(CLI::App& app, Command& command);
void AddCancel(CLI::App& app, Command& command);

}  // namespace proofline::cli
