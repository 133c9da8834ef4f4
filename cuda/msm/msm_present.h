// For a query many of whose bases are at infinity (B of most keys): which ones are not, found once a key, so that the digits of the others are
// never made. A warp has to wait for any of its threads that adds, so points at infinity among the others cost as much as they.
//
// Device level, like msm.h. `present` is a bit a base in 32-bit words, PresentBytes(n) in all, on the device.
#pragma once

#include "cuda/msm/msm.h"

namespace proofline::cuda {

constexpr size_t PresentBytes(uint32_t n) { return (size_t{n} + 31) / 32 * 4; }

// Sets the bits of the bases that are not at infinity; the other bits become 0, or stay as they are with `add`: what a second list with the same
// scalars has is present too. Bases as for MsmQueue.
Status MsmMarkPresent(MsmGroup group, const void* bases, uint32_t n, bool add, void* present, StreamHandle stream);

// MsmClassify over the scalars of present bases; the others are in no list.
Status MsmClassifyPresent(const void* scalars, const void* present, uint32_t n, void* indices, void* classes, StreamHandle stream);

}  // namespace proofline::cuda
