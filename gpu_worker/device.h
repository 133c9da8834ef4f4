// What an owner owns: a device that proves. The CPU, or a CUDA card (cuda_device.h) where the build has CUDA.
//
// A device is used by the job thread alone. It never verifies and never retries: that is prove_pipeline's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/groth16/backend.h"

namespace proofline::gpu_worker {

// What a device may fetch before its proof is asked for. The memory stays as it is until then, or until Forget returns.
struct NextInput {
  uint64_t key_id = 0;    // as in ProveWork; the device takes it only for the key that it has
  uint64_t input_id = 0;  // the same number, the same bytes; not 0
  ByteSpan witness, rows_a, rows_b;
};
// Asked on the job thread while the device computes, again and again until there is one. May take its time.
using AskNext = std::function<std::optional<NextInput>()>;

// One partition's vectors in their slot and the key they belong to. All are borrowed for the call.
struct ProveWork {
  const ProvingKeyView& key;
  uint64_t key_id;  // the same number, the same bytes: a device may keep what it made of the key. 0: not to be kept
  ByteSpan witness, rows_a, rows_b;
  const Blinding& blinding;
  const StageObserver& observer;
  uint64_t input_id = 0;  // 0: was never offered as NextInput
  const AskNext* next = nullptr;
};

struct DeviceTally {
  std::string memory;  // the plan of the key that is there, a table
  uint64_t plan_bytes = 0, arena_bytes = 0, in_use_bytes = 0;  // in_use: of the card by the driver's count, with its context
  uint64_t bytes_up = 0, bytes_down = 0;  // over the bus since it was opened
  uint64_t inputs_staged = 0;             // proofs whose input had come before
};

class Device {
 public:
  virtual ~Device() = default;
  // "cpu", "cuda:0"
  virtual std::string_view name() const = 0;
  // Runs in the caller's TBB arena. kDeviceFault when the device itself failed, kResource when memory is short.
  virtual Result<Proof> Prove(const ProveWork& work) = 0;
  // Drops an input that was fetched and will not be proved: wiped when this returns.
  virtual void Forget() {}
  virtual DeviceTally tally() const { return {}; }

  // Start-up, in this order, before the first lease: memory that Prove's vectors will come from (it outlives the device), then the
  // point after which the device allocates nothing.
  virtual Status Pin(MutableByteSpan) { return OkStatus(); }
  virtual Status BecomeReady() { return OkStatus(); }
  // True once the device can never prove again in this process, which must then end.
  virtual bool lost() const { return false; }
};

// kUnsupported for a device that this build cannot have, kUsage for a name that is none.
// `arena_bytes`: of a CUDA device's memory, for benches and tests; 0: all that is free.
Result<std::unique_ptr<Device>> OpenDevice(const std::string& name, uint64_t arena_bytes = 0);

}  // namespace proofline::gpu_worker
