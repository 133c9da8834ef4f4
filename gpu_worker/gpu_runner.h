// Orders of a GPU owner: leases, each guarded by the slot's word.
#pragma once

#include <tbb/task_arena.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/formats/key_cache.h"
#include "core/wire/worker_loop.h"
#include "gpu_worker/device.h"
#include "shm/mapping.h"
#include "shm/slot_table.h"

namespace proofline::gpu_worker {

class GpuRunner : public wire::OrderRunner {
 public:
  // `slots[i]` is the mapping of slot i. All references outlive the runner. `device_lost` is called on the job thread, once the slot says
  // so, when the device can never prove again; it ends the process.
  GpuRunner(shm::SlotTable& table, std::vector<shm::Mapping>& slots, uint32_t instance, Device& device,
            tbb::task_arena& arena, uint64_t key_cache_bytes, std::function<void()> device_lost)
      : table_(table),
        slots_(slots),
        instance_(instance),
        device_(device),
        arena_(arena),
        keys_(ZkeyUse::kWithoutCoefficients, key_cache_bytes),
        device_lost_(std::move(device_lost)) {}

  std::optional<wire::SlotEpoch> KeyOf(const wire::Frame& order) override;
  std::vector<wire::OwnedSlot> Owned() override;
  std::optional<wire::Frame> OrderFor(const wire::OwnedSlot& slot) override;
  std::optional<wire::Frame> Run(const wire::Frame& order, const wire::CancelFlag& cancel) override;
  void SetPeek(Peek peek) override { peek_ = std::move(peek); }

 private:
  std::optional<wire::Frame> RunLease(const wire::GpuLease& lease, const wire::CancelFlag& cancel);
  Status ProveInto(const wire::GpuLease& lease, const shm::SlotSnapshot& header, const wire::CancelFlag& cancel,
                   std::vector<wire::StageTime>* stages);
  Status CheckSections(const wire::GpuLease& lease, const shm::SlotSnapshot& header, const ProvingKeyView& view) const;
  // The input of the lease that waits behind this one, once its checksums are right, if it is for the same circuit.
  std::optional<NextInput> NextFor(const wire::GpuLease& lease, const CachedKey& key);
  void ReportDeviceFault(const wire::GpuLease& lease, const std::string& text) const;

  shm::SlotTable& table_;
  std::vector<shm::Mapping>& slots_;
  uint32_t instance_;
  Device& device_;
  tbb::task_arena& arena_;
  KeyCache keys_;
  std::function<void()> device_lost_;
  Peek peek_;
  uint64_t checked_ = 0;  // the input whose checksums NextFor found right, or looked at in vain
  bool checked_ok_ = false;
};

}  // namespace proofline::gpu_worker
