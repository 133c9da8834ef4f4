// The owner of a CUDA card: proves there by the plain path of snarkjs's keys, the twin of core/groth16/prove_cpu.cc.
//
// Memory: one arena, laid out for each key by cuda/plan, whose table is what happens: cuda_layout.h maps its rows, cuda_queue.h queues a proof
// in its order. A key's sections and the roots of unity stay on the card while proofs follow for the same key (ProveWork::key_id); sections for
// which there is no room are streamed; a key for which there is none at all is refused with numbers.
//
// A stream of proofs: while one is computed, the next one's input is asked for (ProveWork::next) and copied to where the plan has room for
// it. The host finishes a query's sums while the card computes others. What was made of a witness is cleared on the card behind the last
// proof of such a stream, by the next proof's data and then by zeros.
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
