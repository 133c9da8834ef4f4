#include "core/base/clock.h"

#include <cstdio>
#include <ctime>

namespace proofline {

uint64_t MonotonicNs() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}

int64_t WallUnixMs() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return int64_t(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000;
}

std::string FormatRfc3339(int64_t unix_ms) {
  // Floor division, so that times before 1970 keep a positive fraction.
  int64_t ms = unix_ms % 1000;
  if (ms < 0) ms += 1000;
  const time_t seconds = static_cast<time_t>((unix_ms - ms) / 1000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char date[40], text[64];
  strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof(text), "%s.%03dZ", date, static_cast<int>(ms));
  return text;
}

}  // namespace proofline
