#include <CLI/CLI.hpp>
#include <memory>

#include "bench/commands.h"
#include "bench/compare.h"
#include "cli/child.h"
#include "cli/output_paths.h"

namespace proofline::bench {

void AddCompare(CLI::App& app, cli::Command& command) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* sub = app.add_subcommand("compare", "Proofline and a rapidsnark of yours, in turn, on the same key and witness");
  sub->add_option("--rapidsnark", options->rapidsnark, "its program `prover`")->required();
  sub->add_option("--key", options->key, "KEY.zkey")->required();
  sub->add_option("--witness", options->witness, "WITNESS.wtns")->required();
  sub->add_option("--vkey", options->vkey, "VKEY.json: both proofs must verify");
  sub->add_option("--label", options->label, "the circuit's name in the table; the key's file name otherwise");
  sub->add_option("--runs", options->runs, "timed pairs")->capture_default_str();
  sub->add_option("--memory-runs", options->memory_runs, "pairs with memory sampled, not timed")->capture_default_str();
  sub->add_option("--results", options->results, "append one JSON line to this file");
  sub->add_option("--proofline", options->proofline, "our program; the one beside this otherwise");
  sub->callback([options, &command] {
    command.run = [options]() -> Status {
      if (options->proofline.empty()) {
        PL_ASSIGN_OR_RETURN(std::string folder, cli::OwnProgramFolder());
        options->proofline = folder + "/proofline";
      }
      PL_RETURN_IF_ERROR(cli::CheckOutputPaths({options->results}, {options->key, options->witness, options->vkey}));
      return RunCompare(*options);
    };
  });
}

}  // namespace proofline::bench
