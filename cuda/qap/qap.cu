#include "cuda/qap/qap.h"

#include "cuda/arith/field.cuh"
#include "cuda/device/check.h"
#include "cuda/ntt/ntt.h"

namespace proofline::cuda {
namespace {

constexpr unsigned kThreads = 256;

unsigned BlocksFor(uint32_t n) { return (n + kThreads - 1) / kThreads; }

template <class F>
__global__ void QapMultiplyKernel(const F* a, const F* b, F* c, uint32_t n) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) c[i] = a[i] * b[i];
}

template <class F>
__global__ void QapQuotientKernel(F* a, const F* b, const F* c, uint32_t n) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) a[i] = (a[i] * b[i] - c[i]).ToCanon();
}

}  // namespace

template <class M>
Status QapMultiply(const void* a, const void* b, void* c, uint32_t n, StreamHandle stream) {
  using F = Field<M>;
  QapMultiplyKernel<<<BlocksFor(n), kThreads, 0, stream>>>(static_cast<const F*>(a), static_cast<const F*>(b), static_cast<F*>(c), n);
  PL_CUDA_CHECK_LAUNCH();
  return OkStatus();
}

template <class M>
Status QapQuotient(void* a, const void* b, const void* c, uint32_t n, StreamHandle stream) {
  using F = Field<M>;
  QapQuotientKernel<<<BlocksFor(n), kThreads, 0, stream>>>(static_cast<F*>(a), static_cast<const F*>(b), static_cast<const F*>(c), n);
  PL_CUDA_CHECK_LAUNCH();
  return OkStatus();
}

template <class M>
Status QapScalarsOfH(void* a, void* b, void* c, const void* roots, int log2_n, StreamHandle stream) {
  const uint32_t n = uint32_t{1} << log2_n;
  PL_RETURN_IF_ERROR(QapMultiply<M>(a, b, c, n, stream));
  if (log2_n > 0)  // a constant has its value everywhere
    for (void* values : {a, b, c}) PL_RETURN_IF_ERROR(NttExtendToOddCoset<M>(values, roots, log2_n, stream));
  return QapQuotient<M>(a, b, c, n, stream);
}

template Status QapMultiply<Bn254FrModulus>(const void*, const void*, void*, uint32_t, StreamHandle);
template Status QapMultiply<Bls12381FrModulus>(const void*, const void*, void*, uint32_t, StreamHandle);
template Status QapQuotient<Bn254FrModulus>(void*, const void*, const void*, uint32_t, StreamHandle);
template Status QapQuotient<Bls12381FrModulus>(void*, const void*, const void*, uint32_t, StreamHandle);
template Status QapScalarsOfH<Bn254FrModulus>(void*, void*, void*, const void*, int, StreamHandle);
template Status QapScalarsOfH<Bls12381FrModulus>(void*, void*, void*, const void*, int, StreamHandle);

}  // namespace proofline::cuda
