// Orders of a synthesis worker: grants and wipes, each guarded by the slot's word.
#pragma once

#include <tbb/task_arena.h>

#include <optional>
#include <string>
#include <vector>

#include "core/formats/key_cache.h"
#include "core/wire/worker_loop.h"
#include "shm/mapping.h"
#include "shm/slot_table.h"

namespace proofline::synth_worker {

class SynthRunner : public wire::OrderRunner {
 public:
  // `slots[i]` is the mapping of slot i. All references outlive the runner.
  SynthRunner(shm::SlotTable& table, std::vector<shm::Mapping>& slots, uint32_t instance, std::string broker_path,
              tbb::task_arena& arena, uint64_t key_cache_bytes);

  std::optional<wire::SlotEpoch> KeyOf(const wire::Frame& order) override;
  std::vector<wire::OwnedSlot> Owned() override;
  std::optional<wire::Frame> OrderFor(const wire::OwnedSlot& slot) override;
  std::optional<wire::Frame> Run(const wire::Frame& order, const wire::CancelFlag& cancel) override;

 private:
  std::optional<wire::Frame> RunGrant(const wire::SynthGrant& grant, const wire::CancelFlag& cancel);
  std::optional<wire::Frame> RunWipe(const wire::WipeOrder& order);

  shm::SlotTable& table_;
  std::vector<shm::Mapping>& slots_;
  uint32_t instance_;
  std::string broker_path_;
  tbb::task_arena& arena_;
  KeyCache keys_;
};

}  // namespace proofline::synth_worker
