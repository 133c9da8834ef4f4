// Keeps a process alive that reads a mapping whose file somebody makes shorter. Used by MappedFile alone.
#pragma once

#include <cstddef>

namespace proofline {

inline constexpr int kNoMappingGuard = -1;

// Guards `bytes` bytes at `begin`, a private mapping of a file: where the file has no bytes left, reading gives zeros instead of SIGBUS.
// The first call takes over the process's SIGBUS; a bus error elsewhere still ends the process. Any thread. The result names the guard,
// kNoMappingGuard if all of the table (4096) is in use: then reading ends by the signal as ever.
int GuardMapping(const void* begin, size_t bytes);
// True once a read had to be given zeros. False for kNoMappingGuard.
bool MappingWasCut(int guard);
// Before munmap. Nothing for kNoMappingGuard.
void ReleaseMapping(int guard);

}  // namespace proofline
