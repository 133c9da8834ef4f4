#include "coordinator/views.h"

#include "core/base/clock.h"
#include "core/wire/codec.h"

namespace proofline::coordinator {

namespace {

constexpr size_t kViewBytes = 26 * 1024;  // of the 32 KiB of a message
constexpr int kMaxListed = 256;

struct PartView {
  uint32_t index = 0;
  JobState state = JobState::kQueued;
  uint32_t attempt = 0;
  const Error* error = nullptr;
  std::vector<StageTime> stages;
};

wire::JobView Header(const Core& core, const JobRecord& record, JobState state) {
  wire::JobView view;
  view.set_job_name(record.name);
  view.set_job(record.id);
  view.set_circuit(record.circuit_name);
  view.set_state(static_cast<wire::JobState>(state));
  view.set_priority(record.priority);
  view.set_partition_count(record.partition_count);
  view.set_created_unix_ms(record.created_unix_ms);
  view.set_ended_unix_ms(record.ended_unix_ms);
  if (const wire::Circuit* circuit = core.circuits.Find(record.circuit)) *view.mutable_circuit_info() = *circuit;
  return view;
}

void AddPart(wire::JobView& view, const PartView& part, bool with_stages) {
  wire::PartitionView* out = view.add_partitions();
  out->set_partition(part.index);
  out->set_state(static_cast<wire::JobState>(part.state));
  out->set_attempt(part.attempt);
  if (part.error && part.error->code != ErrorCode::kOk) wire::FillError(Status(*part.error), out->mutable_error());
  if (!with_stages) return;
  for (const StageTime& stage : part.stages) {
    wire::StageView* time = out->add_stages();
    time->set_stage(stage.stage);
    time->set_queue_ns(stage.queue_ns);
    time->set_work_ns(stage.work_ns);
  }
}

// Failed ones first, then in order, as many as fit; stage times only as long as there is plenty of room.
void AddParts(wire::JobView& view, const std::vector<PartView>& parts) {
  size_t bytes = view.ByteSizeLong();
  for (const bool failed : {true, false}) {
    for (const PartView& part : parts) {
      if ((part.state == JobState::kFailed) != failed) continue;
      AddPart(view, part, bytes < kViewBytes / 2);
      bytes += view.partitions(view.partitions_size() - 1).ByteSizeLong() + 4;
      if (bytes <= kViewBytes) continue;
      view.mutable_partitions()->RemoveLast();
      return;
    }
  }
}

std::string_view WorkerState(const Worker& worker, const WorkerInfo* info) {
  if (!worker.suspicion.empty()) return "lost";
  if (worker.peer.empty()) return "starting";
  if (worker.draining || (info && info->draining)) return "draining";
  return info && info->held > 0 ? "working" : "idle";
}

void FillCounters(const Tally& tally, wire::Counters* out) {
  out->set_accepted(tally.accepted);
  out->set_finished(tally.finished);
  out->set_failed(tally.failed);
  out->set_cancelled(tally.cancelled);
  out->set_live(tally.live);
}

}  // namespace

wire::JobView ViewOf(const Core& core, const Job& job) {
  wire::JobView view = Header(core, job.record, job.record.state);
  std::vector<PartView> parts;
  for (const Partition& part : job.parts) {
    const JobState state = part.phase == PartPhase::kEnded     ? part.outcome
                           : part.phase == PartPhase::kWaiting ? JobState::kQueued
                                                               : JobState::kRunning;
    parts.push_back({part.index, state, part.attempt, part.error ? &*part.error : nullptr, part.stages});
  }
  AddParts(view, parts);
  return view;
}

wire::JobView ViewOf(const Core& core, const LoadedJob& loaded) {
  wire::JobView view = Header(core, loaded.job, loaded.job.state);
  std::vector<PartView> parts;
  for (const PartRecord& part : loaded.parts) {
    parts.push_back({part.index, part.state, part.attempt, part.error ? &*part.error : nullptr, UnpackStages(part.stages)});
  }
  AddParts(view, parts);
  return view;
}

wire::StackStatus StatusOf(const Core& core) {
  wire::StackStatus status;
  status.set_version(PROOFLINE_VERSION);
  status.set_term(core.term());
  status.set_started_unix_ms(core.started_unix_ms);
  FillCounters(core.scheduler.job_tally(), status.mutable_jobs());
  FillCounters(core.scheduler.partition_tally(), status.mutable_partitions());
  status.set_retries(core.scheduler.retries());
  status.set_proofs_refused(core.proofs_refused);
  status.set_workers_lost(core.workers_lost);
  status.set_queued_synth(static_cast<uint32_t>(core.scheduler.queued_synth()));
  status.set_queued_gpu(static_cast<uint32_t>(core.scheduler.queued_gpu()));
  status.set_slot_bytes(core.slots.layout().slot_bytes);
  status.set_circuit_count(static_cast<uint32_t>(core.circuits.all().size()));
  for (const auto& [instance, worker] : core.workers.all()) {
    if (status.workers_size() == kMaxListed) break;
    const auto info = core.scheduler.workers().find(instance);
    const WorkerInfo* load = info == core.scheduler.workers().end() ? nullptr : &info->second;
    wire::WorkerView* view = status.add_workers();
    view->set_role(worker.role == WorkerRole::kGpu ? wire::ROLE_GPU : wire::ROLE_SYNTH);
    view->set_instance(instance);
    view->set_pid(worker.pid);
    view->set_ordinal(worker.ordinal);
    view->set_device(worker.device);
    view->set_state(std::string(WorkerState(worker, load)));
    view->set_done(load ? load->done : 0);
    view->set_failed(load ? load->failed : 0);
  }
  for (uint32_t i = 0; i < core.slots.count() && status.slots_size() < kMaxListed; ++i) {
    const shm::SlotWord word = core.slots.Load(i);
    const SlotInfo& info = core.scheduler.slots()[i];
    wire::SlotView* view = status.add_slots();
    view->set_slot(i);
    view->set_state(std::string(shm::SlotStateName(word.state)));
    view->set_instance(word.instance);
    view->set_epoch(word.epoch);
    view->set_partition(info.part);
    if (const auto job = core.scheduler.table().jobs().find(info.job); job != core.scheduler.table().jobs().end()) view->set_job_name(job->second->record.name);
  }
  return status;
}

}  // namespace proofline::coordinator
