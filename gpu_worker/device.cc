#include "gpu_worker/device.h"

#include "core/base/text.h"

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

Result<std::unique_ptr<Device>> OpenDevice(const std::string& name) {
  if (name == "cpu") return std::unique_ptr<Device>(std::make_unique<CpuDevice>());
  if (name.rfind("cuda:", 0) == 0)
    return Status(ErrorCode::kUnsupported, StrCat("device ", name, ": this build has no CUDA device"), "",
                  "Use --device cpu.");
  return Status(ErrorCode::kUsage, StrCat("device \"", name, "\" is none"), "", "cpu, or cuda:0, cuda:1, ...");
}

}  // namespace proofline::gpu_worker
