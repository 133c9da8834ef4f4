#include "cuda/plan/pack.h"

#include <algorithm>
#include <numeric>

namespace proofline::cuda {
namespace {

using Order = std::vector<size_t>;

bool MeetInTime(const PlannedBuffer& a, const PlannedBuffer& b) { return a.first <= b.last && b.first <= a.last; }

uint64_t AlignUp(uint64_t bytes) { return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment; }

struct Span {
  uint64_t begin, end;
};

// The smallest gap that holds `bytes`, else behind everything that is in the way.
uint64_t BestFit(std::vector<Span> taken, uint64_t bytes) {
  std::sort(taken.begin(), taken.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  uint64_t best = UINT64_MAX, best_gap = UINT64_MAX, at = 0;
  for (const Span& span : taken) {
    const uint64_t gap = span.begin > at ? span.begin - at : 0;
    if (gap >= bytes && gap < best_gap) best = at, best_gap = gap;
    at = std::max(at, span.end);
  }
  return best == UINT64_MAX ? at : best;
}

uint64_t PackInOrder(std::vector<PlannedBuffer>& buffers, const Order& order) {
  uint64_t peak = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    PlannedBuffer& buffer = buffers[order[i]];
    std::vector<Span> taken;
    for (size_t j = 0; j < i; ++j) {
      const PlannedBuffer& other = buffers[order[j]];
      if (MeetInTime(buffer, other)) taken.push_back({other.offset, other.offset + AlignUp(other.bytes)});
    }
    buffer.offset = BestFit(std::move(taken), AlignUp(buffer.bytes));
    peak = std::max(peak, buffer.offset + AlignUp(buffer.bytes));
  }
  return peak;
}

uint64_t Length(const PlannedBuffer& b) { return static_cast<uint64_t>(b.last) - static_cast<uint64_t>(b.first) + 1; }

}  // namespace

// Buffers that live in all phases first, without gaps; the others by size, by length in time, and by both: the best of the three.
uint64_t Pack(std::vector<PlannedBuffer>& buffers) {
  const auto sorted_by = [&](auto key) {
    Order order(buffers.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
      const PlannedBuffer &a = buffers[i], &b = buffers[j];
      if (a.resident != b.resident) return a.resident;
      const bool a_always = Length(a) == kPlanPhaseCount, b_always = Length(b) == kPlanPhaseCount;
      if (a_always != b_always) return a_always;
      return !a_always && key(a) > key(b);
    });
    return order;
  };
  const Order orders[] = {sorted_by([](const PlannedBuffer& b) { return b.bytes; }),
                          sorted_by([](const PlannedBuffer& b) { return Length(b) << 60 | b.bytes >> 4; }),
                          sorted_by([](const PlannedBuffer& b) { return Length(b) * (b.bytes >> 4); })};
  const Order* best = &orders[0];
  uint64_t best_peak = UINT64_MAX;
  for (const Order& order : orders) {
    const uint64_t peak = PackInOrder(buffers, order);
    if (peak < best_peak) best = &order, best_peak = peak;
  }
  return PackInOrder(buffers, *best);
}

}  // namespace proofline::cuda
