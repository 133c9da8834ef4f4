// The number-theoretic transform over Fr on a device, in place, and Groth16's chain of two of them. The twin of core/poly/ntt.h: the
// same three operations, the same orders, the same bytes.
//
// Device level: each call queues its kernels on `stream`, allocates nothing, waits for nothing. Pointers are device pointers aligned to
// 16 bytes. M is Bn254FrModulus or Bls12381FrModulus; data are Montgomery, fully reduced, before and after.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/status.h"
#include "core/field/moduli.h"

struct CUstream_st;

namespace proofline::cuda {

using StreamHandle = CUstream_st*;  // cudaStream_t

// The roots of unity that transforms of up to 2^log2_n need: omega_(2N)^rev(i), i < N. A longer table serves shorter transforms.
size_t NttTableBytes(int log2_n);
// Fills `table` (NttTableBytes(log2_n) bytes). Once, at start.
// Precondition for all: 1 <= log2_n < two-adicity of Fr, and the table was made for at least this log2_n.
template <class M>
Status NttBuildTable(void* table, int log2_n, StreamHandle stream);

// data[rev(j)] = sum_i data_in[i] * omega^(-ij): coefficients times N in bit-reversed order.
template <class M>
Status NttInverseToBitReversed(void* data, const void* table, int log2_n, StreamHandle stream);
// data[i] = sum_j data_in[rev(j)] * omega^(ij).
template <class M>
Status NttForwardFromBitReversed(void* data, const void* table, int log2_n, StreamHandle stream);
// Values on the domain to values at omega_(2N)^(2i+1), both in natural order; the scaling by 1/N is inside.
template <class M>
Status NttExtendToOddCoset(void* data, const void* table, int log2_n, StreamHandle stream);

}  // namespace proofline::cuda
