// Kernels of the transform. Block level: one thread block transforms one tile of 2048 elements, columns (or contiguous blocks) of 2^levels
// rows; a thread holds 8 elements and does up to 3 levels in registers between two exchanges through shared memory. Two blocks share a
// multiprocessor, so that one computes while the other reads or writes, and the steps at a tile's coalesced ends go to memory directly.
//
// A level splits every block of 2h elements, polynomials modulo x^(2h) - c^2, into polynomials modulo x^h - c and x^h + c. Block b of any
// level has c = roots[b], the roots in bit-reversed order, so one twiddle serves a whole block and block 0 needs no multiplication.
// Down (values to coefficients, inverse roots): (lo, hi) -> (lo + hi/c', ...); up is its mirror image.
//
// 1/roots[b] is -roots[b'], b' = b with all bits below its highest flipped: omega^-e = -omega^(N/2 - e), and negating e reads, from the
// top bit down, as flipping everything after the first one.
#pragma once

#include "cuda/arith/field.cuh"

namespace proofline::cuda {

inline constexpr int kNttThreads = 256;
inline constexpr int kNttElementsPerThread = 8;
inline constexpr int kNttTile = kNttThreads * kNttElementsPerThread;
inline constexpr int kLog2NttTile = 11;
static_assert(kNttTile == 1 << kLog2NttTile);

// What a kernel needs to know of its place in the whole transform.
struct NttPass {
  int log2_n;
  int first_level;  // levels above this pass: the transform has 2^first_level top blocks here
  int levels;       // of this pass
};

PL_HD uint32_t NegatedInverseIndex(uint32_t b) {
#ifdef __CUDA_ARCH__
  return b == 0 ? 0 : b ^ ((1u << (31 - __clz(b))) - 1);
#else
  return b == 0 ? 0 : b ^ ((1u << (31 - __builtin_clz(b))) - 1);
#endif
}

#ifdef __CUDACC__

// Shared memory as one plane per word, so that neighbouring threads touch neighbouring banks; the gap after every 8 elements keeps the
// strided exchanges free of conflicts.
template <class Fr>
struct NttShared {
  static constexpr int kPlane = kNttTile + kNttTile / 8;
  static constexpr size_t kBytes = size_t{kPlane} * Fr::kWords * 4;
  uint32_t* words;
  __device__ static int At(int i) { return i + (i >> 3); }
  __device__ void Put(int i, const Fr& x) const {
#pragma unroll
    for (int w = 0; w < Fr::kWords; ++w) words[w * kPlane + At(i)] = x.w[w];
  }
  __device__ Fr Get(int i) const {
    Fr x;
#pragma unroll
    for (int w = 0; w < Fr::kWords; ++w) x.w[w] = words[w * kPlane + At(i)];
    return x;
  }
};

template <class Fr>
__device__ Fr LoadElement(const Fr* p) {
  Fr x;
  const uint4* q = reinterpret_cast<const uint4*>(p);
#pragma unroll
  for (int i = 0; i < Fr::kWords / 4; ++i) {
    const uint4 v = q[i];
    x.w[4 * i] = v.x, x.w[4 * i + 1] = v.y, x.w[4 * i + 2] = v.z, x.w[4 * i + 3] = v.w;
  }
  return x;
}
template <class Fr>
__device__ Fr LoadConstant(const Fr* p) {
  Fr x;
  const uint4* q = reinterpret_cast<const uint4*>(p);
#pragma unroll
  for (int i = 0; i < Fr::kWords / 4; ++i) {
    const uint4 v = __ldg(q + i);
    x.w[4 * i] = v.x, x.w[4 * i + 1] = v.y, x.w[4 * i + 2] = v.z, x.w[4 * i + 3] = v.w;
  }
  return x;
}
template <class Fr>
__device__ void StoreElement(Fr* p, const Fr& x) {
  uint4* q = reinterpret_cast<uint4*>(p);
#pragma unroll
  for (int i = 0; i < Fr::kWords / 4; ++i) q[i] = make_uint4(x.w[4 * i], x.w[4 * i + 1], x.w[4 * i + 2], x.w[4 * i + 3]);
}

// (lo, hi) -> (lo + hi / c, lo - hi / c), c of block b.
template <class Fr>
__device__ void ButterflyDown(Fr& lo, Fr& hi, uint32_t b, const Fr* roots) {
  Fr t = hi;
  if (b != 0) {
    t = hi * LoadConstant(roots + NegatedInverseIndex(b));  // -hi / c
    hi = lo + t;
    lo = lo - t;
  } else {
    hi = lo - t;
    lo = lo + t;
  }
}
// (lo, hi) -> (lo + hi, (lo - hi) c).
template <class Fr>
__device__ void ButterflyUp(Fr& lo, Fr& hi, uint32_t b, const Fr* roots) {
  const Fr d = lo - hi;
  lo = lo + hi;
  hi = b != 0 ? d * LoadConstant(roots + b) : d;
}

// kRadix levels (1 to 3) on 2^kRadix registers; `b` is the block index of the first of them, 0 with kTop and only then. So whether a butterfly
// multiplies is known to the compiler: a branch around each of them would keep the loads of roots from running ahead.
template <bool kDown, int kRadix, bool kTop, class Fr>
__device__ void Butterflies(Fr* x, uint32_t b, const Fr* roots) {
#pragma unroll
  for (int step = 0; step < kRadix; ++step) {
    const int level = kDown ? step : kRadix - 1 - step;
    const int half = 1 << (kRadix - 1 - level);
#pragma unroll
    for (int block = 0; block < (1 << level); ++block) {
      const bool plain = kTop && block == 0;
      const uint32_t index = ((kTop ? 0 : b) << level) + block;
      Fr root;
      if (!plain) root = LoadConstant(roots + (kDown ? NegatedInverseIndex(index) : index));
#pragma unroll
      for (int i = 0; i < half; ++i) {
        Fr& lo = x[block * 2 * half + i];
        Fr& hi = x[block * 2 * half + i + half];
        if constexpr (kDown) {
          const Fr t = plain ? hi : hi * root;  // hi, or -hi / c
          const Fr sum = lo + t;
          const Fr difference = lo - t;
          lo = plain ? sum : difference;
          hi = plain ? difference : sum;
        } else {
          const Fr d = lo - hi;
          lo = lo + hi;
          hi = plain ? d : d * root;
        }
      }
    }
  }
}

// The geometry of a tile: 2^levels rows by 2^(kLog2NttTile - levels) columns. In a column pass the columns are neighbours in memory (element
// = row * columns + column), in a block pass the rows are (element = column * rows + row); either way element order is memory order.
struct NttTile {
  int levels;
  bool contiguous;
  int log2_row_stride;  // in memory

  __device__ int log2_columns() const { return kLog2NttTile - levels; }
  __device__ int Element(int row, int column) const {
    return contiguous ? (column << levels) | row : (row << log2_columns()) | column;
  }
  __device__ size_t Offset(int row, int column) const {
    return (size_t(row) << log2_row_stride) + (contiguous ? column << levels : column);
  }
};

// Where a step takes its elements from and leaves them: shared memory, or device memory directly.
enum class NttEnd : uint8_t { kShared, kMemory };

// `kRadix` levels of a tile, from level `done` of the tile on. A thread takes 2^(3 - kRadix) groups of 2^kRadix rows. Neighbouring threads
// take neighbouring elements.
template <bool kDown, int kRadix, class Fr>
__device__ void RunStep(const NttTile tile, int done, uint32_t top_block, const Fr* roots, NttShared<Fr> shared, Fr* memory, NttEnd from,
                        NttEnd to) {
  const int log2_stride = tile.levels - done - kRadix;
  const int log2_groups = tile.levels - kRadix;  // of a column
#pragma unroll 1
  for (int g = threadIdx.x; g < (kNttTile >> kRadix); g += kNttThreads) {
    const int column = tile.contiguous ? g >> log2_groups : g & ((1 << tile.log2_columns()) - 1);
    const int within = tile.contiguous ? g & ((1 << log2_groups) - 1) : g >> tile.log2_columns();
    const int row = ((within >> log2_stride) << (log2_stride + kRadix)) | (within & ((1 << log2_stride) - 1));
    Fr x[1 << kRadix];
    if (from == NttEnd::kMemory) {
#pragma unroll
      for (int k = 0; k < (1 << kRadix); ++k) x[k] = LoadElement(memory + tile.Offset(row + (k << log2_stride), column));
    } else {
#pragma unroll
      for (int k = 0; k < (1 << kRadix); ++k) x[k] = shared.Get(tile.Element(row + (k << log2_stride), column));
    }
    // The block of this step's first level, counted over the whole transform.
    const uint32_t block = ((top_block + (tile.contiguous ? column : 0)) << done) + (row >> (tile.levels - done));
    if (block == 0)
      Butterflies<kDown, kRadix, true>(x, block, roots);
    else
      Butterflies<kDown, kRadix, false>(x, block, roots);
    if (to == NttEnd::kMemory) {
#pragma unroll
      for (int k = 0; k < (1 << kRadix); ++k) StoreElement(memory + tile.Offset(row + (k << log2_stride), column), x[k]);
    } else {
#pragma unroll
      for (int k = 0; k < (1 << kRadix); ++k) shared.Put(tile.Element(row + (k << log2_stride), column), x[k]);
    }
  }
  __syncthreads();
}

// All levels of a tile: threes from the widest on, the remainder at the narrowest. `wide` and `narrow`: where the elements are at the widest and
// at the narrowest step, the first and the last on the way down.
template <bool kDown, class Fr>
__device__ void RunTile(const NttTile tile, uint32_t top_block, const Fr* roots, NttShared<Fr> shared, Fr* memory, NttEnd wide, NttEnd narrow) {
  const int rest = tile.levels % 3;
  const int threes = tile.levels - rest;
  const NttEnd narrow_three = rest == 0 ? narrow : NttEnd::kShared;
  if constexpr (kDown) {
#pragma unroll 1
    for (int done = 0; done < threes; done += 3)
      RunStep<true, 3>(tile, done, top_block, roots, shared, memory, done == 0 ? wide : NttEnd::kShared, done + 3 == threes ? narrow_three : NttEnd::kShared);
  }
  const NttEnd from = kDown ? NttEnd::kShared : narrow, to = kDown ? narrow : NttEnd::kShared;
  if (rest == 2) RunStep<kDown, 2>(tile, threes, top_block, roots, shared, memory, from, to);
  if (rest == 1) RunStep<kDown, 1>(tile, threes, top_block, roots, shared, memory, from, to);
  if constexpr (!kDown) {
#pragma unroll 1
    for (int done = threes - 3; done >= 0; done -= 3)
      RunStep<false, 3>(tile, done, top_block, roots, shared, memory, done + 3 == threes ? narrow_three : NttEnd::kShared, done == 0 ? wide : NttEnd::kShared);
  }
}

// A pass whose rows are 2^(log2_n - first_level - levels) elements apart, at least a tile's columns. At least 4 levels: a tile's first and last
// step are two.
template <bool kDown, class Fr>
__global__ void __launch_bounds__(kNttThreads, 2) NttColumnsKernel(Fr* data, const Fr* roots, NttPass pass) {
  extern __shared__ uint32_t shared_words[];
  const NttShared<Fr> shared{shared_words};
  const int log2_stride = pass.log2_n - pass.first_level - pass.levels;
  const NttTile tile{pass.levels, false, log2_stride};
  const size_t column0 = size_t{blockIdx.x} << tile.log2_columns();  // counted over all top blocks
  const uint32_t top_block = static_cast<uint32_t>(column0 >> log2_stride);
  Fr* base = data + (size_t{top_block} << (log2_stride + pass.levels)) + (column0 & ((size_t{1} << log2_stride) - 1));
  RunTile<kDown>(tile, top_block, roots, shared, base, NttEnd::kMemory, NttEnd::kMemory);
}

// The narrowest pass: a tile is whole blocks, one after the other in memory. kBoth is the middle of the chain: down, times
// eta^rev(i) / N, up again. At the narrowest step a thread's elements are neighbours, so there the tile goes through shared memory.
enum class NttMiddle { kDown, kUp, kBoth };
template <NttMiddle kWhat, class Fr>
__global__ void __launch_bounds__(kNttThreads, 2) NttBlocksKernel(Fr* data, const Fr* roots, NttPass pass, Fr n_inverse) {
  extern __shared__ uint32_t shared_words[];
  const NttShared<Fr> shared{shared_words};
  const NttTile tile{pass.levels, true, 0};
  const uint32_t top_block = blockIdx.x << tile.log2_columns();
  const size_t base = size_t{blockIdx.x} * kNttTile;
  if constexpr (kWhat == NttMiddle::kUp) {
#pragma unroll
    for (int e = threadIdx.x; e < kNttTile; e += kNttThreads) shared.Put(e, LoadElement(data + base + e));
    __syncthreads();
  } else {
    RunTile<true>(tile, top_block, roots, shared, data + base, NttEnd::kMemory, NttEnd::kShared);
  }
  if constexpr (kWhat == NttMiddle::kBoth) {
#pragma unroll 1
    for (int e = threadIdx.x; e < kNttTile; e += kNttThreads)
      shared.Put(e, shared.Get(e) * (LoadConstant(roots + base + e) * n_inverse));
    __syncthreads();
  }
  if constexpr (kWhat == NttMiddle::kDown) {
#pragma unroll
    for (int e = threadIdx.x; e < kNttTile; e += kNttThreads) StoreElement(data + base + e, shared.Get(e));
  } else {
    RunTile<false>(tile, top_block, roots, shared, data + base, NttEnd::kMemory, NttEnd::kShared);
  }
}

// Any one level, for transforms too small for a tile.
template <bool kDown, class Fr>
__global__ void NttLevelKernel(Fr* data, const Fr* roots, int log2_n, int level) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (1u << (log2_n - 1))) return;
  const int log2_half = log2_n - 1 - level;
  const uint32_t block = i >> log2_half;
  const uint32_t lo = (block << (log2_half + 1)) | (i & ((1u << log2_half) - 1));
  Fr a = LoadElement(data + lo);
  Fr b = LoadElement(data + lo + (1u << log2_half));
  if constexpr (kDown)
    ButterflyDown(a, b, block, roots);
  else
    ButterflyUp(a, b, block, roots);
  StoreElement(data + lo, a);
  StoreElement(data + lo + (1u << log2_half), b);
}

template <class Fr>
__global__ void NttShiftKernel(Fr* data, const Fr* roots, Fr n_inverse, uint32_t n) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) StoreElement(data + i, LoadElement(data + i) * (LoadConstant(roots + i) * n_inverse));
}

// roots[i] = omega_2N^rev(i) from powers[k] = omega_2N^(2^k): bit log2_n - 1 - k of i is bit k of rev(i).
template <class Fr>
struct NttPowers {
  Fr at[32];
};
template <class Fr>
__global__ void NttRootsKernel(Fr* roots, NttPowers<Fr> powers, int log2_n) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >> log2_n) return;
  Fr x = Fr::One();
  for (int k = 0; k < log2_n; ++k)
    if ((i >> (log2_n - 1 - k)) & 1) x = x * powers.at[k];
  StoreElement(roots + i, x);
}

#endif  // __CUDACC__

}  // namespace proofline::cuda
