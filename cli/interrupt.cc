#include "cli/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <sys/eventfd.h>
#include <unistd.h>

namespace proofline::cli {
namespace {

std::atomic<int> g_event{-1};
std::atomic<int> g_signal{0};
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

void OnSignal(int number) {
  const int saved = errno;
  int none = 0;
  g_signal.compare_exchange_strong(none, number);
  const uint64_t one = 1;
  if (const int fd = g_event.load(); fd >= 0) [[maybe_unused]] ssize_t ignored = write(fd, &one, sizeof one);
  errno = saved;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigfillset(&action.sa_mask);
  for (int s : kSignals) {
    struct sigaction before {};
    sigaction(s, nullptr, &before);
    // What the caller told us to ignore (nohup) stays ignored.
    if (before.sa_handler != SIG_IGN) sigaction(s, &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (int s : kSignals) {
    struct sigaction before {};
    sigaction(s, nullptr, &before);
    if (before.sa_handler == OnSignal) std::signal(s, SIG_DFL);
  }
  if (const int fd = g_event.exchange(-1); fd >= 0) close(fd);
}

int InterruptGuard::fd() const { return g_event; }
int InterruptGuard::signal() { return g_signal; }
void InterruptGuard::Forget() { g_signal = 0; }

Status Interrupted() { return Status(ErrorCode::kCancelled, "interrupted"); }

}  // namespace proofline::cli
