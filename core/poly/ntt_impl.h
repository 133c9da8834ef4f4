// Definitions of NttPlan. Included only by the files that instantiate it (ntt_<curve>.cc).
#pragma once

#include <algorithm>
#include <bit>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/poly/ntt.h"

namespace proofline {

namespace ntt_detail {

// 2^12 elements are 128 KiB: inside the second-level cache of every server core of the last ten years.
constexpr int kMaxLog2Inner = 12;
// An outer pass keeps 2^levels rows of kTileColumns elements in the cache: 256 * 16 * 32 B = 128 KiB.
constexpr int kMaxOuterLevels = 8;
constexpr size_t kTileColumns = 16;
// Below this the whole transform takes less than a millisecond and is not split.
constexpr int kSequentialLog2 = 9;

template <class Fr>
inline void SplitOne(Fr* x, Fr* y, size_t count) {
  for (size_t j = 0; j < count; ++j) {
    const Fr v = y[j];
    Fr::Sub(y[j], x[j], v);
    x[j] += v;
  }
}

// (x, y) -> (x + w y, x - w y) elementwise, where w = -negated; w = 1 needs no negation and no product.
template <class Fr>
inline void Split(Fr* x, Fr* y, size_t count, const Fr& negated, bool w_is_one) {
  if (w_is_one) return SplitOne(x, y, count);
  for (size_t j = 0; j < count; ++j) {
    const Fr v = y[j] * negated;
    Fr::Add(y[j], x[j], v);
    x[j] -= v;
  }
}

// (x, y) -> (x + y, (x - y) w): undoes a split by w, times 2.
template <class Fr>
inline void Join(Fr* x, Fr* y, size_t count, const Fr& w, bool w_is_one) {
  if (w_is_one) return SplitOne(x, y, count);
  for (size_t j = 0; j < count; ++j) {
    const Fr difference = x[j] - y[j];
    x[j] += y[j];
    Fr::Mul(y[j], difference, w);
  }
}

}  // namespace ntt_detail

template <class Fr>
NttPlan<Fr>::NttPlan(int log2_n, uint64_t non_residue) : log2_n_(log2_n) {
  using namespace ntt_detail;
  log2_inner_ = log2_n <= kSequentialLog2 ? log2_n : std::min(kMaxLog2Inner, std::max(log2_n - kMaxOuterLevels, log2_n / 2));
  int outer = log2_n - log2_inner_;
  int groups = (outer + kMaxOuterLevels - 1) / kMaxOuterLevels;
  for (int log2_block = log2_n; groups > 0; --groups) {
    int levels = (outer + groups - 1) / groups;
    passes_.push_back({log2_block, levels});
    log2_block -= levels;
    outer -= levels;
  }

  // roots_[2^l + j] = roots_[j] * omega_(l+2): bit l of the index is the next finer halving of the angle.
  roots_.resize(log2_n == 0 ? 1 : size_t{1} << (log2_n - 1));
  roots_[0] = Fr::One();
  Fr omega = RootOfUnity<Fr>(log2_n, non_residue);
  for (int l = 0; l + 1 < log2_n; ++l) {
    Fr step = omega;
    for (int k = log2_n; k > l + 2; --k) step = step.Square();
    size_t half = size_t{1} << l;
    tbb::parallel_for(tbb::blocked_range<size_t>(0, half, 1024), [&](const tbb::blocked_range<size_t>& range) {
      for (size_t j = range.begin(); j < range.end(); ++j) roots_[half + j] = roots_[j] * step;
    });
  }

  shift_base_ = OddCosetShift<Fr>(log2_n, non_residue);
  shifts_.resize(size_t{1} << log2_inner_);
  shifts_[0] = Fr::One();
  for (int l = 0; l < log2_inner_; ++l) {
    Fr step = PowU64(shift_base_, uint64_t{1} << (log2_n - 1 - l));
    for (size_t j = 0; j < (size_t{1} << l); ++j) shifts_[(size_t{1} << l) + j] = shifts_[j] * step;
  }
  n_inverse_ = Fr::FromU64(uint64_t{1} << log2_n).Inverse();
}

template <class Fr>
const Fr& NttPlan<Fr>::NegatedInverse(size_t index) const {
  // Twiddles with the same highest index bit 2^l have odd angles over 2^(l+2) of a turn; the mirror image of an angle in a half
  // turn complements the l lower bits.
  if (index == 0) return roots_[0];  // not used: the twiddle is 1
  size_t top = std::bit_floor(index);
  return roots_[3 * top - 1 - index];
}

template <class Fr>
template <bool kInverse>
void NttPlan<Fr>::RunTile(const OuterPass& pass, size_t block, Fr* column) const {
  using namespace ntt_detail;
  const size_t stride = size_t{1} << (pass.log2_block - pass.levels);
  for (int step = 0; step < pass.levels; ++step) {
    const int level = kInverse ? step : pass.levels - 1 - step;
    const size_t half = stride << (pass.levels - 1 - level);
    for (size_t j = 0; j < (size_t{1} << level); ++j) {
      const size_t index = (block << level) + j;
      Fr* x = column + 2 * j * half;
      for (size_t row = 0; row < half; row += stride) {
        if constexpr (kInverse) {
          Split(x + row, x + row + half, kTileColumns, NegatedInverse(index), index == 0);
        } else {
          Join(x + row, x + row + half, kTileColumns, Twiddle(index), index == 0);
        }
      }
    }
  }
}

template <class Fr>
template <bool kInverse>
void NttPlan<Fr>::RunOuter(const OuterPass& pass, Fr* data) const {
  const size_t stride = size_t{1} << (pass.log2_block - pass.levels);
  const size_t tiles_per_block = stride / ntt_detail::kTileColumns;
  const size_t tiles = tiles_per_block << (log2_n_ - pass.log2_block);
  tbb::parallel_for(tbb::blocked_range<size_t>(0, tiles), [&](const tbb::blocked_range<size_t>& range) {
    for (size_t t = range.begin(); t < range.end(); ++t) {
      size_t block = t / tiles_per_block;
      Fr* column = data + (block << pass.log2_block) + (t % tiles_per_block) * ntt_detail::kTileColumns;
      RunTile<kInverse>(pass, block, column);
    }
  });
}

template <class Fr>
void NttPlan<Fr>::InverseBlock(Fr* block, size_t index) const {
  using namespace ntt_detail;
  for (int level = 0; level < log2_inner_; ++level) {
    const size_t half = size_t{1} << (log2_inner_ - 1 - level);
    for (size_t j = 0; j < (size_t{1} << level); ++j) {
      const size_t i = (index << level) + j;
      Fr* x = block + 2 * j * half;
      Split(x, x + half, half, NegatedInverse(i), i == 0);
    }
  }
}

template <class Fr>
void NttPlan<Fr>::ForwardBlock(Fr* block, size_t index) const {
  for (int level = log2_inner_ - 1; level >= 0; --level) {
    const size_t half = size_t{1} << (log2_inner_ - 1 - level);
    for (size_t j = 0; j < (size_t{1} << level); ++j) {
      const size_t i = (index << level) + j;
      Fr* x = block + 2 * j * half;
      ntt_detail::Join(x, x + half, half, Twiddle(i), i == 0);
    }
  }
}

template <class Fr>
void NttPlan<Fr>::ShiftBlock(Fr* block, size_t index) const {
  // rev(index * 2^inner + lo) = rev(lo) + rev(index) over the respective bits: the block's part is one factor.
  Fr base = n_inverse_ * PowU64(shift_base_, ReverseBits(index, log2_n_ - log2_inner_));
  for (size_t j = 0; j < shifts_.size(); ++j) block[j] *= shifts_[j] * base;
}

template <class Fr>
void NttPlan<Fr>::InverseToBitReversed(std::span<Fr> data) const {
  for (const OuterPass& pass : passes_) RunOuter<true>(pass, data.data());
  tbb::parallel_for(size_t{0}, n() >> log2_inner_,
                    [&](size_t b) { InverseBlock(data.data() + (b << log2_inner_), b); });
}

template <class Fr>
void NttPlan<Fr>::ForwardFromBitReversed(std::span<Fr> data) const {
  tbb::parallel_for(size_t{0}, n() >> log2_inner_,
                    [&](size_t b) { ForwardBlock(data.data() + (b << log2_inner_), b); });
  for (size_t p = passes_.size(); p-- > 0;) RunOuter<false>(passes_[p], data.data());
}

template <class Fr>
void NttPlan<Fr>::ExtendToOddCoset(std::span<Fr> data) const {
  for (const OuterPass& pass : passes_) RunOuter<true>(pass, data.data());
  tbb::parallel_for(size_t{0}, n() >> log2_inner_, [&](size_t b) {
    Fr* block = data.data() + (b << log2_inner_);
    InverseBlock(block, b);
    ShiftBlock(block, b);
    ForwardBlock(block, b);
  });
  for (size_t p = passes_.size(); p-- > 0;) RunOuter<false>(passes_[p], data.data());
}

}  // namespace proofline
