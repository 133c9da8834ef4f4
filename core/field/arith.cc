#include "core/field/arith.h"

#if PROOFLINE_ADX
#include <cpuid.h>
#endif

namespace proofline {

bool CpuHasAdx() {
#if PROOFLINE_ADX
  static const bool has = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return false;
    constexpr unsigned kBmi2 = 1u << 8, kAdx = 1u << 19;
    return (ebx & kBmi2) != 0 && (ebx & kAdx) != 0;
  }();
  return has;
#else
  return false;
#endif
}

}  // namespace proofline
