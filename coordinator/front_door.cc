#include "coordinator/front_door.h"

#include <algorithm>
#include <limits>

#include "coordinator/views.h"
#include "core/base/event.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace proofline::coordinator {

namespace {

constexpr size_t kPageCircuits = 64;
constexpr size_t kPageBytes = 24 * 1024;
constexpr size_t kMacBytes = 32;
constexpr uint64_t kLongestDeadlineMs = uint64_t{366} * 24 * 3600 * 1000;

Status NoJob(const std::string& name) {
  return Status(ErrorCode::kNotFound, StrCat("no job \"", name.substr(0, 128), "\""), "it was never accepted, or has been forgotten after the configured time",
                "`proofline status` shows what the stack does");
}

Status NoCircuit(const std::string& name) {
  return Status(ErrorCode::kNotFound, StrCat("no circuit \"", name.substr(0, 128), "\""), {}, "`proofline circuit list` shows those that are known");
}

// "j" and digits only are our own names.
bool LooksLikeOurs(const std::string& name) {
  return name.size() > 1 && name[0] == 'j' && std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// How many circuits from `first` on fit a message.
std::vector<std::vector<const wire::Circuit*>> Pages(const std::map<uint64_t, wire::Circuit>& circuits) {
  std::vector<std::vector<const wire::Circuit*>> pages(1);
  size_t bytes = 0;
  for (const auto& [id, circuit] : circuits) {
    const size_t more = circuit.ByteSizeLong() + 8;
    if (!pages.back().empty() && (pages.back().size() == kPageCircuits || bytes + more > kPageBytes)) {
      pages.emplace_back();
      bytes = 0;
    }
    pages.back().push_back(&circuit);
    bytes += more;
  }
  return pages;
}

}  // namespace

bool FrontDoor::Receive(int limit) {
  for (int i = 0; i < limit; ++i) {
    const auto message = socket_.Receive();
    if (!message) return false;
    const auto request = wire::Unpack<wire::Request>(message->frame);
    if (!request.ok()) {
      Send(message->peer, 0, request.status());
      continue;
    }
    const From from{message->peer, request->request_id()};
    if (auto answer = Answer(from, *request)) Send(message->peer, request->request_id(), std::move(*answer));
  }
  return true;
}

void FrontDoor::Send(const std::string& peer, uint64_t request_id, Result<wire::Reply> reply) {
  wire::Reply message;
  if (reply.ok()) {
    message = *std::move(reply);
  } else {
    wire::FillError(reply.status(), message.mutable_error());
  }
  message.set_request_id(request_id);
  core_.outbox.effects.push_back([this, peer, message = std::move(message)] {
    // A client that has gone asks again when it is back.
    const Status sent = socket_.SendMessage(peer, message, core_.term());
    if (!sent.ok() && sent.code() != ErrorCode::kUnavailable) LogStatus(LogLevel::kError, "a reply", sent);
  });
}

std::optional<Result<wire::Reply>> FrontDoor::Answer(const From& from, const wire::Request& request) {
  using R = wire::Request;
  switch (request.body_case()) {
    case R::kCircuitAdd: return Add(request.circuit_add());
    case R::kCircuitList: return List(request.circuit_list());
    case R::kCircuitShow: return Show(request.circuit_show());
    case R::kCircuitRemove: return Remove(request.circuit_remove());
    case R::kSubmitBegin: return Begin(from, request.submit_begin());
    case R::kSubmitCommit: return Commit(request.submit_commit());
    case R::kSubmitAbort: return Abort(request.submit_abort());
    case R::kWaitJob: return WaitFor(from, request.wait_job());
    case R::kStatus: return GetStatus(request.status());
    case R::kCancelJob: return CancelJob(request.cancel_job());
    case R::BODY_NOT_SET: break;
  }
  return Result<wire::Reply>(Status(ErrorCode::kUnsupported, "the coordinator does not know this request", {}, "use a client and a stack of the same version"));
}

// ---- circuits ----

Result<wire::Reply> FrontDoor::Add(const wire::CircuitAdd& request) {
  PL_ASSIGN_OR_RETURN(const auto added, core_.circuits.Add(request.circuit(), core_.slots.layout(), core_.now_unix_ms));
  if (added.change != wire::CIRCUIT_UNCHANGED) {
    core_.outbox.ops.emplace_back(PutCircuit{added.circuit});
    LogInfo(added.change == wire::CIRCUIT_NEW ? "circuit added" : "circuit updated", {{"circuit", added.circuit.name()}, {"id", added.circuit.id()}});
  }
  wire::Reply reply;
  *reply.mutable_circuit_added()->mutable_circuit() = added.circuit;
  reply.mutable_circuit_added()->set_change(added.change);
  return reply;
}

Result<wire::Reply> FrontDoor::List(const wire::CircuitList& request) {
  const auto pages = Pages(core_.circuits.all());
  wire::Reply reply;
  reply.mutable_circuits()->set_page(request.page());
  reply.mutable_circuits()->set_page_count(static_cast<uint32_t>(pages.size()));
  if (request.page() < pages.size()) {
    for (const wire::Circuit* circuit : pages[request.page()]) *reply.mutable_circuits()->add_circuits() = *circuit;
  }
  return reply;
}

Result<wire::Reply> FrontDoor::Show(const wire::CircuitShow& request) {
  const wire::Circuit* circuit = core_.circuits.FindByName(request.name());
  if (!circuit) return NoCircuit(request.name());
  wire::Reply reply;
  *reply.mutable_circuits()->add_circuits() = *circuit;
  reply.mutable_circuits()->set_page_count(1);
  return reply;
}

Result<wire::Reply> FrontDoor::Remove(const wire::CircuitRemove& request) {
  const wire::Circuit* circuit = core_.circuits.FindByName(request.name());
  if (!circuit) return NoCircuit(request.name());
  if (core_.scheduler.table().UsesCircuit(circuit->id()) || core_.submissions.UsesCircuit(circuit->id())) {
    return Status(ErrorCode::kConflict, StrCat("the circuit \"", request.name(), "\" is used by a live job"), {}, "wait for the job or cancel it");
  }
  wire::Reply reply;
  *reply.mutable_circuits()->add_circuits() = *circuit;
  reply.mutable_circuits()->set_page_count(1);
  core_.outbox.ops.emplace_back(coordinator::RemoveCircuit{circuit->id()});
  LogInfo("circuit removed", {{"circuit", circuit->name()}, {"id", circuit->id()}});
  core_.circuits.Remove(circuit->id());
  return reply;
}

// ---- submitting ----

Result<wire::Reply> FrontDoor::Begin(const From& from, const wire::SubmitBegin& request) {
  const wire::Circuit* circuit = core_.circuits.FindByName(request.circuit());
  if (!circuit) return NoCircuit(request.circuit());
  if (request.partition_count() == 0 || request.partition_count() > kMaxPartitions) {
    return Status(ErrorCode::kInvalidArgument, StrCat("a job of ", request.partition_count(), " partitions, expected 1 to ", kMaxPartitions));
  }
  if (!wire::Priority_IsValid(request.priority())) return Status(ErrorCode::kInvalidArgument, "unknown priority");
  if (request.deadline_ms() > kLongestDeadlineMs) return Status(ErrorCode::kInvalidArgument, StrCat("a deadline of ", request.deadline_ms(), " ms is more than a year away"));
  if (!request.id().empty()) {
    PL_RETURN_IF_ERROR(CheckName(request.id(), "job id"));
    if (LooksLikeOurs(request.id())) return Status(ErrorCode::kInvalidArgument, StrCat("the job id \"", request.id(), "\" has the form of the names that the stack gives"), {}, "choose another id");
  }
  if (request.direct() != core_.options.is_private()) {
    return Status(ErrorCode::kUnsupported, request.direct() ? "only a private stack takes a client's own descriptors" : "a private stack has no spool");
  }
  Submission* submission = core_.submissions.FindByRequest(from.peer, from.request_id);
  if (!submission) {
    Submission fresh;
    fresh.record.id = core_.TakeJobNumber();
    fresh.record.circuit = circuit->id();
    fresh.record.circuit_name = circuit->name();
    fresh.record.priority = request.priority();
    fresh.record.partition_count = request.partition_count();
    fresh.client_id = request.id();
    fresh.deadline_ms = request.deadline_ms();
    fresh.direct = request.direct();
    fresh.has_input.resize(request.partition_count());
    if (fresh.direct) fresh.inputs.resize(request.partition_count());
    fresh.peer = from.peer;
    fresh.request_id = from.request_id;
    fresh.touched_ns = core_.now_ns;
    PL_ASSIGN_OR_RETURN(submission, core_.submissions.Open(std::move(fresh)));
  }
  wire::Reply reply;
  reply.mutable_ticket()->set_job(submission->record.id);
  reply.mutable_ticket()->set_content_key(core_.store->content_secret().data(), core_.store->content_secret().size());
  return reply;
}

Result<wire::Reply> AckOf(const JobRecord& record, bool joined) {
  wire::Reply reply;
  reply.mutable_ack()->set_job(record.id);
  reply.mutable_ack()->set_job_name(record.name);
  reply.mutable_ack()->set_joined(joined);
  return reply;
}

Result<wire::Reply> FrontDoor::Commit(const wire::SubmitCommit& request) {
  if (!request.content_mac().empty() && request.content_mac().size() != kMacBytes) {
    return Status(ErrorCode::kInvalidArgument, StrCat("a content MAC of ", request.content_mac().size(), " bytes, expected ", kMacBytes));
  }
  Submission* submission = core_.submissions.Find(request.job());
  if (submission) return Accept(*submission, request.content_mac());
  // The acknowledgement was lost, and the client asks again.
  if (const Job* live = core_.scheduler.table().Find(request.job()); live && live->record.content_mac == request.content_mac()) return AckOf(live->record, false);
  PL_ASSIGN_OR_RETURN(const auto found, core_.store->FindJob(request.job()));
  if (found && found->job.content_mac == request.content_mac()) return AckOf(found->job, false);
  return Status(ErrorCode::kNotFound, StrCat("no submission with number ", request.job(), " is open"), "the coordinator was restarted, or its time ran out", "submit again");
}

Result<wire::Reply> FrontDoor::Accept(Submission& submission, const std::string& mac) {
  JobRecord record = submission.record;
  for (uint32_t i = 0; i < record.partition_count; ++i) {
    if (!submission.has_input[i]) return Status(ErrorCode::kInvalidArgument, StrCat("partition ", i, " of ", record.partition_count, " has no input"));
  }
  if (!submission.client_id.empty()) {
    if (mac.empty()) return Status(ErrorCode::kInvalidArgument, "a job with an id needs a content MAC");
    if (core_.names_of_round.contains(submission.client_id)) return Status(ErrorCode::kUnavailable, "a job of this id is just being accepted", {}, "commit again");
    const Job* live = core_.scheduler.table().FindByName(submission.client_id);
    JobRecord other;
    if (live) {
      other = live->record;
    } else {
      PL_ASSIGN_OR_RETURN(const auto found, core_.store->FindJobByName(submission.client_id));
      if (found) other = found->job;
    }
    if (other.id != 0) {
      const bool same = other.content_mac == mac && other.circuit_name == record.circuit_name && other.partition_count == record.partition_count;
      const std::string id = submission.client_id;
      core_.submissions.Remove(record.id);
      DropInputs(record.id);
      if (same) return AckOf(other, true);
      return Status(ErrorCode::kConflict, StrCat("the job id \"", id, "\" is taken by a job with other content"), {}, "choose another id");
    }
  }
  if (core_.spool) PL_RETURN_IF_ERROR(core_.spool->Sync(record.id, record.partition_count));
  record.name = submission.client_id.empty() ? StrCat("j", record.id) : submission.client_id;
  record.content_mac = mac;
  record.created_unix_ms = core_.now_unix_ms;
  record.deadline_unix_ms = submission.deadline_ms == 0 ? 0 : core_.now_unix_ms + static_cast<int64_t>(submission.deadline_ms);
  if (submission.direct) core_.direct_inputs[record.id] = std::move(submission.inputs);
  core_.submissions.Remove(record.id);
  core_.names_of_round.insert(record.name);
  auto reply = AckOf(record, false);
  core_.scheduler.Submit(std::move(record), core_.now_ns, core_.now_unix_ms);
  return reply;
}

Result<wire::Reply> FrontDoor::Abort(const wire::SubmitAbort& request) {
  if (core_.submissions.Find(request.job())) {
    core_.submissions.Remove(request.job());
    DropInputs(request.job());
  }
  return wire::Reply();
}

void FrontDoor::DropInputs(uint64_t job) {
  core_.direct_inputs.erase(job);
  if (core_.spool) core_.spool->Discard(job);
}

// ---- jobs ----

Result<wire::JobView> FrontDoor::FindView(const std::string& name) {
  if (const Job* live = core_.scheduler.table().FindByName(name)) return ViewOf(core_, *live);
  PL_ASSIGN_OR_RETURN(const auto found, core_.store->FindJobByName(name));
  if (!found) return NoJob(name);
  return ViewOf(core_, *found);
}

std::optional<Result<wire::Reply>> FrontDoor::WaitFor(const From& from, const wire::WaitJob& request) {
  const Job* live = core_.scheduler.table().FindByName(request.job_name());
  if (!live || request.timeout_ms() == 0) {
    auto view = FindView(request.job_name());
    if (!view.ok()) return Result<wire::Reply>(view.status());
    wire::Reply reply;
    *reply.mutable_job() = *std::move(view);
    return Result<wire::Reply>(std::move(reply));
  }
  const auto same = [&](const Wait& w) { return w.request_id == from.request_id && w.peer == from.peer; };
  std::erase_if(waits_, same);
  if (waits_.size() >= kMaxWaits) return Result<wire::Reply>(Status(ErrorCode::kResource, StrCat(waits_.size(), " clients wait for jobs already"), {}, "wait again in a moment"));
  waits_.push_back({from.peer, from.request_id, live->record.id, core_.now_ns + std::min(request.timeout_ms(), kLongestWaitMs) * 1'000'000});
  return std::nullopt;
}

Result<wire::Reply> FrontDoor::GetStatus(const wire::StatusQuery& request) {
  wire::Reply reply;
  if (request.job_name().empty()) {
    *reply.mutable_status() = StatusOf(core_);
  } else {
    PL_ASSIGN_OR_RETURN(*reply.mutable_job(), FindView(request.job_name()));
  }
  return reply;
}

Result<wire::Reply> FrontDoor::CancelJob(const wire::CancelJob& request) {
  wire::Reply reply;
  if (const Job* live = core_.scheduler.table().FindByName(request.job_name())) {
    const uint64_t id = live->record.id;
    core_.scheduler.Cancel(id, core_.now_unix_ms);
    // It may have ended by that; then the journal has it only after this round.
    if (const Job* still = core_.scheduler.table().Find(id)) {
      *reply.mutable_job() = ViewOf(core_, *still);
    } else {
      reply.mutable_job()->set_job_name(request.job_name());
      reply.mutable_job()->set_job(id);
      reply.mutable_job()->set_state(wire::JOB_CANCELLED);
    }
    return reply;
  }
  PL_ASSIGN_OR_RETURN(*reply.mutable_job(), FindView(request.job_name()));
  return reply;
}

void FrontDoor::JobHasEnded(uint64_t job) {
  DropInputs(job);
  std::vector<Wait> answered;
  std::erase_if(waits_, [&](const Wait& wait) {
    if (wait.job == job) answered.push_back(wait);
    return wait.job == job;
  });
  if (answered.empty()) return;
  const auto found = core_.store->FindJob(job);
  for (const Wait& wait : answered) {
    wire::Reply reply;
    if (found.ok() && *found) {
      *reply.mutable_job() = ViewOf(core_, **found);
    } else {
      wire::FillError(found.ok() ? NoJob(StrCat("j", job)) : found.status(), reply.mutable_error());
    }
    reply.set_request_id(wait.request_id);
    (void)socket_.SendMessage(wait.peer, reply, core_.term());
  }
}

void FrontDoor::Expire() {
  std::erase_if(waits_, [&](const Wait& wait) {
    if (wait.until_ns > core_.now_ns) return false;
    const Job* live = core_.scheduler.table().Find(wait.job);
    if (!live) return false;  // its end is answered in this round
    wire::Reply reply;
    *reply.mutable_job() = ViewOf(core_, *live);
    Send(wait.peer, wait.request_id, std::move(reply));
    return true;
  });
  for (const Submission& expired : core_.submissions.TakeExpired(core_.now_ns)) {
    LogInfo("a submission was never committed", {{"job", expired.record.id}});
    DropInputs(expired.record.id);
  }
}

uint64_t FrontDoor::NextExpiryNs() const {
  uint64_t next = std::numeric_limits<uint64_t>::max();
  for (const Wait& wait : waits_) next = std::min(next, wait.until_ns);
  return next;
}

}  // namespace proofline::coordinator
