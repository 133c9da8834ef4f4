#include "cuda/device/check.h"

#include <string>

namespace proofline::cuda {

bool IsStickyError(cudaError_t error) {
  switch (error) {
    case cudaErrorDevicesUnavailable:
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

Status CudaStatus(cudaError_t error, const char* expression, const char* file, int line) {
  if (error == cudaSuccess) return OkStatus();
  (void)cudaGetLastError();  // a failed call that is not sticky would surface again in an unrelated later one
  ErrorCode code = ErrorCode::kInternal;
  if (IsStickyError(error)) code = ErrorCode::kDeviceFault;
  if (error == cudaErrorMemoryAllocation) code = ErrorCode::kResource;
  if (error == cudaErrorNoDevice || error == cudaErrorInvalidDevice || error == cudaErrorInsufficientDriver) code = ErrorCode::kUnsupported;
  return Status(code, std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error),
                std::string(expression) + " at " + file + ":" + std::to_string(line));
}

}  // namespace proofline::cuda
