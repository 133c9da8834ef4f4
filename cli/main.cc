// The program `proofline`: reads the command line, runs one sub-command, turns its Status into an exit code.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <unistd.h>

#include "cli/child.h"
#include "cli/command.h"
#include "cli/interrupt.h"

namespace proofline::cli {
namespace {

constexpr int kUsageExit = 2;

constexpr const char* kFooter = R"(
First steps:
  proofline prove circuit.zkey witness.wtns proof.json public.json
  proofline verify verification_key.json public.json proof.json
  proofline inspect circuit.zkey
A service:
  proofline up &
  proofline circuit add mine --key circuit.zkey
  proofline wait $(proofline submit --circuit mine --witness w0.wtns --witness w1.wtns) --out results

`proofline COMMAND --help` lists a command's options.
Exit codes: 0 done; 1 the input or the job is at fault; 2 usage; 3 the system is at fault and a retry can help.)";

// `proofline bench ...` is the program proofline-bench beside this one, with the same arguments.
int ExecBench(char** argv) {
  auto folder = OwnProgramFolder();
  if (!folder.ok()) {
    PrintError(folder.status());
    return ExitCodeFor(folder.status().code());
  }
  const std::string program = *folder + "/proofline-bench";
  execv(program.c_str(), argv);
  const Status status(ErrorCode::kUnavailable, "cannot start " + program, strerror(errno), "build the target proofline-bench, or install it beside proofline");
  PrintError(status);
  return ExitCodeFor(status.code());
}

int RunSelected(const Command& command) {
  if (!command.run) return 0;
  Status status;
  try {
    status = command.run();
  } catch (const std::bad_alloc&) {
    status = Status(ErrorCode::kResource, "out of memory", "", "free memory, or use a smaller input");
  } catch (const std::exception& e) {
    status = Status(ErrorCode::kInternal, "unexpected exception", e.what(), "please report this");
  }
  // A full disk behind stdout must not look like success.
  if (status.ok() && (std::fflush(stdout) != 0 || std::ferror(stdout)))
    status = Status(ErrorCode::kIo, "cannot write to the standard output", strerror(errno), "free space on the device, or send the output elsewhere");
  if (const int number = InterruptGuard::signal()) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  if (status.ok()) return 0;
  std::fflush(stdout);
  PrintError(status);
  return ExitCodeFor(status.code());
}

int UsageError(const CLI::App& app, const CLI::ParseError& error) {
  std::fprintf(stderr, "proofline: %s\n", error.what());
  std::string name = "proofline";
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  std::fprintf(stderr, "  `%s --help` lists what is understood\n", name.c_str());
  return kUsageExit;
}

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  if (argc >= 2 && std::string_view(argv[1]) == "bench") return ExecBench(argv + 1);

  CLI::App app("Groth16 proofs for circom circuits, on one machine or many.", "proofline");
  Command command;
  app.set_version_flag("--version", std::string("proofline ") + PROOFLINE_VERSION);
  app.require_subcommand(1);
  AddProve(app, command);
  AddVerify(app, command);
  AddInspect(app, command);
  AddCheck(app, command);
  AddUp(app, command);
  AddCircuit(app, command);
  AddSubmit(app, command);
  AddWait(app, command);
  AddStatus(app, command);
  AddCancel(app, command);
  app.add_subcommand("bench", "measurements and test keys (runs proofline-bench)");
  app.footer(kFooter);  // last: sub-commands inherit what is there when they are made
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return kUsageExit;
  }
  if (argv[1][0] != '-' && app.get_subcommands([&](CLI::App* c) { return c->check_name(argv[1]); }).empty()) {
    std::fprintf(stderr, "proofline: no command is called \"%s\"\n  `proofline --help` lists the commands\n", argv[1]);
    return kUsageExit;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    command.run = [&] {
      app.exit(done);
      std::cout.flush();
      return std::cout ? OkStatus() : Status(ErrorCode::kIo, "cannot write to the standard output", strerror(errno), "free space on the device, or send the output elsewhere");
    };
    return RunSelected(command);
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error);
  }
  return RunSelected(command);
}

}  // namespace
}  // namespace proofline::cli

int main(int argc, char** argv) { return proofline::cli::Main(argc, argv); }
