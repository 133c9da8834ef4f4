// From nothing, or from what a former life left (journal, slots, workers), to a Core that can serve.
#pragma once

#include <memory>

#include "coordinator/core.h"
#include "core/base/service_manager.h"

namespace proofline::coordinator {

// Opens the journal, loads what is live, takes over or makes the slots. `inherited` loses its table and slots. kMismatch, kResource,
// and whatever the journal says.
Result<std::unique_ptr<Core>> StartCore(Options options, InheritedFds& inherited);

// Compares the slots' words with the journal, once the core is there and before the first message: what is sealed is kept, what is
// being worked on by a living owner is left to it, the rest is wiped and done again. Instances whose word says quarantine are put
// into `condemned`. Costs no partition a failed attempt.
void Reconcile(Core& core, std::vector<uint32_t>& condemned);

// What the slots shall be: as configured, for the one key of a private stack, or for the largest circuit.
Result<shm::SlotLayout> ChooseLayout(const Options& options, const CircuitRegistry& circuits);

}  // namespace proofline::coordinator
