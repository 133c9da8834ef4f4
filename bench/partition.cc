// `proofline-bench partition`: a stream of synthetic partitions through one device of this process, each proof checked exactly.
#include <CLI/CLI.hpp>
#include <tbb/task_arena.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

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
  bool alone = false;
  uint64_t arena_bytes = 0;
  int threads = tbb::task_arena::automatic;
};

// What a stream of proofs took. A device may begin a proof while the one before is under way, so two come before the ones that count, the first
// of which loads the key, and one behind them: what is begun early at one end is what was begun early at the other.
struct StreamTimes {
  uint64_t wall_ns = 0, device_ns = 0;
  gpu_worker::DeviceTally before, after;
};

struct CheckLater {
  Blinding blinding;
  Proof proof;
};

// Each proof may fetch the next one's input while it is computed, as an owner does; the same input, under another number each time.
Result<StreamTimes> ProveStream(const PartitionOptions& options, gpu_worker::Device& device, const SyntheticPartition& partition, StageTable& stages) {
  const Backend& backend = GetBackend(options.synthetic.curve);
  StreamTimes times;
  std::vector<CheckLater> checks;
  uint64_t end = 0;
  const int last = options.partitions + 2;
  for (int run = 0; run <= last; ++run) {
    const bool counts = run > 1 && run < last;
    const StageObserver observer = [&](std::string_view stage, uint64_t ns) {
      if (counts || stage == "load_key") stages.Add(stage, ns);
      if (counts && stage == "device") times.device_ns += ns;
    };
    const gpu_worker::AskNext next = [&]() -> std::optional<gpu_worker::NextInput> {
      if (options.alone || run == last) return std::nullopt;
      return gpu_worker::NextInput{1, static_cast<uint64_t>(run) + 2, partition.witness(), partition.rows_a(), partition.rows_b()};
    };
    PL_ASSIGN_OR_RETURN(Blinding blinding, backend.RandomBlinding());
    const uint64_t start = run > 0 ? end : MonotonicNs();
    PL_ASSIGN_OR_RETURN(Proof proof, device.Prove({partition.key(), 1, partition.witness(), partition.rows_a(), partition.rows_b(), blinding, observer,
                                                   static_cast<uint64_t>(run) + 1, &next}));
    end = MonotonicNs();
    if (counts || run == 0) stages.Add(counts ? "whole" : "first", end - start);
    if (run == 1) times.before = device.tally();
    if (counts) times.wall_ns += end - start;
    if (run + 1 == last) times.after = device.tally();
    if (run <= 1 || run == last) checks.push_back({blinding, proof});
  }
  for (const CheckLater& check : checks) {
    PL_ASSIGN_OR_RETURN(Proof expected, partition.Expected(check.blinding));
    if (!(check.proof == expected)) return Status(ErrorCode::kDeviceFault, "a proof is wrong");
  }
  return times;
}

void PrintStream(const PartitionOptions& options, const StreamTimes& times) {
  const gpu_worker::DeviceTally &a = times.before, &b = times.after;
  const double proofs = options.partitions, wall_ms = static_cast<double>(times.wall_ns) * 1e-6;
  std::printf("  a partition every %.3f ms (%d in %.3f ms); %llu inputs had come before\n", wall_ms / proofs, options.partitions, wall_ms,
              static_cast<unsigned long long>(b.inputs_staged - a.inputs_staged));
  if (b.plan_bytes == 0) return;
  std::printf("  kernels under way %.1f %% of the time (events, from a proof's first kernel to its last, what proofs share counted once)\n",
              100 * static_cast<double>(times.device_ns) / static_cast<double>(times.wall_ns));
  std::printf("  over the bus, a proof: %.1f MB up, %.3f MB down\n", static_cast<double>(b.bytes_up - a.bytes_up) * 1e-6 / proofs,
              static_cast<double>(b.bytes_down - a.bytes_down) * 1e-6 / proofs);
  std::printf("  memory: the plan's peak %.2f GiB in an arena of %.2f GiB; the driver counts %.2f GiB in use\n%s", std::ldexp(b.plan_bytes, -30),
              std::ldexp(b.arena_bytes, -30), std::ldexp(b.in_use_bytes, -30), b.memory.c_str());
}

Status RunPartition(const PartitionOptions& options) {
  StageTable stages;
  const uint64_t start = MonotonicNs();
  const auto partition = SyntheticPartition::Make(options.synthetic);
  stages.Add("make", MonotonicNs() - start);
  const uint64_t opening = MonotonicNs();
  PL_ASSIGN_OR_RETURN(std::unique_ptr<gpu_worker::Device> device, gpu_worker::OpenDevice(options.device, options.arena_bytes));
  const uint64_t opened = MonotonicNs();
  stages.Add("open", opened - opening);
  PL_RETURN_IF_ERROR(device->Pin(partition->block()));
  stages.Add("pin", MonotonicNs() - opened);
  PL_RETURN_IF_ERROR(device->BecomeReady());
  PL_ASSIGN_OR_RETURN(const StreamTimes times, ProveStream(options, *device, *partition, stages));
  std::printf("partition %s 2^%d, wide %.3f, on %s: %d proofs, the first two and the last checked\n", options.curve.c_str(), options.synthetic.log2,
              options.synthetic.wide, options.device.c_str(), options.partitions);
  stages.Print();
  PrintStream(options, times);
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
  sub->add_flag("--alone", options->alone, "each by itself: no input is fetched before its proof begins");
  sub->add_option("--device", options->device, "cpu or cuda:N")->capture_default_str();
  sub->add_option("--arena-bytes", options->arena_bytes, "of a CUDA device's memory; all that is free otherwise");
  sub->add_option("--threads", options->threads, "processor threads to use; all otherwise")->check(CLI::Range(1, 4096));
  sub->callback([options, &command] {
    options->synthetic.curve = options->curve == "bn254" ? CurveId::kBn254 : CurveId::kBls12381;
    command.run = [options] { return tbb::task_arena(options->threads).execute([&] { return RunPartition(*options); }); };
  });
}

}  // namespace proofline::bench
