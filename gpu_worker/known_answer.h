// The proof whose bytes are known: every owner computes it before it takes work.
#pragma once

#include "core/base/status.h"
#include "gpu_worker/device.h"

namespace proofline::gpu_worker {

// A small circuit's key and witness for each curve (made by snarkjs), fixed r and s, the proof that belongs to them
// (which snarkjs accepts). Checks that the device gives those bytes, that they verify, and that a changed public value
// does not. kDeviceFault else. Runs in the caller's TBB arena.
Status ProveKnownAnswers(Device& device);

}  // namespace proofline::gpu_worker
