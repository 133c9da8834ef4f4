#include "cuda/plan/card_memory.h"

#include <dlfcn.h>

#include <cstddef>

#include "core/base/text.h"

namespace proofline::cuda {
namespace {

// As the driver's interface has them: 0 is success, a device is an int.
using InitCall = int (*)(unsigned);
using CountCall = int (*)(int*);
using DeviceCall = int (*)(int*, int);
using MemoryCall = int (*)(size_t*, int);

template <class Call>
Call Symbol(void* library, const char* name) {
  return reinterpret_cast<Call>(dlsym(library, name));
}

}  // namespace

Result<uint64_t> CardMemoryBytes(uint32_t ordinal) {
  // Never closed: the driver does not like to be unloaded.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Status(ErrorCode::kUnsupported, "this machine has no NVIDIA driver", "libcuda.so.1 cannot be loaded");
  const auto init = Symbol<InitCall>(library, "cuInit");
  const auto get_count = Symbol<CountCall>(library, "cuDeviceGetCount");
  const auto get = Symbol<DeviceCall>(library, "cuDeviceGet");
  const auto memory = Symbol<MemoryCall>(library, "cuDeviceTotalMem_v2");
  if (!init || !get_count || !get || !memory) return Status(ErrorCode::kUnsupported, "this machine's NVIDIA driver is too old");
  if (const int error = init(0); error != 0) return Status(ErrorCode::kUnsupported, StrCat("this machine's NVIDIA driver does not work: error ", error));
  int count = 0, device = 0;
  if (get_count(&count) != 0 || ordinal >= static_cast<uint32_t>(count))
    return Status(ErrorCode::kNotFound, StrCat("there is no CUDA device ", ordinal, ": the driver has ", count));
  size_t bytes = 0;
  if (get(&device, static_cast<int>(ordinal)) != 0 || memory(&bytes, device) != 0)
    return Status(ErrorCode::kUnavailable, StrCat("CUDA device ", ordinal, " does not answer"));
  return uint64_t{bytes};
}

}  // namespace proofline::cuda
