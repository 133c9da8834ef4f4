// The two halves of one window of an MSM, on points: summing sorted entries into buckets, and reducing the buckets to one point.
// All of it by batched affine additions; XYZZ only for the few points that are left over.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "core/base/bytes.h"
#include "core/curve/batch_affine.h"
#include "core/curve/point.h"

namespace proofline::msm_detail {

// A point of the base table: index in bits 0-30, negated if bit 31 is set.
using Entry = uint32_t;
constexpr Entry kNegated = 0x80000000u;

// Entries that one task sums: at 64-byte points the first level's sums take 128 KiB, which stay in the second-level cache.
constexpr size_t kTaskEntries = 4096;

// What a thread needs to sum a task: about 0.6 MiB for 64-byte points.
template <class F>
struct Workspace {
  BatchAdder<F> adder;
  std::unique_ptr<Affine<F>[]> level[2] = {std::make_unique_for_overwrite<Affine<F>[]>(kTaskEntries),
                                           std::make_unique_for_overwrite<Affine<F>[]>(kTaskEntries)};
  // Pairs of the current round: positions of the left operands (the right ones follow) and of the sums.
  std::unique_ptr<uint32_t[]> left = std::make_unique_for_overwrite<uint32_t[]>(kTaskEntries / 2);
  std::unique_ptr<uint32_t[]> to = std::make_unique_for_overwrite<uint32_t[]>(kTaskEntries / 2);
  size_t pairs = 0;
  struct Segment {
    uint32_t bucket, length;
  };
  std::vector<Segment> segments;
};
template <class F>
using Workspaces = tbb::enumerable_thread_specific<Workspace<F>>;

// The points of the key, where they lie.
template <class F>
class Bases {
 public:
  explicit Bases(const uint8_t* bytes) : bytes_(bytes) {}
  F X(Entry e) const { return F::LoadMont(At(e)); }
  Affine<F> Point(Entry e) const {
    Affine<F> p = Affine<F>::Load(At(e));
    batch_affine_detail::NegateIf(p.y, e >> 31);
    return p;
  }
  // Inlined by force, like its callers: a function that only prefetches has no effect in GCC's eyes, and calls of it are removed.
  [[gnu::always_inline]] void Prefetch(Entry e) const {
    const uint8_t* p = At(e);
    for (size_t offset = 0; offset < Affine<F>::kBytes; offset += 64) __builtin_prefetch(p + offset);
    __builtin_prefetch(p + Affine<F>::kBytes - 1);
  }

 private:
  const uint8_t* At(Entry e) const { return bytes_ + size_t{e & ~kNegated} * Affine<F>::kBytes; }
  const uint8_t* bytes_;
};

// Pairs of neighbouring entries (never infinity), and pairs of neighbouring sums of the level below.
template <class F>
struct EntryPairs {
  Bases<F> bases;
  const Entry* entries;
  size_t entry_count;  // of the whole window: what follows this task's is fetched for the next one
  const uint32_t* left;
  void SubXs(size_t k, F& dx) const { F::Sub(dx, bases.X(entries[left[k] + 1]), bases.X(entries[left[k]])); }
  AffinePair<F> Points(size_t k) const { return {bases.Point(entries[left[k]]), bases.Point(entries[left[k] + 1])}; }
  // Pairs take neighbouring entries, so the pair one batch on reads those two batches of entries on, or nearly.
  [[gnu::always_inline]] void PrefetchNextBatch(size_t k) const {
    const size_t next = left[k] + 2 * BatchAdder<F>::kBatch;
    if (next + 1 >= entry_count) return;
    bases.Prefetch(entries[next]);
    bases.Prefetch(entries[next + 1]);
  }
};
template <class F>
struct LevelPairs {
  const Affine<F>* points;
  const uint32_t* left;
  void SubXs(size_t k, F& dx) const { F::Sub(dx, points[left[k] + 1].x, points[left[k]].x); }
  bool HasZeroX(size_t k) const { return points[left[k]].x.IsZero() | points[left[k] + 1].x.IsZero(); }
  AffinePairView<F> Points(size_t k) const { return {points[left[k]], points[left[k] + 1]}; }
};

// One round of the trees: pairs up every segment, copies odd ones out with `copy(from, to)`, and hands segments of one point to
// `emit(bucket, from)` before that. Leaves the next round's segments in ws.segments and returns whether there are pairs.
template <class F, class Emit, class Copy>
bool PlanRound(Workspace<F>& ws, const Emit& emit, const Copy& copy) {
  size_t pairs = 0;
  size_t kept = 0;
  uint32_t from = 0, to = 0;
  for (size_t s = 0; s < ws.segments.size(); ++s) {
    auto [bucket, length] = ws.segments[s];
    if (length == 1) {
      emit(bucket, from);
    } else {
      for (uint32_t i = 0; i + 1 < length; i += 2) {
        ws.left[pairs] = from + i;
        ws.to[pairs++] = to++;
      }
      if (length % 2 == 1) copy(from + length - 1, to++);
      ws.segments[kept++] = {bucket, (length + 1) / 2};
    }
    from += length;
  }
  ws.segments.resize(kept);
  ws.pairs = pairs;
  return kept != 0;
}

// Sums each segment of ws.segments; their entries follow each other from `entries` on, kTaskEntries at most. `entry_count` are readable.
template <class F, class Emit>
void SumSegments(Workspace<F>& ws, const Bases<F>& bases, const Entry* entries, size_t entry_count, const Emit& emit) {
  Affine<F>* to = ws.level[0].get();
  bool more = PlanRound(
      ws, [&](uint32_t bucket, uint32_t from) { emit(bucket, bases.Point(entries[from])); },
      [&](uint32_t from, uint32_t at) { to[at] = bases.Point(entries[from]); });
  if (!more) return;
  ws.adder.Run(ws.pairs, EntryPairs<F>{bases, entries, entry_count, ws.left.get()},
               [&](size_t k) -> Affine<F>& { return to[ws.to[k]]; });
  for (int level = 1;; ++level) {
    const Affine<F>* below = to;
    to = ws.level[level % 2].get();
    more = PlanRound(
        ws, [&](uint32_t bucket, uint32_t from) { emit(bucket, below[from]); },
        [&](uint32_t from, uint32_t at) { to[at] = below[from]; });
    if (!more) return;
    ws.adder.Run(ws.pairs, LevelPairs<F>{below, ws.left.get()},
                 [&](size_t k) -> Affine<F>& { return to[ws.to[k]]; });
  }
}

// Work space that grows and is kept: fresh pages cost more than most of what is done with them here.
template <class T>
class Scratch {
 public:
  // At least `size` elements, contents undefined.
  T* Get(size_t size) {
    if (size > size_) {
      data_.reset();
      data_ = std::make_unique_for_overwrite<T[]>(size);
      size_ = size;
    }
    return data_.get();
  }

 private:
  std::unique_ptr<T[]> data_;
  size_t size_ = 0;
};

// Sums that a task could not put into a bucket alone, because the bucket's entries go on in the next task.
template <class F>
struct Partial {
  uint32_t bucket = 0;
  Affine<F> sum;
  bool used = false;
};

// buckets[b] = sum of entries[starts[b], starts[b + 1]). `buckets` has starts.size() - 1 elements.
template <class F>
void FillBuckets(Workspaces<F>& workspaces, const Bases<F>& bases, std::span<const Entry> entries,
                 std::span<const uint32_t> starts, Affine<F>* buckets) {
  const uint32_t bucket_count = static_cast<uint32_t>(starts.size() - 1);
  const size_t tasks = (entries.size() + kTaskEntries - 1) / kTaskEntries;
  std::vector<Partial<F>> partials(2 * tasks);
  std::fill_n(buckets, bucket_count, Affine<F>::Infinity());
  tbb::parallel_for(size_t{0}, tasks, [&](size_t task) {
    const uint32_t first = static_cast<uint32_t>(task * kTaskEntries);
    const uint32_t last = static_cast<uint32_t>(std::min(entries.size(), size_t{first} + kTaskEntries));
    Workspace<F>& ws = workspaces.local();
    ws.segments.clear();
    uint32_t bucket =
        static_cast<uint32_t>(std::upper_bound(starts.begin(), starts.end(), first) - starts.begin()) - 1;
    for (uint32_t at = first; at < last; ++bucket) {
      const uint32_t end = std::min(last, starts[bucket + 1]);
      if (end > at) ws.segments.push_back({bucket, end - at});
      at = std::max(at, end);
    }
    SumSegments(ws, bases, entries.data() + first, entries.size() - first, [&](uint32_t b, const Affine<F>& sum) {
      if (starts[b] >= first && starts[b + 1] <= last) {
        buckets[b] = sum;
      } else {
        partials[2 * task + (starts[b] < first ? 0 : 1)] = {b, sum, true};
      }
    });
  });

  // At most two per task, in the order of buckets.
  std::vector<Xyzz<F>> sums;
  std::vector<uint32_t> owners;
  for (const Partial<F>& partial : partials) {
    if (!partial.used) continue;
    if (owners.empty() || owners.back() != partial.bucket) {
      owners.push_back(partial.bucket);
      sums.push_back(Xyzz<F>::Infinity());
    }
    sums.back().AddMixed(partial.sum);
  }
  std::vector<Affine<F>> affine(sums.size());
  BatchToAffine<F>(sums, affine);
  for (size_t i = 0; i < owners.size(); ++i) buckets[owners[i]] = affine[i];
}

// to[k] = left[k] + right[k], in parallel; `to` may be `left`.
template <class F>
void FoldHalf(Workspaces<F>& workspaces, const Affine<F>* left, const Affine<F>* right, Affine<F>* to, size_t count) {
  tbb::parallel_for(tbb::blocked_range<size_t>(0, count, BatchAdder<F>::kBatch),
                    [&](const tbb::blocked_range<size_t>& range) {
                      BatchAdd(workspaces.local().adder, left + range.begin(), right + range.begin(),
                               to + range.begin(), range.size());
                    });
}

// sum of weight(k) points[k * stride] by running sums, where weight(k) is k if `from_zero`, else k + 1.
template <class F>
Xyzz<F> WeightedSum(std::span<const Affine<F>> points, size_t stride, bool from_zero) {
  Xyzz<F> running = Xyzz<F>::Infinity(), total = Xyzz<F>::Infinity();
  const size_t count = points.size() / stride;
  for (size_t k = count; k-- > (from_zero ? 1 : 0);) {
    running.AddMixed(points[k * stride]);
    total.Add(running);
  }
  return total;
}

// Sums the columns of every row into the row's first element: rows of `columns` (a power of two).
template <class F>
void SumRows(Workspaces<F>& workspaces, Affine<F>* points, size_t rows, size_t columns) {
  struct Source {
    const Affine<F>* points;
    size_t half, columns;
    int shift;
    size_t At(size_t k) const { return (k >> shift) * columns + (k & (half - 1)); }
    void SubXs(size_t k, F& dx) const { F::Sub(dx, points[At(k) + half].x, points[At(k)].x); }
    bool HasZeroX(size_t k) const { return points[At(k)].x.IsZero() | points[At(k) + half].x.IsZero(); }
    AffinePair<F> Points(size_t k) const { return {points[At(k)], points[At(k) + half]}; }
  };
  for (size_t half = columns / 2; half > 0; half /= 2) {
    const int shift = std::countr_zero(half);
    const size_t rows_per_task = std::max<size_t>(1, BatchAdder<F>::kBatch / half);
    tbb::parallel_for(tbb::blocked_range<size_t>(0, rows, rows_per_task), [&](const tbb::blocked_range<size_t>& range) {
      Affine<F>* base = points + range.begin() * columns;
      const Source source{base, half, columns, shift};
      workspaces.local().adder.Run(range.size() * half, source,
                                   [&](size_t k) -> Affine<F>& { return base[source.At(k)]; });
    });
  }
}

// sum of (b + 1) buckets[b]. Bucket b = row * columns + column counts row * columns + (column + 1) times, so two short weighted sums of
// row sums and column sums are enough. `buckets` has room for rows * columns points and is overwritten.
struct BucketGrid {
  explicit BucketGrid(size_t bucket_count) {
    log2_columns = (std::bit_width(bucket_count) + 1) / 2;
    columns = size_t{1} << log2_columns;
    rows = (bucket_count + columns - 1) / columns;
  }
  int log2_columns;
  size_t columns, rows;
};

template <class F>
Xyzz<F> ReduceBuckets(Workspaces<F>& workspaces, Affine<F>* buckets, size_t bucket_count, Scratch<Affine<F>>& scratch) {
  if (bucket_count <= 64) return WeightedSum<F>({buckets, bucket_count}, 1, false);
  const BucketGrid grid(bucket_count);
  std::fill(buckets + bucket_count, buckets + grid.rows * grid.columns, Affine<F>::Infinity());

  // Columns into a copy of half the size, then in place.
  size_t rows = (grid.rows + 1) / 2;
  Affine<F>* columns = scratch.Get(rows * grid.columns);
  FoldHalf(workspaces, buckets, buckets + rows * grid.columns, columns, (grid.rows - rows) * grid.columns);
  if (grid.rows % 2 == 1) std::copy_n(buckets + (rows - 1) * grid.columns, grid.columns, &columns[(rows - 1) * grid.columns]);
  while (rows > 1) {
    const size_t keep = (rows + 1) / 2;
    FoldHalf(workspaces, columns, columns + keep * grid.columns, columns,
             (rows - keep) * grid.columns);
    rows = keep;
  }
  SumRows(workspaces, buckets, grid.rows, grid.columns);

  Xyzz<F> total = WeightedSum<F>({buckets, grid.rows * grid.columns}, grid.columns, true);
  for (int i = 0; i < grid.log2_columns; ++i) total = total.Double();
  total.Add(WeightedSum<F>({columns, grid.columns}, 1, false));
  return total;
}

}  // namespace proofline::msm_detail
