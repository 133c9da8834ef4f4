#include "core/wire/worker_loop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

namespace proofline::wire {

namespace {

// Milliseconds of processor time: grows while any thread of this process computes, stands still in a dead-lock.
uint64_t ProgressNow() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000 + static_cast<uint64_t>(t.tv_nsec) / 1000000;
}

bool Readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return poll(&p, 1, 0) > 0;
}

}  // namespace

WorkerLoop::WorkerLoop(WorkerLink& link, OrderRunner& runner, int stop_fd, std::function<void()> on_turn)
    : link_(link),
      runner_(runner),
      stop_fd_(stop_fd),
      on_turn_(std::move(on_turn)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  runner_.SetPeek([this] { return PeekNext(); });
  thread_ = std::thread([this] { JobThread(); });
}

WorkerLoop::~WorkerLoop() { StopJobs(); }

void WorkerLoop::StopJobs() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
    for (auto& [key, job] : known_) job->cancel = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void WorkerLoop::Enqueue(Frame order) {
  std::optional<SlotEpoch> key = runner_.KeyOf(order);
  if (!key) return;
  {
    std::lock_guard lock(mutex_);
    if (known_.count(*key)) return;  // rung twice
    known_[*key] = std::make_shared<Job>();
    known_[*key]->order = std::move(order);
    queue_.push_back(*key);
  }
  changed_.notify_all();
}

void WorkerLoop::Cancel(const Frame& order) {
  auto cancel = Unpack<CancelSlot>(order);
  if (!cancel.ok()) return;
  std::lock_guard lock(mutex_);
  if (auto it = known_.find({cancel->slot(), cancel->epoch()}); it != known_.end()) it->second->cancel = true;
}

void WorkerLoop::OnOrder(Frame order) {
  if (order.type == MessageType::kDrain)
    draining_ = true;
  else if (order.type == MessageType::kCancelSlot)
    Cancel(order);
  else
    Enqueue(std::move(order));
}

WorkerReport WorkerLoop::Report() {
  WorkerReport report;
  report.progress = ProgressNow();
  bool unknown = false;
  for (const OwnedSlot& owned : runner_.Owned()) {
    if (std::optional<Frame> order = runner_.OrderFor(owned)) Enqueue(*std::move(order));
    HeldSlot held;
    held.set_slot(owned.key.slot);
    held.set_word(owned.word);
    std::lock_guard lock(mutex_);
    bool known = known_.count(owned.key);
    unknown |= !known;
    held.set_progress(known ? report.progress + 1 : 0);
    report.held.push_back(std::move(held));
  }
  // A word that names us without an order: its doorbell is late or lost. Say so once at once, then with each heartbeat.
  if (unknown && !asked_) link_.HeartbeatNow();
  asked_ = unknown;
  return report;
}

void WorkerLoop::SendFinished() {
  uint64_t count = 0;
  (void)!read(wake_.get(), &count, sizeof(count));
  std::vector<Frame> finished;
  {
    std::lock_guard lock(mutex_);
    finished.swap(finished_);
  }
  for (Frame& frame : finished) link_.Notify(std::move(frame));
}

bool WorkerLoop::Idle() {
  std::lock_guard lock(mutex_);
  return known_.empty() && finished_.empty();
}

Status WorkerLoop::Run() {
  const int wake_fds[] = {stop_fd_, wake_.get()};
  for (;;) {
    on_turn_();
    PL_ASSIGN_OR_RETURN(std::vector<Frame> orders, link_.Turn(wake_fds, Report()));
    for (Frame& order : orders) OnOrder(std::move(order));
    SendFinished();
    if (Readable(stop_fd_)) {
      StopJobs();
      SendFinished();
      return OkStatus();
    }
    if (draining_ && Idle() && runner_.Owned().empty()) return OkStatus();
  }
}

std::optional<Frame> WorkerLoop::PeekNext() {
  std::lock_guard lock(mutex_);
  if (stopping_ || queue_.empty()) return std::nullopt;
  const std::shared_ptr<Job>& job = known_[queue_.front()];
  if (job->cancel) return std::nullopt;
  return job->order;
}

void WorkerLoop::JobThread() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    SlotEpoch key = queue_.front();
    queue_.pop_front();
    std::shared_ptr<Job> job = known_[key];
    lock.unlock();
    std::optional<Frame> report = runner_.Run(job->order, job->cancel);
    lock.lock();
    known_.erase(key);
    if (report) finished_.push_back(*std::move(report));
    uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof(one));
  }
}

}  // namespace proofline::wire
