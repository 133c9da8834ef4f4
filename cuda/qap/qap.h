// The pointwise parts of Groth16's quotient (core/groth16/prove_cpu.cc is the twin): the products on the domain, and a*b - c on the odd
// coset in the canonical form that the scalars of H have.
//
// Device level: each call queues its kernels on `stream`, allocates nothing, waits for nothing. Pointers are device pointers aligned to 16
// bytes; vectors are n values of 32 bytes, < r, Montgomery unless said otherwise. M is Bn254FrModulus or Bls12381FrModulus.
#pragma once

#include <cstdint>

#include "core/base/status.h"
#include "core/field/moduli.h"

struct CUstream_st;

namespace proofline::cuda {

using StreamHandle = CUstream_st*;  // cudaStream_t

// c[i] = a[i] * b[i]. c may be a or b.
template <class M>
Status QapMultiply(const void* a, const void* b, void* c, uint32_t n, StreamHandle stream);

// a[i] = a[i] * b[i] - c[i], canonical.
template <class M>
Status QapQuotient(void* a, const void* b, const void* c, uint32_t n, StreamHandle stream);

// All of it. In: a and b hold A.z and B.z on the domain of size 2^log2_n. Out: a holds the scalars of H, canonical. b and c (as long) are
// overwritten. `roots` as in cuda/ntt/ntt.h, for at least this log2_n; log2_n 0 needs none.
template <class M>
Status QapScalarsOfH(void* a, void* b, void* c, const void* roots, int log2_n, StreamHandle stream);

}  // namespace proofline::cuda
