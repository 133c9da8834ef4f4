// `proofline-bench partition`: a stream of synthetic partitions through one device of this process, each proof checked exactly.
#include <CLI/CLI.hpp>
#include <tbb/task_arena.h>

#include <cstdio>
#include <memory>
#include <string>

#include "bench/commands.h"
#include "bench/stage_table.h"
#include "bench/synthetic.h"
#include "core/base/clock.h"
#include "gpu_worker/device.h"

namespace proofline::bench {
namespace {

struct PartitionOptions {
  std::string curve = "bls12-381", device = "cuda:0";
  SyntheticOptions synthetic;
  int partitions = 20;
  int threads = tbb::task_arena::automatic;
};

Status ProveStream(const PartitionOptions& options, gpu_worker::Device& device, const SyntheticPartition& partition, StageTable& stages) {
  const Backend& backend = GetBackend(options.synthetic.curve);
  for (int run = 0; run <= options.partitions; ++run) {  // the first one loads the key and is not counted
    const StageObserver observer = [&](std::string_view stage, uint64_t ns) {
      if (run > 0 || stage == "load_key") stages.Add(stage, ns);
    };
    PL_ASSIGN_OR_RETURN(Blinding blinding, backend.RandomBlinding());
    const uint64_t start = MonotonicNs();
    PL_ASSIGN_OR_RETURN(Proof proof,
                        device.Prove({partition.key(), 1, partition.witness(), partition.rows_a(), partition.rows_b(), blinding, observer}));
    stages.Add(run > 0 ? "whole" : "first", MonotonicNs() - start);
    if (run != 0 && run != options.partitions) continue;
    PL_ASSIGN_OR_RETURN(Proof expected, partition.Expected(blinding));
    if (!(proof == expected)) return Status(ErrorCode::kDeviceFault, "proof " + std::to_string(run) + " is wrong");
  }
  return OkStatus();
}

Status RunPartition(const PartitionOptions& options) {
  StageTable stages;
  const uint64_t start = MonotonicNs();
  const auto partition = SyntheticPartition::Make(options.synthetic);
  stages.Add("make", MonotonicNs() - start);
  const uint64_t opening = MonotonicNs();
  PL_ASSIGN_OR_RETURN(std::unique_ptr<gpu_worker::Device> device, gpu_worker::OpenDevice(options.device));
  const uint64_t opened = MonotonicNs();
  stages.Add("open", opened - opening);
  PL_RETURN_IF_ERROR(device->Pin(partition->block()));
  stages.Add("pin", MonotonicNs() - opened);
  PL_RETURN_IF_ERROR(device->BecomeReady());
  PL_RETURN_IF_ERROR(ProveStream(options, *device, *partition, stages));
  std::printf("partition %s 2^%d, wide %.3f, on %s: %d proofs, first and last checked; %.1f MB up a proof\n", options.curve.c_str(),
              options.synthetic.log2, options.synthetic.wide, options.device.c_str(), options.partitions,
              static_cast<double>(partition->block().size()) * 1e-6);
  stages.Print();
  if (const double on_card = stages.MedianMs("device"); on_card > 0)
    std::printf("  the card is in use %.1f %% of the time (events, copies counted)\n", 100 * on_card / stages.MedianMs("whole"));
  return OkStatus();
}

}  // namespace

void AddPartition(CLI::App& app, cli::Command& command) {
  auto options = std::make_shared<PartitionOptions>();
  CLI::App* sub = app.add_subcommand("partition", "a stream of synthetic partitions with known discrete logarithms: medians of each stage");
  sub->add_option("--log2", options->synthetic.log2, "a domain of 2^LOG2")->check(CLI::Range(10, 27))->capture_default_str();
  sub->add_option("--wide", options->synthetic.wide, "share of the witness values that are neither 0 nor 1")->check(CLI::Range(0.0, 1.0))->capture_default_str();
  sub->add_option("--curve", options->curve, "the curve")->check(CLI::IsMember({"bn254", "bls12-381"}))->capture_default_str();
  sub->add_option("--partitions", options->partitions, "how many are timed")->check(CLI::Range(1, 100000))->capture_default_str();
  sub->add_option("--device", options->device, "cpu or cuda:N")->capture_default_str();
  sub->add_option("--threads", options->threads, "processor threads to use; all otherwise")->check(CLI::Range(1, 4096));
  sub->callback([options, &command] {
    options->synthetic.curve = options->curve == "bn254" ? CurveId::kBn254 : CurveId::kBls12381;
    command.run = [options] { return tbb::task_arena(options->threads).execute([&] { return RunPartition(*options); }); };
  });
}

}  // namespace proofline::bench
