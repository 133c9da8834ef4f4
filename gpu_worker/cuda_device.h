// The owner of a CUDA card: proves there by the plain path of snarkjs's keys, the twin of core/groth16/prove_cpu.cc.
//
// A key's sections and the roots of unity stay on the card while proofs follow for the same key (ProveWork::key_id). Witness and rows go up on
// the copy stream; all else is queued at once, each query on a lane of its own where the layout has room for that, so that their stages overlap
// and their times add up to more than the whole. The host finishes a query's sums while the card computes others. What was made of a witness
// is cleared behind each proof.
//
// Memory: one arena, laid out anew for each key (CudaLayout); a key that does not fit is refused with numbers.
#pragma once

#include <memory>
#include <string>

#include "gpu_worker/device.h"

namespace proofline::gpu_worker {

struct CudaOptions {
  int ordinal = 0;
  uint64_t arena_bytes = 0;  // 0: 98 % of what is free
};

// kUnsupported where the build has no CUDA, the machine no driver or no such card. Every kernel has run once when this returns.
Result<std::unique_ptr<Device>> OpenCudaDevice(const CudaOptions& options);

}  // namespace proofline::gpu_worker
