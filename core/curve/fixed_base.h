// Many multiples of one point, for key generation: [k_i] P by a table of P's multiples and batched affine additions.
//
// The table holds, for each signed window of 10 bits (msm_windows.h), the multiples 1 to 512 of 2^start P: 26 windows, 0.8 MiB for
// 64-byte points, built in a few milliseconds. A product then is at most 26 additions of about six multiplications each.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/curve/batch_affine.h"
#include "core/curve/msm_windows.h"
#include "core/curve/point.h"

namespace proofline {

// Immutable after construction. F's group must have order r at `base`.
template <class Fr, class F>
class FixedBaseTable {
  using Folding = ScalarFolding<typename Fr::Modulus>;

 public:
  using Field = F;

  // Throws std::bad_alloc.
  explicit FixedBaseTable(const Affine<F>& base) : cut_(Cut()) {
    Affine<F> window_base = base;
    BatchAdder<F> adder;
    for (const MsmWindow& window : cut_.windows()) {
      offsets_.push_back(multiples_.size());
      AppendMultiples(adder, window_base, window.bucket_count);
      Xyzz<F> next = Xyzz<F>::FromAffine(window_base);
      for (int i = 0; i < window.bits; ++i) next = next.Double();
      window_base = next.ToAffine();
    }
  }

  // out[i] = [scalars[i]] base; scalars in Montgomery form, spans of equal length. Parallel in the caller's arena. Throws std::bad_alloc.
  void Multiply(std::span<const Fr> scalars, std::span<Affine<F>> out) const {
    tbb::parallel_for(tbb::blocked_range<size_t>(0, scalars.size(), kBlock), [&](const tbb::blocked_range<size_t>& range) {
      Workspace ws(std::min(range.size(), kBlock));
      for (size_t first = range.begin(); first < range.end(); first += kBlock) {
        const size_t count = std::min(kBlock, range.end() - first);
        MultiplyBlock(ws, scalars.subspan(first, count), out.subspan(first, count));
      }
    });
  }

 private:
  static constexpr int kWindowBits = 10;
  // Scalars that share inversions.
  static constexpr size_t kBlock = BatchAdder<F>::kBatch;

  struct Workspace {
    explicit Workspace(size_t count) : scalars(count), folded(count), digits(count) {}
    BatchAdder<F> adder;
    std::vector<ScalarLimbs> scalars;
    std::vector<uint8_t> folded;  // bool
    std::vector<uint32_t> digits;
  };

  // An accumulator and the table's point for its scalar's digit.
  struct Source {
    const Affine<F>* sums;
    const Affine<F>* multiples;
    const uint32_t* digits;
    void SubXs(size_t k, F& dx) const { F::Sub(dx, Multiple(k).x, sums[k].x); }
    bool HasZeroX(size_t k) const { return sums[k].x.IsZero() | Multiple(k).x.IsZero(); }
    AffinePair<F> Points(size_t k) const {
      AffinePair<F> pair{sums[k], Multiple(k)};
      batch_affine_detail::NegateIf(pair.q.y, digits[k] >> 31);
      return pair;
    }
    const Affine<F>& Multiple(size_t k) const { return multiples[digits[k] & 0x7fffffffu]; }
  };

  static MsmWindows Cut() {
    BitLengthCounts counts{};
    counts[BitLength(Folding::kHalf)] = 1;
    return MsmWindows::Uniform(counts, Fr::Modulus::kValue, kWindowBits);
  }

  // Infinity, p, 2p, ..., [count] p: each pass doubles what is there.
  void AppendMultiples(BatchAdder<F>& adder, const Affine<F>& p, size_t count) {
    const size_t first = multiples_.size();
    multiples_.resize(first + count + 1, Affine<F>::Infinity());
    Affine<F>* multiple = multiples_.data() + first;
    multiple[1] = p;
    for (size_t known = 1; known < count; known *= 2) {
      const size_t more = std::min(known, count - known);
      std::vector<Affine<F>> highest(more, multiple[known]);
      BatchAdd(adder, highest.data(), multiple + 1, multiple + known + 1, more);
    }
  }

  void MultiplyBlock(Workspace& ws, std::span<const Fr> scalars, std::span<Affine<F>> out) const {
    for (size_t i = 0; i < scalars.size(); ++i) {
      const Fr canonical = scalars[i].ToCanon();
      ws.scalars[i] = LoadLe<ScalarLimbs>(canonical.limbs);
      ws.folded[i] = Folding::Fold(ws.scalars[i]).negative;
    }
    std::fill(out.begin(), out.end(), Affine<F>::Infinity());
    for (size_t w = 0; w < offsets_.size(); ++w) {
      for (size_t i = 0; i < scalars.size(); ++i)
        ws.digits[i] = cut_.Digit(ws.scalars[i], ws.folded[i], cut_.windows()[w]);
      const Source source{out.data(), multiples_.data() + offsets_[w], ws.digits.data()};
      ws.adder.Run(scalars.size(), source, [&](size_t k) -> Affine<F>& { return out[k]; });
    }
  }

  MsmWindows cut_;
  std::vector<size_t> offsets_;       // where each window's multiples begin
  std::vector<Affine<F>> multiples_;  // per window: infinity, 1, 2, ... times 2^start base
};

// One call for one use.
template <class Fr, class F>
std::vector<Affine<F>> FixedBaseMul(const Affine<F>& base, std::span<const Fr> scalars) {
  std::vector<Affine<F>> out(scalars.size());
  FixedBaseTable<Fr, F>(base).Multiply(scalars, out);
  return out;
}

}  // namespace proofline
