// `proofline-bench circuit`: one of our own circuits with a witness, in a size of choice.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "bench/commands.h"
#include "cli/output_paths.h"
#include "core/circuits/circuit.h"
#include "core/formats/r1cs_writer.h"
#include "core/formats/wtns_writer.h"

namespace proofline::bench {
namespace {

struct CircuitOptions {
  std::string kind = "chain", curve = "bn128", seed = "proofline", r1cs, witness;
  int log2 = 16;
};

Status RunCircuit(const CircuitOptions& options) {
  PL_RETURN_IF_ERROR(cli::CheckOutputPaths({options.r1cs, options.witness}, {}));
  SizedOptions sized{.kind = CircuitKind::kChain, .log2 = options.log2, .seed = options.seed};
  PL_ASSIGN_OR_RETURN(sized.kind, ParseCircuitKind(options.kind));
  const CurveId curve = options.curve == CurveJsonName(CurveId::kBn254) ? CurveId::kBn254 : CurveId::kBls12381;
  PL_ASSIGN_OR_RETURN(Circuit circuit, MakeSizedCircuit(curve, sized));
  if (!options.r1cs.empty()) PL_RETURN_IF_ERROR(WriteR1cs(circuit.view(), options.r1cs));
  if (!options.witness.empty()) PL_RETURN_IF_ERROR(WriteWtns(curve, circuit.witness(), options.witness));
  std::fprintf(stderr, "%s circuit over %s: %u constraints, %u wires, %u public signals\n", options.kind.c_str(),
               options.curve.c_str(), circuit.n_constraints(), circuit.n_wires(), circuit.n_public());
  return OkStatus();
}

}  // namespace

void AddMakeCircuit(CLI::App& app, cli::Command& command) {
  auto options = std::make_shared<CircuitOptions>();
  CLI::App* sub = app.add_subcommand("circuit", "writes a circuit of our own and a witness for it");
  sub->add_option("--kind", options->kind,
                  "chain: hashes and range checks; bits: SHA-256, nearly all values 0 or 1; identity: nearly all values full-size")
      ->check(CLI::IsMember({"chain", "bits", "identity"}))
      ->capture_default_str();
  sub->add_option("--log2", options->log2, "the circuit fills a domain of 2^LOG2")->check(CLI::Range(10, 24))->capture_default_str();
  sub->add_option("--curve", options->curve, "the curve")->check(CLI::IsMember({"bn128", "bls12381"}))->capture_default_str();
  sub->add_option("--seed", options->seed, "any text; other texts give other witnesses of the same circuit")->capture_default_str();
  sub->add_option("--r1cs", options->r1cs, "the .r1cs to write");
  sub->add_option("--witness", options->witness, "the .wtns to write");
  sub->callback([options, &command] { command.run = [options] { return RunCircuit(*options); }; });
}

}  // namespace proofline::bench
