// `proofline-bench prove`: one device in this process, the same proof again and again, stage by stage.
#include <CLI/CLI.hpp>
#include <tbb/task_arena.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/commands.h"
#include "bench/stage_table.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/formats/wtns.h"
#include "core/formats/zkey.h"
#include "core/groth16/backend.h"
#include "gpu_worker/device.h"

namespace proofline::bench {
namespace {

struct ProveOptions {
  std::string key, witness, device = "cpu";
  int runs = 10;
  int threads = tbb::task_arena::automatic;
};

// What a slot holds, in one block that a device can pin.
struct Partition {
  std::vector<uint8_t> block;
  ByteSpan rows_a, rows_b, witness;
  std::vector<FrCanonical> publics;
  uint64_t rows_ns = 0;
};

Result<std::unique_ptr<Partition>> MakePartition(const ProvingKeyView& view, ByteSpan values) {
  auto out = std::make_unique<Partition>();
  const size_t row_bytes = size_t{view.domain()} * kFrBytes;
  out->block.resize(2 * row_bytes + values.size());
  const MutableByteSpan rows_a(out->block.data(), row_bytes), rows_b(out->block.data() + row_bytes, row_bytes);
  std::memcpy(out->block.data() + 2 * row_bytes, values.data(), values.size());
  out->witness = ByteSpan(out->block).subspan(2 * row_bytes);
  out->rows_a = rows_a, out->rows_b = rows_b;
  const uint64_t begin = MonotonicNs();
  PL_RETURN_IF_ERROR(GetBackend(view.curve).ComputeRows(view, out->witness, rows_a, rows_b));
  out->rows_ns = MonotonicNs() - begin;
  out->publics.resize(view.n_public);
  for (uint32_t i = 0; i < view.n_public; ++i)
    std::memcpy(out->publics[i].data(), out->witness.data() + (size_t{i} + 1) * kFrBytes, kFrBytes);
  return out;
}

// Proves and verifies once; the times go to the tables, those of the key alone if this one does not count.
Status ProveOnce(gpu_worker::Device& device, const ProvingKeyView& view, const VerificationKey& vk, const Partition& partition, bool counts,
                 StageTable& stages) {
  const Backend& backend = GetBackend(view.curve);
  const StageObserver observer = [&](std::string_view stage, uint64_t ns) {
    if (counts || stage == "load_key") stages.Add(stage, ns);
  };
  PL_ASSIGN_OR_RETURN(Blinding blinding, backend.RandomBlinding());
  const uint64_t start = MonotonicNs();
  PL_ASSIGN_OR_RETURN(Proof proof, device.Prove({view, 1, partition.witness, partition.rows_a, partition.rows_b, blinding, observer}));
  const uint64_t end = MonotonicNs();
  PL_RETURN_IF_ERROR(backend.Verify(vk, partition.publics, proof));
  stages.Add(counts ? "whole" : "first", end - start);
  if (counts) stages.Add("verify", MonotonicNs() - end);
  return OkStatus();
}

Status RunProve(const ProveOptions& options) {
  PL_ASSIGN_OR_RETURN(MappedFile key_file, MappedFile::Open(options.key));
  PL_ASSIGN_OR_RETURN(Zkey key, ReadZkey(key_file.bytes(), options.key));
  PL_ASSIGN_OR_RETURN(MappedFile witness_file, MappedFile::Open(options.witness));
  PL_ASSIGN_OR_RETURN(WtnsView wtns, ReadWtns(witness_file.bytes(), options.witness));
  PL_ASSIGN_OR_RETURN(std::unique_ptr<Partition> partition, MakePartition(key.view, wtns.values));
  PL_ASSIGN_OR_RETURN(VerificationKey vk, GetBackend(key.view.curve).ExtractVerificationKey(key.view));

  StageTable stages;
  stages.Add("rows", partition->rows_ns);
  const uint64_t opening = MonotonicNs();
  PL_ASSIGN_OR_RETURN(std::unique_ptr<gpu_worker::Device> device, gpu_worker::OpenDevice(options.device));
  const uint64_t opened = MonotonicNs();
  stages.Add("open", opened - opening);
  PL_RETURN_IF_ERROR(device->Pin(partition->block));
  stages.Add("pin", MonotonicNs() - opened);
  PL_RETURN_IF_ERROR(device->BecomeReady());
  for (int run = 0; run <= options.runs; ++run)  // the first one loads the key
    PL_RETURN_IF_ERROR(ProveOnce(*device, key.view, vk, *partition, run > 0, stages));
  std::printf("%s on %s: domain 2^%u, %u variables, %d proofs, all verified\n", options.key.c_str(), options.device.c_str(),
              key.view.log2_domain, key.view.n_vars, options.runs);
  stages.Print();
  const uint64_t closing = MonotonicNs();
  device.reset();
  std::printf("  %-10s %10.3f ms\n", "close", static_cast<double>(MonotonicNs() - closing) * 1e-6);
  return OkStatus();
}

}  // namespace

void AddProveOnDevice(CLI::App& app, cli::Command& command) {
  auto options = std::make_shared<ProveOptions>();
  CLI::App* sub = app.add_subcommand("prove", "proves one witness several times on a device of this process; medians of each stage");
  sub->add_option("key", options->key, "the .zkey")->required();
  sub->add_option("witness", options->witness, "the .wtns")->required();
  sub->add_option("--device", options->device, "cpu or cuda:N")->capture_default_str();
  sub->add_option("--runs", options->runs, "proofs that are timed, after one that is not")->check(CLI::Range(1, 100000))->capture_default_str();
  sub->add_option("--threads", options->threads, "processor threads to use; all otherwise")->check(CLI::Range(1, 4096));
  sub->callback([options, &command] {
    command.run = [options] { return tbb::task_arena(options->threads).execute([&] { return RunProve(*options); }); };
  });
}

}  // namespace proofline::bench
