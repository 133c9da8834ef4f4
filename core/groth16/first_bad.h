// Which is the first of many things that fails a test: parallel, and the answer does not depend on the schedule.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <cstddef>

namespace proofline {

// The smallest i < count with !is_good(i), or count. Stops early: what lies behind a bad one already found is not looked at.
// Runs in the caller's TBB arena.
template <class Fn>
size_t FirstBad(size_t count, size_t grain, const Fn& is_good) {
  std::atomic<size_t> first{count};
  tbb::parallel_for(tbb::blocked_range<size_t>(0, count, grain), [&](const tbb::blocked_range<size_t>& range) {
    for (size_t i = range.begin(); i < range.end() && i < first.load(std::memory_order_relaxed); ++i) {
      if (is_good(i)) continue;
      size_t seen = first.load();
      while (i < seen && !first.compare_exchange_weak(seen, i)) {
      }
      return;
    }
  });
  return first.load();
}

}  // namespace proofline
