#include "gpu_worker/cuda_layout.h"

#include <algorithm>

#include "core/base/text.h"
#include "cuda/ntt/ntt.h"

namespace proofline::gpu_worker {

namespace {

constexpr uint64_t kAlignment = 256;

class Bump {
 public:
  CudaPlace Take(uint64_t bytes) {
    CudaPlace place{at_, bytes};
    at_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return place;
  }
  uint64_t at() const { return at_; }

 private:
  uint64_t at_ = 0;
};

CudaLayout LayOut(const ProvingKeyView& key, bool side_by_side, uint32_t windows_at_once) {
  const bool bn = key.curve == CurveId::kBn254;
  const cuda::MsmGroup g1 = bn ? cuda::MsmGroup::kBn254G1 : cuda::MsmGroup::kBls12381G1;
  const cuda::MsmGroup g2 = bn ? cuda::MsmGroup::kBn254G2 : cuda::MsmGroup::kBls12381G2;
  const uint32_t counts[kQueryCount] = {key.domain(), key.n_vars, key.n_vars, key.n_vars, key.n_vars - key.n_public - 1};
  CudaLayout out;
  out.side_by_side = side_by_side;
  Bump bump;
  for (int q = 0; q < kQueryCount; ++q) {
    out.plans[q] = cuda::PlanMsm(q == kQueryB2 ? g2 : g1, counts[q], windows_at_once);
    out.points[q] = bump.Take(uint64_t{counts[q]} * cuda::MsmPointBytes(out.plans[q].group));
  }
  out.roots = bump.Take(cuda::NttTableBytes(static_cast<int>(key.log2_domain)));
  out.resident_bytes = bump.at();
  out.witness = bump.Take(uint64_t{key.n_vars} * kFrBytes);
  out.a = bump.Take(uint64_t{key.domain()} * kFrBytes);
  out.b = bump.Take(uint64_t{key.domain()} * kFrBytes);
  for (int q = 0; q < kQueryCount; ++q) out.sums[q] = bump.Take(out.plans[q].result_bytes);
  uint64_t needs[kQueryCount];
  for (int q = 0; q < kQueryCount; ++q) needs[q] = out.plans[q].workspace_bytes;
  needs[kQueryH] = std::max<uint64_t>(needs[kQueryH], uint64_t{key.domain()} * kFrBytes);
  const uint64_t largest = *std::max_element(needs, needs + kQueryCount);
  for (int q = 0; q < kQueryCount; ++q) out.work[q] = side_by_side ? bump.Take(needs[q]) : q == 0 ? bump.Take(largest) : out.work[0];
  out.total_bytes = bump.at();
  return out;
}

}  // namespace

Result<CudaLayout> LayOutProof(const ProvingKeyView& key, uint64_t arena_bytes) {
  const uint32_t largest = key.curve == CurveId::kBn254 ? 27 : 31;
  if (key.log2_domain > largest || key.n_vars < key.n_public + 1)
    return Status(ErrorCode::kUnsupported, StrCat("a domain of 2^", key.log2_domain, " is too large for a CUDA device: 2^", largest, " is the largest"),
                  "", "use --device cpu");
  CudaLayout layout = LayOut(key, true, 0);
  if (layout.total_bytes > arena_bytes) layout = LayOut(key, false, 0);
  // Fewer windows sorted at once need less room for their digits and are a little slower.
  for (uint32_t windows = 8; windows >= 1 && layout.total_bytes > arena_bytes; windows /= 2) layout = LayOut(key, false, windows);
  if (layout.total_bytes <= arena_bytes) return layout;
  return Status(ErrorCode::kResource,
                StrCat("the key needs ", layout.total_bytes, " bytes of device memory, the device has ", arena_bytes),
                StrCat(layout.resident_bytes, " for the key itself, the rest for a proof over a domain of 2^", key.log2_domain),
                "use a card with more memory, or --device cpu");
}

}  // namespace proofline::gpu_worker
