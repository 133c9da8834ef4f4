// What one sub-command of `proofline` is to main.cc.
//
// A command's file has one function `void AddXCommand(CLI::App& app, Commands& commands)`: it adds its sub-command with its
// options and says what to run. Nothing runs before the whole command line has been accepted. Pattern:
//
//   void AddVerifyCommand(CLI::App& app, Commands& commands) {
//     auto options = std::make_shared<VerifyOptions>();
//     CLI::App* command = app.add_subcommand("verify", "check a proof (snarkjs's argument order)");
//     command->add_option("VKEY", options->vkey, "verification_key.json")->required();
//     commands.OnSelected(command, [options] { return Verify(*options); });
//   }
//
// The returned Status becomes the exit code (ExitCodeFor) and, on failure, three lines on stderr. Results go to stdout.
// CLI11 2.1: an option that takes several values swallows the positionals after it; give such options
// ->allow_extra_args(false), or no positionals beside them.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string_view>

#include "core/base/status.h"

namespace proofline::cli {

class Commands {
 public:
  using Body = std::function<Status()>;
  // `body` is run if `command` turns out to be the one the user typed.
  void OnSelected(CLI::App* command, Body body) {
    command->callback([this, body = std::move(body)] { selected_ = body; });
  }
  const Body& selected() const { return selected_; }

 private:
  Body selected_;
};

// "proofline: fact", then detail and remedy indented on lines of their own, on stderr.
void PrintError(const Status& status);
// "proofline: warning: ..." on stderr.
void PrintWarning(std::string_view text);

void AddInspectCommand(CLI::App& app, Commands& commands);
void AddVerifyCommand(CLI::App& app, Commands& commands);
void AddCheckCommand(CLI::App& app, Commands& commands);
void AddProveCommand(CLI::App& app, Commands& commands);
void AddUpCommand(CLI::App& app, Commands& commands);
void AddCircuitCommand(CLI::App& app, Commands& commands);
void AddSubmitCommand(CLI::App& app, Commands& commands);
void AddWaitCommand(CLI::App& app, Commands& commands);
void AddStatusCommand(CLI::App& app, Commands& commands);
void AddCancelCommand(CLI::App& app, Commands& commands);

}  // namespace proofline::cli
