// The one way to the CUDA runtime: every call stands inside PL_CUDA_RETURN_IF_ERROR, which counts it (call_ledger.h) and turns its outcome
// into a Status, and every launch is followed by PL_CUDA_CHECK_LAUNCH. The failing expression, file and line travel with the error.
#pragma once

#include <cuda_runtime.h>

#include "core/base/status.h"
#include "cuda/device/call_ledger.h"

namespace proofline::cuda {

// True for errors after which the context is lost: the process must end, nobody limps on.
bool IsStickyError(cudaError_t error);

// kDeviceFault for sticky errors, kResource for lack of memory, kUnsupported where there is no device or no driver that fits, kInternal for
// a wrong call. Consumes the pending error of the thread.
Status CudaStatus(cudaError_t error, const char* expression, const char* file, int line);

}  // namespace proofline::cuda

#define PL_CUDA_RETURN_IF_ERROR(expr)                                                               \
  do {                                                                                              \
    PL_RETURN_IF_ERROR(::proofline::cuda::CallLedger::Process().Count(#expr, __FILE__, __LINE__));  \
    if (cudaError_t pl_error = (expr); pl_error != cudaSuccess)                                     \
      return ::proofline::cuda::CudaStatus(pl_error, #expr, __FILE__, __LINE__);                    \
  } while (false)

// After a launch. A build with PROOFLINE_SYNC_LAUNCHES waits for the kernel, so that a fault names its own launch; that wait is not counted.
#ifdef PROOFLINE_SYNC_LAUNCHES
#define PL_CUDA_CHECK_LAUNCH()                                                                    \
  do {                                                                                            \
    PL_CUDA_RETURN_IF_ERROR(cudaGetLastError());                                                  \
    if (cudaError_t pl_error = cudaDeviceSynchronize(); pl_error != cudaSuccess)                  \
      return ::proofline::cuda::CudaStatus(pl_error, "the launch before", __FILE__, __LINE__);    \
  } while (false)
#else
#define PL_CUDA_CHECK_LAUNCH() PL_CUDA_RETURN_IF_ERROR(cudaGetLastError())
#endif
