// The program `proofline-bench` (also `proofline bench`): measurements, and the test keys and circuits that they need.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bench/commands.h"

namespace proofline::bench {
namespace {

constexpr int kUsageExit = 2;

constexpr const char* kFooter = R"(
A test key for a circuit of our own, and a proof with it:
  proofline bench circuit --kind chain --log2 16 --r1cs c.r1cs --witness c.wtns
  proofline bench setup --r1cs c.r1cs --seed test --out c.zkey --vkey vkey.json
  proofline prove c.zkey c.wtns proof.json public.json)";

Status Run(const cli::Command& command) {
  try {
    return command.run ? command.run() : OkStatus();
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResource, "out of memory", "", "free memory, or use a smaller input");
  } catch (const std::exception& e) {
    return Status(ErrorCode::kInternal, "unexpected exception", e.what(), "please report this");
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Measurements of Proofline, and the keys and circuits they need.", "proofline-bench");
  cli::Command command;
  app.require_subcommand(1);
  app.footer(kFooter);
  AddMakeCircuit(app, command);
  AddCompare(app, command);
  AddProveOnDevice(app, command);
  AddPartition(app, command);
  AddMakeKey(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kUsageExit;
  }
  const Status status = Run(command);
  if (status.ok()) return 0;
  cli::PrintError(status);
  return ExitCodeFor(status.code());
}

}  // namespace
}  // namespace proofline::bench

int main(int argc, char** argv) { return proofline::bench::Main(argc, argv); }
