// `proofline-bench setup`: a test key for a circuit, from a seed.
#include <CLI/CLI.hpp>
#include <tbb/task_arena.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/commands.h"
#include "cli/output_paths.h"
#include "core/base/file.h"
#include "core/base/progress.h"
#include "core/base/text.h"
#include "core/circuits/filecoin/circuit_source.h"
#include "core/formats/params_writer.h"
#include "core/formats/r1cs.h"
#include "core/formats/vkey_json.h"
#include "core/formats/zkey.h"
#include "core/formats/zkey_writer.h"
#include "core/groth16/backend.h"
#include "core/groth16/setup.h"

namespace proofline::bench {
namespace {

// The seed itself is not written: it is the secret, and a name such as "test" would be enough to find it.
constexpr char kNote[] = "made from a seed by proofline-bench setup";

struct SetupOptions {
  std::string r1cs, circuit, seed, out, vkey;
  int threads = tbb::task_arena::automatic;
};

class ProgressReport {
 public:
  void operator()(uint64_t done, uint64_t total) {
    if (!progress_) progress_.emplace("making a test key", total, "points");
    progress_->Advance(done - before_);
    before_ = done;
  }

 private:
  std::optional<Progress> progress_;
  uint64_t before_ = 0;
};

Status WriteVerificationKey(const std::string& zkey_path, const std::string& vkey_path) {
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(zkey_path));
  PL_ASSIGN_OR_RETURN(Zkey key, ReadZkey(file.bytes(), zkey_path, ZkeyUse::kWithoutCoefficients));
  const Backend& backend = GetBackend(key.view.curve);
  PL_ASSIGN_OR_RETURN(VerificationKey vk, backend.ExtractVerificationKey(key.view));
  return WriteFileAtomically(vkey_path, VerificationKeyToJson(vk, backend.AlphaBeta(vk)));
}

Status MakeZkey(const R1csView& r1cs, const SetupOptions& options) {
  PL_ASSIGN_OR_RETURN(ZkeyWriter writer, ZkeyWriter::Create(options.out, kNote));
  {
    ProgressReport progress;
    PL_RETURN_IF_ERROR(GenerateKey(r1cs, options.seed, writer, std::ref(progress)));
  }
  // There is no hash of a circuit without a ceremony; readers of keys do not look at it.
  PL_RETURN_IF_ERROR(writer.Finish({}));
  return options.vkey.empty() ? OkStatus() : WriteVerificationKey(options.out, options.vkey);
}

Status MakeParams(const ConstraintSource& source, const SetupOptions& options) {
  PL_ASSIGN_OR_RETURN(ParamsWriter writer, ParamsWriter::Create(options.out, options.vkey, kNote));
  {
    ProgressReport progress;
    PL_RETURN_IF_ERROR(GenerateParams(source, ToxicWasteOf(options.seed), writer, std::ref(progress)));
  }
  return writer.Finish();
}

Status MakeKey(const SetupOptions& options) {
  const bool params = options.out.ends_with(".params");
  if (options.r1cs.empty() == options.circuit.empty()) return Status(ErrorCode::kUsage, "give either --r1cs or --circuit");
  if (!options.circuit.empty()) {
    if (!params) return Status(ErrorCode::kUsage, StrCat("--circuit: its key is a .params, '", options.out, "' is not named so"));
    PL_ASSIGN_OR_RETURN(std::unique_ptr<ConstraintSource> source, filecoin::MakeCircuitSource(options.circuit));
    return MakeParams(*source, options);
  }
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(options.r1cs));
  PL_ASSIGN_OR_RETURN(R1cs r1cs, ReadR1cs(file.bytes(), options.r1cs));
  return params ? MakeParams(R1csSource(r1cs.view), options) : MakeZkey(r1cs.view, options);
}

Status RunSetup(const SetupOptions& options) {
  std::vector<std::string> outputs = {options.out, options.vkey};
  if (options.out.ends_with(".params")) outputs.push_back(ParamsNotePath(options.out));
  PL_RETURN_IF_ERROR(cli::CheckOutputPaths(outputs, {options.r1cs}));
  PL_RETURN_IF_ERROR(MakeKey(options));
  std::fprintf(stderr, "%s: a test key: whoever knows its seed can forge proofs for it\n", options.out.c_str());
  return OkStatus();
}

}  // namespace

void AddMakeKey(CLI::App& app, cli::Command& command) {
  auto options = std::make_shared<SetupOptions>();
  CLI::App* sub = app.add_subcommand("setup", "makes a Groth16 key for a circuit from a seed, for tests and measurements");
  sub->add_option("--r1cs", options->r1cs, "the circuit");
  sub->add_option("--circuit", options->circuit, "a circuit of Filecoin's instead, by kind and sector size: porep-2KiB, winning-8MiB, window-32GiB, update-2KiB");
  sub->add_option("--seed", options->seed, "any text; the same text gives the same key")->required();
  sub->add_option("--out", options->out, "the key to write: NAME.zkey in snarkjs's form, NAME.params in bellperson's")->required();
  sub->add_option("--vkey", options->vkey, "also writes its verification_key.json here, or the .vk of a .params");
  sub->add_option("--threads", options->threads, "processor threads to use; all otherwise")->check(CLI::Range(1, 4096));
  sub->callback([options, &command] {
    command.run = [options] { return tbb::task_arena(options->threads).execute([&] { return RunSetup(*options); }); };
  });
}

}  // namespace proofline::bench
