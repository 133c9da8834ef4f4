// What an owner owns: a device that proves. The CPU, or a CUDA card (cuda_device.h) where the build has CUDA.
//
// A device is used by the job thread alone. It never verifies and never retries: that is prove_pipeline's.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/groth16/backend.h"

namespace proofline::gpu_worker {

// One partition's vectors in their slot and the key they belong to. All are borrowed for the call.
struct ProveWork {
  const ProvingKeyView& key;
  uint64_t key_id;  // the same number, the same bytes: a device may keep what it made of the key. 0: not to be kept
  ByteSpan witness, rows_a, rows_b;
  const Blinding& blinding;
  const StageObserver& observer;
};

class Device {
 public:
  virtual ~Device() = default;
  // "cpu", "cuda:0"
  virtual std::string_view name() const = 0;
  // Runs in the caller's TBB arena. kDeviceFault when the device itself failed, kResource when memory is short.
  virtual Result<Proof> Prove(const ProveWork& work) = 0;

  // Start-up, in this order, before the first lease: memory that Prove's vectors will come from (it outlives the device), then the
  // point after which the device allocates nothing.
  virtual Status Pin(MutableByteSpan) { return OkStatus(); }
  virtual Status BecomeReady() { return OkStatus(); }
  // True once the device can never prove again in this process, which must then end.
  virtual bool lost() const { return false; }
};

// kUnsupported for a device that this build cannot have, kUsage for a name that is none.
Result<std::unique_ptr<Device>> OpenDevice(const std::string& name);

}  // namespace proofline::gpu_worker
