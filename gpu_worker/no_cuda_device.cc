// In place of cuda_device.cc where there is no CUDA compiler.
#include "core/base/text.h"
#include "gpu_worker/cuda_device.h"

namespace proofline::gpu_worker {

Result<std::unique_ptr<Device>> OpenCudaDevice(const CudaOptions& options) {
  return Status(ErrorCode::kUnsupported, StrCat("device cuda:", options.ordinal, ": this build has no CUDA device"), "",
                "Use --device cpu.");
}

}  // namespace proofline::gpu_worker
