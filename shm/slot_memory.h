// The memory of one slot: a sealed memfd of fixed size, made once by the coordinator and mapped by workers.
//
// Never truncated, never hole-punched, never given madvise(MADV_REMOVE or MADV_DONTNEED): a device may have its pages
// pinned, and would go on reading the old ones. It is cleaned by writing zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/unique_fd.h"
#include "core/base/status.h"
#include "shm/mapping.h"
#include "shm/slot.h"

namespace proofline::shm {

struct SlotMemoryOptions {
  uint64_t bytes = 0;            // whole pages
  std::optional<uint32_t> node;  // NUMA node to bind to; nullopt: wherever it falls
  bool huge_pages = true;        // use the system's 2 MiB pool if it has room
};

struct SlotMemory {
  UniqueFd fd;
  bool huge_pages = false;
  std::string note;  // why not huge pages, one line
};

// All pages exist when it returns, but none is mapped. kResource, with the numbers, when memory is short.
Result<SlotMemory> CreateSlotMemory(const SlotMemoryOptions& options);

// The whole slot, read-write. For workers. kMismatch if `fd` is not a sealed file of that size.
Result<Mapping> MapSlot(int fd, const SlotLayout& layout);
// All of them; kMismatch unless there is one descriptor per slot of the layout.
Result<std::vector<Mapping>> MapSlots(std::span<const UniqueFd> fds, const SlotLayout& layout);
// The result area only, read-only. For the coordinator, which never maps payload.
Result<Mapping> MapResultWindow(int fd, const SlotLayout& layout);

}  // namespace proofline::shm
