#include "cuda/ntt/ntt.h"

#include <bit>
#include <vector>

#include "core/field/fp.h"
#include "core/poly/domain.h"
#include "cuda/device/check.h"
#include "cuda/ntt/ntt_kernels.cuh"

namespace proofline::cuda {
namespace {

constexpr int kMaxLevels = 9;
// Smaller ones go level by level.
constexpr int kLog2Smallest = 12;

// Levels of each pass, widest first, as even as can be. From 2^12 on every pass has 6 to 9 levels, so a column pass always finds at
// least a tile's columns side by side.
std::vector<int> PassLevels(int log2_n) {
  const int passes = (log2_n + kMaxLevels - 1) / kMaxLevels;
  std::vector<int> levels(passes, log2_n / passes);
  for (int i = 0; i < log2_n % passes; ++i) ++levels[i];
  return levels;
}

template <class M>
Field<M> OnDevice(const Fp<M>& x) {
  return std::bit_cast<Field<M>>(x);
}

template <class M>
Field<M> InverseOfSize(int log2_n) {
  return OnDevice<M>(Fp<M>::FromU64(uint64_t{1} << log2_n).Inverse());
}

template <class Kernel, class... Args>
Status LaunchTiles(Kernel* kernel, size_t shared_bytes, int log2_n, StreamHandle stream, Args... args) {
  PL_CUDA_RETURN_IF_ERROR(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
  kernel<<<1u << (log2_n - kLog2NttTile), kNttThreads, shared_bytes, stream>>>(args...);
  PL_CUDA_CHECK_LAUNCH();
  return OkStatus();
}

template <bool kDown, class M>
Status LaunchColumns(Field<M>* data, const Field<M>* roots, NttPass pass, StreamHandle stream) {
  return LaunchTiles(NttColumnsKernel<kDown, Field<M>>, NttShared<Field<M>>::kBytes, pass.log2_n, stream, data, roots, pass);
}

template <NttMiddle kWhat, class M>
Status LaunchBlocks(Field<M>* data, const Field<M>* roots, int log2_n, int levels, StreamHandle stream) {
  return LaunchTiles(NttBlocksKernel<kWhat, Field<M>>, NttShared<Field<M>>::kBytes, log2_n, stream, data, roots,
                     NttPass{log2_n, log2_n - levels, levels}, InverseOfSize<M>(log2_n));
}

template <bool kDown, class M>
Status OuterPasses(Field<M>* data, const Field<M>* roots, int log2_n, const std::vector<int>& levels, StreamHandle stream) {
  const int outer = static_cast<int>(levels.size()) - 1;
  int first = kDown ? 0 : log2_n - levels.back();
  for (int i = 0; i < outer; ++i) {
    const int pass = kDown ? i : outer - 1 - i;
    if (!kDown) first -= levels[pass];
    PL_RETURN_IF_ERROR(LaunchColumns<kDown>(data, roots, NttPass{log2_n, first, levels[pass]}, stream));
    if (kDown) first += levels[pass];
  }
  return OkStatus();
}

template <bool kDown, class M>
Status SmallLevels(Field<M>* data, const Field<M>* roots, int log2_n, StreamHandle stream) {
  const unsigned threads = 256;
  const unsigned blocks = ((1u << (log2_n - 1)) + threads - 1) / threads;
  for (int i = 0; i < log2_n; ++i) {
    NttLevelKernel<kDown><<<blocks, threads, 0, stream>>>(data, roots, log2_n, kDown ? i : log2_n - 1 - i);
    PL_CUDA_CHECK_LAUNCH();
  }
  return OkStatus();
}

template <class M>
Status CheckSize(int log2_n) {
  if (log2_n >= 1 && log2_n < M::kTwoAdicity) return OkStatus();
  return Status(ErrorCode::kInvalidArgument, "transform of 2^" + std::to_string(log2_n) + " elements; 2^1 to 2^" +
                                                 std::to_string(M::kTwoAdicity - 1) + " are possible over this field");
}

}  // namespace

template <class M>
Status NttBuildTable(void* table, int log2_n, StreamHandle stream) {
  PL_RETURN_IF_ERROR(CheckSize<M>(log2_n));
  NttPowers<Field<M>> powers{};
  Fp<M> power = RootOfUnity<Fp<M>>(log2_n + 1);
  for (int k = 0; k < log2_n; ++k, power = power.Square()) powers.at[k] = OnDevice<M>(power);
  const unsigned threads = 256;
  NttRootsKernel<<<((1u << log2_n) + threads - 1) / threads, threads, 0, stream>>>(static_cast<Field<M>*>(table), powers,
                                                                                   log2_n);
  PL_CUDA_CHECK_LAUNCH();
  return OkStatus();
}

template <class M>
Status NttInverseToBitReversed(void* data, const void* table, int log2_n, StreamHandle stream) {
  PL_RETURN_IF_ERROR(CheckSize<M>(log2_n));
  auto* x = static_cast<Field<M>*>(data);
  const auto* roots = static_cast<const Field<M>*>(table);
  if (log2_n < kLog2Smallest) return SmallLevels<true>(x, roots, log2_n, stream);
  const std::vector<int> levels = PassLevels(log2_n);
  PL_RETURN_IF_ERROR(OuterPasses<true>(x, roots, log2_n, levels, stream));
  return LaunchBlocks<NttMiddle::kDown>(x, roots, log2_n, levels.back(), stream);
}

template <class M>
Status NttForwardFromBitReversed(void* data, const void* table, int log2_n, StreamHandle stream) {
  PL_RETURN_IF_ERROR(CheckSize<M>(log2_n));
  auto* x = static_cast<Field<M>*>(data);
  const auto* roots = static_cast<const Field<M>*>(table);
  if (log2_n < kLog2Smallest) return SmallLevels<false>(x, roots, log2_n, stream);
  const std::vector<int> levels = PassLevels(log2_n);
  PL_RETURN_IF_ERROR(LaunchBlocks<NttMiddle::kUp>(x, roots, log2_n, levels.back(), stream));
  return OuterPasses<false>(x, roots, log2_n, levels, stream);
}

template <class M>
Status NttExtendToOddCoset(void* data, const void* table, int log2_n, StreamHandle stream) {
  PL_RETURN_IF_ERROR(CheckSize<M>(log2_n));
  auto* x = static_cast<Field<M>*>(data);
  const auto* roots = static_cast<const Field<M>*>(table);
  if (log2_n < kLog2Smallest) {
    PL_RETURN_IF_ERROR(SmallLevels<true>(x, roots, log2_n, stream));
    const unsigned n = 1u << log2_n;
    NttShiftKernel<<<(n + 255) / 256, 256, 0, stream>>>(x, roots, InverseOfSize<M>(log2_n), n);
    PL_CUDA_CHECK_LAUNCH();
    return SmallLevels<false>(x, roots, log2_n, stream);
  }
  const std::vector<int> levels = PassLevels(log2_n);
  PL_RETURN_IF_ERROR(OuterPasses<true>(x, roots, log2_n, levels, stream));
  PL_RETURN_IF_ERROR(LaunchBlocks<NttMiddle::kBoth>(x, roots, log2_n, levels.back(), stream));
  return OuterPasses<false>(x, roots, log2_n, levels, stream);
}

#define PL_INSTANTIATE_NTT(M)                                                            \
  template Status NttBuildTable<M>(void*, int, StreamHandle);                            \
  template Status NttInverseToBitReversed<M>(void*, const void*, int, StreamHandle);     \
  template Status NttForwardFromBitReversed<M>(void*, const void*, int, StreamHandle);   \
  template Status NttExtendToOddCoset<M>(void*, const void*, int, StreamHandle);
PL_INSTANTIATE_NTT(Bn254FrModulus)
PL_INSTANTIATE_NTT(Bls12381FrModulus)
#undef PL_INSTANTIATE_NTT

}  // namespace proofline::cuda
