#include "core/base/progress.h"

#include <cstdio>
#include <unistd.h>

#include "core/base/text.h"

namespace proofline {

namespace {
constexpr int64_t kFirstMs = 500;
constexpr int64_t kEveryMs = 100;
}  // namespace

Progress::Progress(std::string what, uint64_t total, std::string unit)
    : what_(std::move(what)), unit_(std::move(unit)), total_(total), shown_(isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()), due_ms_(kFirstMs) {}

Progress::~Progress() {
  if (printed_) std::fputs("\r\033[K", stderr);
}

int64_t Progress::NowMs() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_).count();
}

std::string Progress::Line(uint64_t done) const {
  if (total_ == 0) return StrCat(what_, ": ", done, " ", unit_);
  return StrCat(what_, ": ", static_cast<uint64_t>(100.0 * static_cast<double>(done) / static_cast<double>(total_)), " % (", done, "/",
                total_, " ", unit_, ")");
}

void Progress::Advance(uint64_t count) {
  uint64_t done = done_.fetch_add(count, std::memory_order_relaxed) + count;
  if (!shown_) return;
  int64_t now = NowMs(), due = due_ms_.load(std::memory_order_relaxed);
  if (now < due || !due_ms_.compare_exchange_strong(due, now + kEveryMs)) return;
  std::fprintf(stderr, "\r\033[K%s", Line(done).c_str());
  printed_ = true;
}

}  // namespace proofline
