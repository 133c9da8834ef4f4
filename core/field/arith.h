// The processor-specific multiplication: AdxArith has PortableArith's interface and gives the same bytes. This file is the only
// one that knows the processor; algorithms name an Arith and are compiled once for each.
#pragma once

#include "core/field/fp.h"

namespace proofline {

// True if this processor (and build) can run AdxArith: BMI2 and ADX by cpuid.
bool CpuHasAdx();

// Only to be run where CpuHasAdx().
struct AdxArith {
  template <class M>
  static inline void MulMont(uint64_t* r, const uint64_t* a, const uint64_t* b) {
    PortableArith::MulMont<M>(r, a, b);
  }
};

}  // namespace proofline
