#include "gpu_worker/cuda_layout.h"

#include <algorithm>

#include "core/base/text.h"
#include "cuda/msm/msm_present.h"
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

bool FitsDigits(uint32_t n, const cuda::MsmPlan& plan) { return uint64_t{n} * plan.windows.size() < uint64_t{1} << 32; }

CudaLayout LayOut(const ProvingKeyView& key, bool side_by_side, uint32_t windows_at_once) {
  const bool bn = key.curve == CurveId::kBn254;
  const cuda::MsmGroup g1 = bn ? cuda::MsmGroup::kBn254G1 : cuda::MsmGroup::kBls12381G1;
  const cuda::MsmGroup g2 = bn ? cuda::MsmGroup::kBn254G2 : cuda::MsmGroup::kBls12381G2;
  CudaLayout out;
  out.side_by_side = side_by_side;
  out.public_points = uint64_t{key.n_public} + 1;
  Bump bump;
  for (int q = 0; q < kQueryCount; ++q) {
    const cuda::MsmGroup group = q == kQueryB2 ? g2 : g1;
    const uint32_t count = q == kQueryH ? key.domain() : key.n_vars;
    out.plans[q] = side_by_side && q != kQueryH ? cuda::PlanMsmOfClasses(group, {count, 0}) : cuda::PlanMsm(group, count, windows_at_once);
    out.points[q] = bump.Take(uint64_t{count} * cuda::MsmPointBytes(group));
  }
  out.roots = bump.Take(cuda::NttTableBytes(static_cast<int>(key.log2_domain)));
  if (side_by_side) out.present = bump.Take(cuda::PresentBytes(key.n_vars));
  out.resident_bytes = bump.at();
  out.witness = bump.Take(uint64_t{key.n_vars} * kFrBytes);
  out.a = bump.Take(uint64_t{key.domain()} * kFrBytes);
  out.b = bump.Take(uint64_t{key.domain()} * kFrBytes);
  for (int q = 0; q < kQueryCount; ++q)
    out.sums[q] = bump.Take(std::max(out.plans[q].result_bytes, cuda::kMsmMostWindows * cuda::MsmSumBytes(out.plans[q].group)));
  if (side_by_side) {
    out.classes = bump.Take(kListCount * sizeof(cuda::MsmClasses));
    for (CudaPlace& indices : out.indices) indices = bump.Take(uint64_t{key.n_vars} * 4);
    for (CudaPlace& digits : out.digits) digits = bump.Take(out.plans[kQueryA].digits_bytes);
  }
  uint64_t needs[kQueryCount];
  for (int q = 0; q < kQueryCount; ++q) needs[q] = out.plans[q].workspace_bytes;
  needs[kQueryH] = std::max<uint64_t>(needs[kQueryH], uint64_t{key.domain()} * kFrBytes);
  const uint64_t largest = *std::max_element(needs, needs + kQueryCount);
  for (int q = 0; q < kQueryCount; ++q) out.work[q] = side_by_side ? bump.Take(needs[q]) : q == 0 ? bump.Take(largest) : out.work[0];
  out.total_bytes = bump.at();
  return out;
}

}  // namespace

std::array<cuda::MsmPlan, kQueryCount> PlanWitness(const CudaLayout& layout, const std::array<cuda::MsmClasses, kListCount>& classes) {
  std::array<cuda::MsmPlan, kQueryCount> plans = layout.plans;
  // More windows for fewer scalars; those of the whole witness where the room would not do.
  const int whole = static_cast<int>(layout.plans[kQueryA].windows.size());
  for (const int window_count : {0, whole}) {
    bool fits = true;
    for (const Query q : {kQueryA, kQueryB1, kQueryB2, kQueryC}) {
      plans[q] = cuda::PlanMsmOfClasses(layout.plans[q].group, classes[ListOf(q)], window_count);
      fits &= plans[q].workspace_bytes <= layout.work[q].bytes && plans[q].digits_bytes <= layout.digits[ListOf(q)].bytes &&
              plans[q].result_bytes <= layout.sums[q].bytes;
    }
    if (fits) break;
  }
  return plans;
}

Result<CudaLayout> LayOutProof(const ProvingKeyView& key, uint64_t arena_bytes) {
  const uint32_t largest = key.curve == CurveId::kBn254 ? 27 : 31;
  if (key.log2_domain > largest || key.n_vars < key.n_public + 1)
    return Status(ErrorCode::kUnsupported, StrCat("a domain of 2^", key.log2_domain, " is too large for a CUDA device: 2^", largest, " is the largest"),
                  "", "use --device cpu");
  CudaLayout layout = LayOut(key, true, 0);
  if (layout.total_bytes > arena_bytes || !FitsDigits(key.n_vars, layout.plans[kQueryA])) layout = LayOut(key, false, 0);
  // Fewer windows sorted at once need less room for their digits and are a little slower.
  for (uint32_t windows = 8; windows >= 1 && layout.total_bytes > arena_bytes; windows /= 2) layout = LayOut(key, false, windows);
  if (layout.total_bytes <= arena_bytes) return layout;
  return Status(ErrorCode::kResource,
                StrCat("the key needs ", layout.total_bytes, " bytes of device memory, the device has ", arena_bytes),
                StrCat(layout.resident_bytes, " for the key itself, the rest for a proof over a domain of 2^", key.log2_domain),
                "use a card with more memory, or --device cpu");
}

}  // namespace proofline::gpu_worker
