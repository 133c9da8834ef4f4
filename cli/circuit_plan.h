// `circuit show NAME --plan`: how a circuit would lie in a card's memory.
#pragma once

#include <string>

#include "core/base/status.h"
#include "core/wire/proofline.pb.h"
#include "cuda/plan/plan.h"

namespace proofline::cli {

struct PlanTarget {
  std::string device;  // cuda:N as asked for; empty with --vram
  uint64_t vram_bytes = 0;
};

// From the options; at most one of them is not empty, and without any it is the first CUDA device. kUsage for a malformed one, kUnsupported for
// the CPU and where there is no driver.
Result<PlanTarget> ResolvePlanTarget(const std::string& device, const std::string& vram);

// As its slots are filled: rows from the synthesis worker, a dense witness, the key as it is in the .zkey.
cuda::CircuitShape ShapeOf(const wire::Circuit& circuit);

// kUnsupported when it does not fit: the answer is final for this card.
Result<cuda::VramPlan> PlanCircuit(const wire::Circuit& circuit, const PlanTarget& target);
std::string PlanText(const wire::Circuit& circuit, const PlanTarget& target, const cuda::VramPlan& plan);
std::string PlanJson(const wire::Circuit& circuit, const PlanTarget& target, const cuda::VramPlan& plan);

}  // namespace proofline::cli
