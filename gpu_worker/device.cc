#include "gpu_worker/device.h"

#include <charconv>

#include "core/base/text.h"
#include "gpu_worker/cuda_device.h"

namespace proofline::gpu_worker {

namespace {
class CpuDevice : public Device {
 public:
  std::string_view name() const override { return "cpu"; }
  Result<Proof> Prove(const ProveWork& work) override {
    return GetBackend(work.key.curve)
        .Prove(work.key, work.witness, work.rows_a, work.rows_b, work.blinding, work.observer);
  }
};
}  // namespace

Result<std::unique_ptr<Device>> OpenDevice(const std::string& name, uint64_t arena_bytes) {
  if (name == "cpu") return std::unique_ptr<Device>(std::make_unique<CpuDevice>());
  constexpr std::string_view kCuda = "cuda:";
  if (name.starts_with(kCuda)) {
    int ordinal = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + kCuda.size(), end, ordinal);
    if (error == std::errc() && stop == end && ordinal >= 0) return OpenCudaDevice({.ordinal = ordinal, .arena_bytes = arena_bytes});
  }
  return Status(ErrorCode::kUsage, StrCat("device \"", name, "\" is none"), "", "cpu, or cuda:0, cuda:1, ...");
}

}  // namespace proofline::gpu_worker
