// From a witness file to sealed sections: what a synthesis worker does with one grant.
//
// Runs on the job thread, inside the worker's TBB arena.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/formats/key_cache.h"
#include "core/wire/codec.h"
#include "shm/slot.h"
#include "shm/slot_table.h"

namespace proofline::synth_worker {

// What came of it, apart from the sections themselves.
struct SynthesisReport {
  std::vector<wire::StageTime> stages;
  uint64_t wide_fraction_ppm = 0;  // witness values that are neither 0 nor 1
};

class Synthesis {
 public:
  // `fetch_input` gives the descriptor of the partition's .wtns file; `cancelled` is asked between stages.
  struct Context {
    KeyCache& keys;
    shm::SlotTable& table;
    std::function<Result<UniqueFd>()> fetch_input;
    std::function<bool()> cancelled;
  };
  Synthesis(const Context& context, const wire::SynthGrant& grant, uint8_t* slot)
      : context_(context), grant_(grant), slot_(slot) {}

  // Fills and seals the slot's sections and its header's section table. On failure whatever it wrote has been wiped.
  // Codes: those of the file readers and of CheckWitness, kUnsatisfied (a constraint of the .r1cs, named), kResource,
  // kCancelled, kUnavailable.
  Status Run();
  const SynthesisReport& report() const { return report_; }

 private:
  Status Fill();
  Status Stage(const char* name, const std::function<Status()>& work);
  Status OpenKey();
  Status ReadInput();
  Status CheckConstraints();
  Status CheckConstraintsOf(const MappedFile& file);
  Status ComputeRows();
  void Seal();

  MutableByteSpan section(size_t i) const;

  Context context_;
  const wire::SynthGrant& grant_;
  uint8_t* slot_;
  std::shared_ptr<CachedKey> key_;
  std::vector<shm::SectionEntry> sections_;  // witness, rows A, rows B; empty until the first byte may be written
  SynthesisReport report_;
};

}  // namespace proofline::synth_worker
