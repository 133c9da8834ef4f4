// Uniform field elements by rejection: draw as many bits as the modulus has, throw away what is not below it. Both group orders
// are above 3/4 of the next power of two, so fewer than one draw in four is thrown away.
#pragma once

#include "core/base/rng.h"
#include "core/base/secret.h"
#include "core/field/fp.h"

namespace proofline {

namespace sample_detail {
// A generator that works gives a run of this many rejections with a chance below 2^-100.
inline constexpr int kMaxDraws = 64;
}  // namespace sample_detail

// Writes F::kBytes canonical little-endian bytes, uniform in [0, p). `fill` is called as Status fill(MutableByteSpan) and must
// give uniform bytes; its failure is passed up. A generator that never gives a value below p is kInternal.
template <class F, class FillFn>
Status SampleCanonical(FillFn&& fill, MutableByteSpan out) {
  constexpr int kTopBits = 64 - std::countl_zero(F::Modulus::kValue[F::kLimbs - 1]);
  constexpr uint64_t kTopMask = kTopBits == 64 ? ~uint64_t{0} : (uint64_t{1} << kTopBits) - 1;
  for (int draw = 0; draw < sample_detail::kMaxDraws; ++draw) {
    PL_RETURN_IF_ERROR(fill(out.first(F::kBytes)));
    uint8_t* top = out.data() + F::kBytes - 8;
    StoreLe(top, LoadLe<uint64_t>(top) & kTopMask);
    if (F::IsReduced(out.data())) return OkStatus();
  }
  Wipe(out.data(), F::kBytes);
  return Status(ErrorCode::kInternal, "the random generator gives no value below the field order");
}

// The same as a field element.
template <class F, class FillFn>
Result<F> SampleField(FillFn&& fill) {
  Secret<std::array<uint8_t, F::kBytes>> bytes;
  PL_RETURN_IF_ERROR(SampleCanonical<F>(fill, bytes.get()));
  return F::LoadCanon(bytes.get().data());
}

}  // namespace proofline
