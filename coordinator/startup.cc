#include "coordinator/startup.h"

#include <algorithm>

#include "coordinator/sqlite_job_store.h"
#include "core/base/clock.h"
#include "core/base/event.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/groth16/result.h"
#include "shm/topology.h"

namespace proofline::coordinator {

namespace {

using shm::SlotState;

// Before the first circuit is known: room for 2^20 constraints, or for less where that would take too much of the memory.
constexpr uint32_t kFirstLog2 = 20, kSmallLog2 = 16;
constexpr uint32_t kFirstPublic = 4096;
constexpr uint64_t kShareOfMemory = 4;

shm::SlotNeed NeedOfShape(uint64_t n_vars, uint32_t n_public, uint32_t log2_domain) {
  return shm::NeedOf(n_vars, uint64_t{1} << log2_domain, ResultBytes(n_public));
}

shm::SlotNeed DefaultNeed(uint32_t slot_count) {
  const uint64_t share = shm::AvailableMemoryBytes() / kShareOfMemory;
  uint32_t log2 = kFirstLog2;
  while (log2 > kSmallLog2 && NeedOfShape(uint64_t{1} << log2, kFirstPublic, log2).slot_bytes * slot_count > share) --log2;
  return NeedOfShape(uint64_t{1} << log2, kFirstPublic, log2);
}

Result<SlotManager> AdoptOrCreate(const Options& options, const CircuitRegistry& circuits, InheritedFds& inherited) {
  if (inherited.table) {
    const auto kept = static_cast<uint32_t>(inherited.slots.size());
    auto adopted = SlotManager::Adopt(std::move(inherited.table), std::move(inherited.slots));
    if (adopted.ok()) return adopted;
    LogStatus(LogLevel::kWarn, "the stored slots are not usable; new ones are made", adopted.status());
    ServiceManager::Forget(kept);
  }
  PL_ASSIGN_OR_RETURN(const shm::SlotLayout layout, ChooseLayout(options, circuits));
  PL_ASSIGN_OR_RETURN(SlotManager made, SlotManager::Create(layout, options.config.huge_pages && !options.is_private()));
  // A private stack lives and dies as a whole: nobody needs its slots later.
  if (!options.is_private()) PL_RETURN_IF_ERROR(ServiceManager::Store(made.table_fd(), made.slot_fds()));
  LogInfo("slots made", {{"count", made.count()}, {"bytes", made.layout().slot_bytes}, {"result_bytes", made.layout().result_area_bytes}});
  return made;
}

Status LoadJobs(Core& core) {
  PL_ASSIGN_OR_RETURN(const EndedTotals jobs, core.store->CountEndedJobs());
  PL_ASSIGN_OR_RETURN(const EndedTotals partitions, core.store->CountEndedPartitions());
  PL_ASSIGN_OR_RETURN(const auto live, core.store->LoadLiveJobs());
  core.scheduler.SetSlotCount(core.slots.count());
  core.scheduler.SetTotals(jobs, partitions);
  for (const LoadedJob& job : live) core.scheduler.RestoreJob(job, core.now_ns);
  core.next_job = core.reserved_jobs = core.store->first_free_job_number();
  return OkStatus();
}

}  // namespace

Result<shm::SlotLayout> ChooseLayout(const Options& options, const CircuitRegistry& circuits) {
  shm::SlotLayout layout;
  layout.slot_count = options.config.slot_count;
  if (layout.slot_count == 0) layout.slot_count = options.is_private() ? 1 : 3 * options.owners + options.synth_workers + 1;
  shm::SlotNeed need = circuits.LargestNeed();
  if (options.private_shape) {
    need = NeedOfShape(options.private_shape->n_vars, options.private_shape->n_public, options.private_shape->log2_domain);
  } else if (need.slot_bytes == 0) {
    need = DefaultNeed(layout.slot_count);
  }
  layout.result_area_bytes = options.config.slot_result_bytes != 0 ? options.config.slot_result_bytes : need.result_area_bytes;
  layout.slot_bytes = options.config.slot_bytes != 0 ? options.config.slot_bytes : need.slot_bytes - need.result_area_bytes + layout.result_area_bytes;
  if (layout.slot_bytes <= layout.result_area_bytes) {
    return Status(ErrorCode::kUsage, StrCat("slots of ", layout.slot_bytes, " bytes have no room beside a result area of ", layout.result_area_bytes));
  }
  return layout;
}

Result<std::unique_ptr<Core>> StartCore(Options options, InheritedFds& inherited) {
  PL_ASSIGN_OR_RETURN(auto store, options.is_private() ? OpenMemoryJobStore() : OpenSqliteJobStore(options.paths.JournalFile()));
  CircuitRegistry circuits;
  PL_ASSIGN_OR_RETURN(auto known, store->LoadCircuits());
  for (wire::Circuit& circuit : known) circuits.Restore(std::move(circuit));
  PL_ASSIGN_OR_RETURN(SlotManager slots, AdoptOrCreate(options, circuits, inherited));
  auto core = std::make_unique<Core>(std::move(options), std::move(store), std::move(slots));
  core->circuits = std::move(circuits);
  core->now_ns = MonotonicNs();
  core->now_unix_ms = core->started_unix_ms = WallUnixMs();
  PL_RETURN_IF_ERROR(LoadJobs(*core));
  if (!core->options.is_private()) {
    PL_ASSIGN_OR_RETURN(core->spool, Spool::Open(core->options.paths.SpoolDir()));
    core->spool->DiscardOrphans([&](uint64_t job) { return core->scheduler.table().Find(job) != nullptr; });
  }
  return core;
}

namespace {

// The owners that are still alive. The journal forgets the others.
Status RestoreWorkers(Core& core) {
  PL_ASSIGN_OR_RETURN(const auto records, core.store->LoadWorkers());
  for (const WorkerRecord& record : records) {
    const bool lives = record.generation == core.slots.generation() && core.workers.Restore(record, core.now_ns);
    if (!lives) core.outbox.ops.emplace_back(RemoveWorker{record.instance});
  }
  return OkStatus();
}

void RestoreOne(Core& core, uint32_t slot, std::vector<uint32_t>& condemned) {
  const shm::SlotWord word = core.slots.expected(slot);
  const auto snapshot = core.slots.Snapshot(slot);
  const shm::SlotAssignment header = snapshot.ok() ? snapshot->assignment : shm::SlotAssignment{};
  const bool lives = core.workers.Find(word.instance) != nullptr;
  SlotInfo info{SlotUse::kDirty, 0, header.job, header.partition, header.attempt};
  switch (word.state) {
    case SlotState::kFree: info = {}; break;
    case SlotState::kGrant:
      if (lives) info.use = SlotUse::kGranted, info.instance = word.instance;
      break;
    case SlotState::kReady: info.use = SlotUse::kSealed; break;
    case SlotState::kLease:
      if (lives) {
        info.use = SlotUse::kLeased, info.instance = word.instance;
      } else if (core.slots.SealAgain(slot)) {
        info.use = SlotUse::kSealed;
      }
      break;
    case SlotState::kResult: {
      // Looked at like a word that has just moved: expected is the lease before it.
      info.use = SlotUse::kLeased, info.instance = shm::kMaxInstance;
      core.slots.Accept(slot, {SlotState::kLease, word.instance, word.epoch});
      break;
    }
    case SlotState::kFailed: break;  // whose failure it was is not known any more: done again
    case SlotState::kQuarantine:
      if (lives) {
        info = {SlotUse::kGranted, word.instance, 0, 0, 0};
        condemned.push_back(word.instance);
      }
      break;
    case SlotState::kWipe:
      if (lives) info = {SlotUse::kWiping, word.instance, 0, 0, 0};
      break;
  }
  if (info.use == SlotUse::kDirty || info.use == SlotUse::kWiping) info.job = 0, info.part = 0, info.attempt = 0;
  const bool kept = core.scheduler.RestoreSlot(slot, info, core.now_ns);
  if (word.state == SlotState::kFree) return;
  EmitEvent({.name = "slot-restored", .job = header.job, .partition = header.partition, .attempt = header.attempt, .outcome = kept ? "ok" : "stale",
             .extra = {{"slot", slot}, {"state", shm::SlotStateName(word.state)}}});
}

}  // namespace

void Reconcile(Core& core, std::vector<uint32_t>& condemned) {
  if (const Status status = RestoreWorkers(core); !status.ok()) LogStatus(LogLevel::kError, "the journal's workers", status);
  for (uint32_t slot = 0; slot < core.slots.count(); ++slot) RestoreOne(core, slot, condemned);
  core.scheduler.FinishRestoring(core.now_unix_ms);
}

}  // namespace proofline::coordinator
