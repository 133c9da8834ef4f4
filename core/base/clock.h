// The two clocks. Monotonic nanoseconds are CLOCK_MONOTONIC: the same in every process of a machine, so stage times of
// different processes may be subtracted. Wall time is for people and for the journal; it may jump.
#pragma once

#include <cstdint>
#include <string>

namespace proofline {

uint64_t MonotonicNs();
int64_t WallUnixMs();
// "2025-03-01T12:34:56.789Z"
std::string FormatRfc3339(int64_t unix_ms);

}  // namespace proofline
