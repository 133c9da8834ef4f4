#include "coordinator/coordinator.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "coordinator/startup.h"
#include "coordinator/state_lock.h"
#include "core/base/clock.h"
#include "core/base/event.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace proofline::coordinator {

namespace {

constexpr int kMessagesPerRound = 256;
constexpr uint64_t kPruneNs = uint64_t{600} * 1'000'000'000;
constexpr uint32_t kPruneJobs = 200;
constexpr int kIdleMs = 1000;
constexpr int kJournalRetryMs = 500;

Result<UniqueFd> MakeSignalFd() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return Status(ErrorCode::kResource, "no descriptor for signals", std::strerror(errno));
  return fd;
}

Result<wire::RouterSocket> AdoptOrBind(wire::Context& context, UniqueFd inherited, const std::string& path) {
  if (inherited) return wire::RouterSocket::Adopt(context, std::move(inherited), path);
  return wire::RouterSocket::Bind(context, path);
}

Event EventOf(const Note& note) {
  Event event{.name = note.name, .job = note.job, .stage = note.stage, .outcome = note.outcome, .code = note.code, .text = note.text};
  if (note.part >= 0) event.partition = static_cast<uint32_t>(note.part);
  if (note.attempt != 0) event.attempt = note.attempt;
  if (note.queue_wait_ns != 0) event.queue_wait_ns = note.queue_wait_ns;
  if (note.work_ns != 0) event.work_ns = note.work_ns;
  if (note.slot >= 0) event.extra.emplace_back("slot", note.slot);
  if (note.worker != 0) event.extra.emplace_back("worker", note.worker);
  return event;
}

}  // namespace

Coordinator::Coordinator(UniqueFd lock, UniqueFd signals, std::unique_ptr<Core> core, wire::RouterSocket work, wire::RouterSocket front, wire::BrokerListener broker)
    : lock_(std::move(lock)), signals_(std::move(signals)), core_(std::move(core)), work_(*core_, std::move(work)), front_(*core_, std::move(front)), broker_(*core_, std::move(broker)) {}

Result<std::unique_ptr<Coordinator>> Coordinator::Start(wire::Context& context, Options options) {
  const StackPaths paths = options.paths;
  PL_RETURN_IF_ERROR(MakeDirectories(paths.state_dir));
  PL_RETURN_IF_ERROR(MakeDirectories(paths.run_dir));
  PL_ASSIGN_OR_RETURN(UniqueFd lock, LockStateDirectory(paths.LockFile()));
  PL_ASSIGN_OR_RETURN(UniqueFd signals, MakeSignalFd());
  InheritedFds inherited = ServiceManager::TakeFds();
  PL_ASSIGN_OR_RETURN(auto core, StartCore(std::move(options), inherited));
  PL_ASSIGN_OR_RETURN(auto work, AdoptOrBind(context, std::move(inherited.work), paths.WorkSocket()));
  PL_ASSIGN_OR_RETURN(auto front, AdoptOrBind(context, std::move(inherited.front), paths.FrontSocket()));
  PL_ASSIGN_OR_RETURN(auto broker, inherited.broker ? wire::BrokerListener::Adopt(std::move(inherited.broker)) : wire::BrokerListener::Bind(paths.BrokerSocket()));
  std::unique_ptr<Coordinator> made(new Coordinator(std::move(lock), std::move(signals), std::move(core), std::move(work), std::move(front), std::move(broker)));
  made->Begin();
  PL_RETURN_IF_ERROR(made->CommitRound());
  ServiceManager::Ready();
  EmitEvent({.name = "coordinator-ready", .outcome = "ok", .extra = {{"term", made->core_->term()}, {"slots", made->core_->slots.count()}, {"live_jobs", made->core_->scheduler.table().size()}}});
  return made;
}

void Coordinator::Begin() {
  std::vector<uint32_t> condemned;
  Reconcile(*core_, condemned);
  work_.BeginScan(condemned);
  next_prune_ns_ = core_->now_ns;
}

Status Coordinator::Run() {
  while (!core_->stopping) PL_RETURN_IF_ERROR(Round());
  ServiceManager::Stopping();
  // The numbers that were only reserved.
  core_->outbox.ops.emplace_back(ReserveJobNumbers{core_->next_job});
  PL_RETURN_IF_ERROR(CommitRound());
  EmitEvent({.name = "coordinator-ends", .outcome = "ok"});
  return OkStatus();
}

Status Coordinator::Round() {
  Poll();
  Timers();
  core_->scheduler.Tick(core_->now_ns, core_->now_unix_ms);
  core_->scheduler.Dispatch(core_->now_ns);
  return CommitRound();
}

void Coordinator::Poll() {
  const std::vector<int> connections = broker_.connection_fds();
  std::vector<std::pair<uint32_t, int>> pidfds;
  for (const auto& [instance, worker] : core_->workers.all()) pidfds.emplace_back(instance, worker.pidfd.get());
  std::vector<wire::PollItem> items(4);
  items[0].socket = &work_.socket();
  items[1].socket = &front_.socket();
  items[2].fd = broker_.listener_fd();
  items[3].fd = signals_.get();
  for (const int fd : connections) items.emplace_back().fd = fd;
  for (const auto& [instance, fd] : pidfds) items.emplace_back().fd = fd;

  wire::Poll(items, TimeoutMs());
  core_->now_ns = MonotonicNs();
  core_->now_unix_ms = WallUnixMs();
  const auto active = [&](size_t i) { return items[i].readable || items[i].error; };
  if (active(3)) ReadSignals();
  for (size_t i = 0; i < connections.size(); ++i) {
    if (active(4 + i)) broker_.Receive(connections[i]);
  }
  if (active(2)) broker_.Accept();
  if (active(0)) work_.Receive(kMessagesPerRound);
  for (size_t i = 0; i < pidfds.size(); ++i) {
    if (!active(4 + connections.size() + i)) continue;
    // Whatever it said before it died comes first.
    work_.Receive(kMessagesPerRound);
    work_.Died(pidfds[i].first);
  }
  if (active(1)) front_.Receive(kMessagesPerRound);
}

int Coordinator::TimeoutMs() const {
  const uint64_t now = MonotonicNs();
  const bool busy = core_->scheduler.job_tally().live > 0 || !core_->workers.all().empty();
  uint64_t at = now + (busy ? WorkDoor::kScanNs : uint64_t{kIdleMs} * 1'000'000);
  at = std::min({at, front_.NextExpiryNs(), core_->scheduler.NextBackoffNs()});
  at = std::min(at, watchdog_.due_ns().value_or(at));
  return at <= now ? 0 : static_cast<int>((at - now + 999'999) / 1'000'000);
}

void Coordinator::Timers() {
  Core& core = *core_;
  if (core.now_ns >= next_scan_ns_) {
    work_.Scan();
    next_scan_ns_ = core.now_ns + WorkDoor::kScanNs;
  }
  front_.Expire();
  watchdog_.Tick();
  if (core.now_ns >= next_prune_ns_) {
    const int64_t before = core.now_unix_ms - static_cast<int64_t>(core.options.config.keep_results_s) * 1000;
    const auto pruned = core.store->Prune(before, kPruneJobs);
    if (!pruned.ok()) LogStatus(LogLevel::kWarn, "old results cannot be forgotten", pruned.status());
    if (pruned.ok() && *pruned > 0) EmitEvent({.name = "results-forgotten", .outcome = "ok", .extra = {{"jobs", *pruned}}});
    // More of them are waiting if the batch was full.
    next_prune_ns_ = core.now_ns + (pruned.ok() && *pruned == kPruneJobs ? WorkDoor::kScanNs : kPruneNs);
  }
}

void Coordinator::ReadSignals() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) core_->stopping = true;
}

Status Coordinator::ApplyOrWait(const std::vector<JournalOp>& ops) {
  bool told = false;
  while (true) {
    Status status = core_->store->Apply(ops);
    if (status.ok() && told) LogInfo("the journal can be written again");
    if (status.ok() || (status.code() != ErrorCode::kResource && status.code() != ErrorCode::kIo)) return status;
    if (!told) LogStatus(LogLevel::kError, "the journal cannot be written; everything waits", status);
    told = true;
    ServiceManager::Ping();
    pollfd wait{signals_.get(), POLLIN, 0};
    if (core_->stopping || poll(&wait, 1, kJournalRetryMs) > 0) return status;
  }
}

Status Coordinator::CommitRound() {
  Decisions decisions = core_->scheduler.TakeDecisions();
  Outbox out = std::exchange(core_->outbox, {});
  out.ops.insert(out.ops.end(), std::make_move_iterator(decisions.ops.begin()), std::make_move_iterator(decisions.ops.end()));
  PL_RETURN_IF_ERROR(ApplyOrWait(out.ops));
  core_->names_of_round.clear();
  for (const auto& effect : out.effects) effect();
  for (const Action& action : decisions.actions) Carry(action);
  return OkStatus();
}

void Coordinator::Carry(const Action& action) {
  std::visit(
      [this](const auto& a) {
        using T = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<T, Note>) {
          EmitEvent(EventOf(a), a.code == ErrorCode::kOk ? LogLevel::kInfo : LogLevel::kWarn);
        } else if constexpr (std::is_same_v<T, JobEnded>) {
          front_.JobHasEnded(a.job);
        } else {
          work_.Carry(a);
        }
      },
      action);
}

}  // namespace proofline::coordinator
