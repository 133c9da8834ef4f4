// Which multiplication runs where. AdxArith gives the bytes of PortableArith, faster, on processors that have it. This file is the only
// one that knows the processor: algorithms name an Arith, are compiled once for each, and are chosen once, at run time.
#pragma once

#include "core/field/fp.h"

// The sanitizers' presets define PROOFLINE_NO_ASSEMBLER: assembler hides its reads and writes from them, and takes registers they need.
#if defined(__x86_64__) && !defined(PROOFLINE_NO_ASSEMBLER)
#define PROOFLINE_ADX 1
#include "core/field/adx.h"
#else
#define PROOFLINE_ADX 0
#endif

namespace proofline {

// True if this processor (and build) can run AdxArith: BMI2 and ADX by cpuid.
bool CpuHasAdx();

#if !PROOFLINE_ADX
// So that every machine compiles the same code; CpuHasAdx() is false here and nothing chooses it.
struct AdxArith : PortableArith {};
#endif

}  // namespace proofline
