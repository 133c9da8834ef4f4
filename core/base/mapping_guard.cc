#include "core/base/mapping_guard.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace proofline {
namespace {

// A slot belongs to whoever made `state` kClaimed; the handler looks only at those that are kGuarded or kCut.
enum State : int { kFree, kClaimed, kGuarded, kCut };
struct Slot {
  std::atomic<int> state{kFree};
  std::atomic<uintptr_t> begin{0}, end{0};
};
constexpr int kSlots = 4096;
Slot g_slots[kSlots];
uintptr_t g_page_bytes = 0;

// Zeros from the page of `address` to the mapping's end: what lies behind is gone as well, and one call then serves a whole scan.
bool Patch(uintptr_t address) {
  for (Slot& slot : g_slots) {
    const int state = slot.state;
    if (state != kGuarded && state != kCut) continue;
    if (address < slot.begin || address >= slot.end) continue;
    slot.state = kCut;
    const uintptr_t page = address / g_page_bytes * g_page_bytes;
    return mmap(reinterpret_cast<void*>(page), slot.end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
  }
  return false;
}

// mmap is a bare system call here, so it may be made in a handler.
void OnBusError(int number, siginfo_t* info, void*) {
  const int saved = errno;
  if (info->si_code == BUS_ADRERR && Patch(reinterpret_cast<uintptr_t>(info->si_addr))) {
    errno = saved;
    return;
  }
  std::signal(number, SIG_DFL);
  std::raise(number);  // delivered when the handler returns
}

void TakeBusErrors() {
  g_page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

int GuardMapping(const void* begin, size_t bytes) {
  static std::once_flag once;
  std::call_once(once, TakeBusErrors);
  for (int i = 0; i < kSlots; ++i) {
    int expected = kFree;
    if (!g_slots[i].state.compare_exchange_strong(expected, kClaimed)) continue;
    g_slots[i].begin = reinterpret_cast<uintptr_t>(begin);
    g_slots[i].end = reinterpret_cast<uintptr_t>(begin) + bytes;
    g_slots[i].state = kGuarded;
    return i;
  }
  return kNoMappingGuard;
}

bool MappingWasCut(int guard) { return guard != kNoMappingGuard && g_slots[guard].state == kCut; }

void ReleaseMapping(int guard) {
  if (guard != kNoMappingGuard) g_slots[guard].state = kFree;
}

}  // namespace proofline
