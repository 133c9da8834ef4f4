#include <algorithm>

#include "coordinator/scheduler.h"

namespace proofline::coordinator {

std::string Scheduler::CheckInvariants() const {
  if (!jobs_.balances() || !partitions_.balances()) return "tallies do not balance";
  if (jobs_.live != table_.size()) return "live jobs: " + std::to_string(jobs_.live) + " counted, " + std::to_string(table_.size()) + " there";
  uint64_t live_parts = 0;
  size_t waiting = 0, ready = 0;
  for (const auto& [id, job] : table_.jobs()) {
    uint32_t live = 0;
    for (const Partition& part : job->parts) {
      const std::string who = "job " + std::to_string(id) + " partition " + std::to_string(part.index) + ": ";
      if (part.phase == PartPhase::kEnded) continue;
      ++live;
      if (part.failures >= kMaxFailures) return who + "lives after its last failure";
      if (part.phase == PartPhase::kWaiting) {
        ++waiting;
        if (part.slot != -1) return who + "waits and has a slot";
        if (job->stopped()) return who + "waits in a stopped job";
        continue;
      }
      if (part.slot < 0 || static_cast<size_t>(part.slot) >= slots_.size()) return who + "has no slot";
      const SlotInfo& slot = slots_[static_cast<size_t>(part.slot)];
      if (slot.job != id || slot.part != part.index) return who + "its slot says another";
      if (slot.attempt != part.attempt) return who + "its slot has another attempt";
      const SlotUse want = part.phase == PartPhase::kSynth ? SlotUse::kGranted : part.phase == PartPhase::kReady ? SlotUse::kSealed : SlotUse::kLeased;
      if (slot.use != want) return who + "its slot is in another use";
      if (part.phase == PartPhase::kReady) ++ready;
    }
    if (live == 0 || live != job->live_parts) return "job " + std::to_string(id) + ": live partitions do not add up";
    live_parts += live;
  }
  if (live_parts != partitions_.live) return "live partitions do not add up";
  if (waiting != waiting_.size() + delayed_.size() || ready != ready_.size()) return "queues do not add up";
  for (const auto& [instance, worker] : workers_) {
    const auto held = std::count_if(slots_.begin(), slots_.end(), [owner = instance](const SlotInfo& s) { return s.instance == owner; });
    if (held != worker.held) return "worker " + std::to_string(instance) + ": holds " + std::to_string(held) + ", counted " + std::to_string(worker.held);
    if (worker.held > worker.capacity) return "worker " + std::to_string(instance) + " holds more than it can";
  }
  for (const SlotInfo& slot : slots_) {
    const bool owned = slot.use == SlotUse::kGranted || slot.use == SlotUse::kLeased || slot.use == SlotUse::kWiping;
    if (owned != (slot.instance != 0)) return "a slot's owner does not fit its use";
    if (slot.job != 0 && (slot.use == SlotUse::kFree || slot.use == SlotUse::kDirty || slot.use == SlotUse::kWiping)) return "a slot without work names a job";
  }
  return {};
}

}  // namespace proofline::coordinator
