// `proofline-bench setup`: a test key for a circuit, from a seed.
#include <CLI/CLI.hpp>
#include <tbb/task_arena.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "bench/commands.h"
#include "cli/output_paths.h"
#include "core/base/file.h"
#include "core/base/progress.h"
#include "core/base/text.h"
#include "core/formats/r1cs.h"
#include "core/formats/vkey_json.h"
#include "core/formats/zkey.h"
#include "core/formats/zkey_writer.h"
#include "core/groth16/backend.h"
#include "core/groth16/setup.h"

namespace proofline::bench {
namespace {

struct SetupOptions {
  std::string r1cs, seed, out, vkey;
  int threads = tbb::task_arena::automatic;
};

Status WriteVerificationKey(const std::string& zkey_path, const std::string& vkey_path) {
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(zkey_path));
  PL_ASSIGN_OR_RETURN(Zkey key, ReadZkey(file.bytes(), zkey_path, ZkeyUse::kWithoutCoefficients));
  const Backend& backend = GetBackend(key.view.curve);
  PL_ASSIGN_OR_RETURN(VerificationKey vk, backend.ExtractVerificationKey(key.view));
  return WriteFileAtomically(vkey_path, VerificationKeyToJson(vk, backend.AlphaBeta(vk)));
}

Status RunSetup(const SetupOptions& options) {
  PL_RETURN_IF_ERROR(cli::CheckOutputPaths({options.out, options.vkey}, {options.r1cs}));
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(options.r1cs));
  PL_ASSIGN_OR_RETURN(R1cs r1cs, ReadR1cs(file.bytes(), options.r1cs));
  // The seed itself is not written: it is the secret, and a name such as "test" would be enough to find it.
  PL_ASSIGN_OR_RETURN(ZkeyWriter writer, ZkeyWriter::Create(options.out, "made from a seed by proofline-bench setup"));
  {
    std::optional<Progress> progress;
    uint64_t before = 0;
    auto report = [&](uint64_t done, uint64_t total) {
      if (!progress) progress.emplace("making a test key", total, "points");
      progress->Advance(done - before);
      before = done;
    };
    PL_RETURN_IF_ERROR(GenerateKey(r1cs.view, options.seed, writer, report));
  }
  // There is no hash of a circuit without a ceremony; readers of keys do not look at it.
  PL_RETURN_IF_ERROR(writer.Finish({}));
  if (!options.vkey.empty()) PL_RETURN_IF_ERROR(WriteVerificationKey(options.out, options.vkey));
  std::fprintf(stderr, "%s: a test key: whoever knows its seed can forge proofs for it\n", options.out.c_str());
  return OkStatus();
}

}  // namespace

void AddMakeKey(CLI::App& app, cli::Command& command) {
  auto options = std::make_shared<SetupOptions>();
  CLI::App* sub = app.add_subcommand("setup", "makes a Groth16 key for a circuit from a seed, for tests and measurements");
  sub->add_option("--r1cs", options->r1cs, "the circuit")->required();
  sub->add_option("--seed", options->seed, "any text; the same text gives the same key")->required();
  sub->add_option("--out", options->out, "the .zkey to write")->required();
  sub->add_option("--vkey", options->vkey, "also writes its verification_key.json here");
  sub->add_option("--threads", options->threads, "processor threads to use; all otherwise")->check(CLI::Range(1, 4096));
  sub->callback([options, &command] {
    command.run = [options] { return tbb::task_arena(options->threads).execute([&] { return RunSetup(*options); }); };
  });
}

}  // namespace proofline::bench
