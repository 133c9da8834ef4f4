// What an owner owns: a device that proves. One implementation today, the CPU; a CUDA device will be the second.
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
};

// kUnsupported for a device that this build cannot have, kUsage for a name that is none.
Result<std::unique_ptr<Device>> OpenDevice(const std::string& name);

}  // namespace proofline::gpu_worker
