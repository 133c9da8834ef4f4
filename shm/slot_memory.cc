#include "shm/slot_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <numaif.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "shm/topology.h"

namespace proofline::shm {

namespace {

constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
constexpr unsigned kHugeTwoMib = 21u << 26;  // MFD_HUGE_2MB of linux/memfd.h, which clashes with glibc's header
constexpr uint64_t kStepBytes = uint64_t{1} << 30;
// Left to everything else on the host.
constexpr uint64_t kReserveBytes = uint64_t{256} << 20;

Status SystemError(const std::string& what) {
  return Status(ErrorCode::kResource, what + " failed: " + strerror(errno));
}

std::string Mib(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// 0 if there is no such pool.
uint64_t FreeHugeBytes(std::optional<uint32_t> node) {
  std::string base =
      node ? "/sys/devices/system/node/node" + std::to_string(*node) + "/hugepages" : "/sys/kernel/mm/hugepages";
  std::ifstream in(base + "/hugepages-2048kB/free_hugepages");
  uint64_t pages = 0;
  in >> pages;
  return in ? pages * kHugePageBytes : 0;
}

// shmem takes the policy from any mapping of the file; hugetlb only obeys the mapping through which a page is first
// touched, so the pages are made through this one.
Status BindAndPopulate(int fd, uint64_t bytes, uint32_t node, bool huge) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return SystemError("mapping a slot to bind it");
  unsigned long mask[16] = {};
  Status status;
  if (node >= sizeof(mask) * 8) {
    status = Status(ErrorCode::kInvalidArgument, "NUMA node " + std::to_string(node) + " is out of range");
  } else {
    mask[node / (8 * sizeof(long))] = 1ul << (node % (8 * sizeof(long)));
    if (mbind(p, bytes, MPOL_BIND, mask, sizeof(mask) * 8, 0) != 0)
      status = SystemError("binding a slot to NUMA node " + std::to_string(node));
    else if (huge && madvise(p, bytes, MADV_POPULATE_WRITE) != 0)
      status = SystemError("filling a slot with huge pages of node " + std::to_string(node));
  }
  munmap(p, bytes);
  return status;
}

Status CheckAvailable(uint64_t wanted, uint64_t slot_bytes) {
  uint64_t available = AvailableMemoryBytes();
  if (available >= wanted + kReserveBytes) return OkStatus();
  return Status(ErrorCode::kResource,
                "no memory for a slot of " + Mib(slot_bytes) + ": " + Mib(wanted) + " are wanted, " + Mib(available) +
                    " are available and " + Mib(kReserveBytes) + " of them are kept free",
                "", "Ask for fewer or smaller slots, or give the host more memory.");
}

// In steps, since others may take memory while this goes on, and running out would be the kernel's choice of a victim.
Status Allocate(int fd, uint64_t bytes) {
  PL_RETURN_IF_ERROR(CheckAvailable(bytes, bytes));
  for (uint64_t at = 0; at < bytes; at += kStepBytes) {
    uint64_t step = std::min(kStepBytes, bytes - at);
    if (at > 0) PL_RETURN_IF_ERROR(CheckAvailable(step, bytes));
    if (fallocate(fd, 0, static_cast<off_t>(at), static_cast<off_t>(step)) != 0)
      return SystemError("allocating " + Mib(step) + " of slot memory");
  }
  return OkStatus();
}

Status Fill(int fd, uint64_t bytes, const SlotMemoryOptions& options, bool huge) {
  if (fchmod(fd, 0600) != 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return SystemError("sizing a slot");
  if (options.node) PL_RETURN_IF_ERROR(BindAndPopulate(fd, bytes, *options.node, huge));
  if (huge) {
    if (fallocate(fd, 0, 0, static_cast<off_t>(bytes)) != 0) return SystemError("allocating huge pages");
  } else {
    PL_RETURN_IF_ERROR(Allocate(fd, bytes));
  }
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return SystemError("sealing a slot");
  return OkStatus();
}

}  // namespace

Result<SlotMemory> CreateSlotMemory(const SlotMemoryOptions& options) {
  if (options.bytes == 0 || options.bytes % 4096 != 0)
    return Status(ErrorCode::kInvalidArgument,
                  "slot of " + std::to_string(options.bytes) + " bytes, expected whole pages");
  SlotMemory out;
  uint64_t huge_bytes = (options.bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  uint64_t pool = options.huge_pages ? FreeHugeBytes(options.node) : 0;
  if (pool >= huge_bytes) {
    out.fd = UniqueFd(memfd_create("proofline-slot", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB | kHugeTwoMib));
    Status filled =
        out.fd.valid() ? Fill(out.fd.get(), huge_bytes, options, true) : SystemError("making a slot of huge pages");
    if (filled.ok()) {
      out.huge_pages = true;
      return out;
    }
    out.note = "4 KiB pages: " + filled.ToString();
  } else {
    out.note = options.huge_pages
                   ? "4 KiB pages: the huge page pool has " + Mib(pool) + " free, a slot needs " + Mib(huge_bytes)
                   : "4 KiB pages as configured";
  }
  out.fd = UniqueFd(memfd_create("proofline-slot", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!out.fd.valid()) return SystemError("making a slot");
  PL_RETURN_IF_ERROR(Fill(out.fd.get(), options.bytes, options, false));
  return out;
}

Result<Mapping> MapSlot(int fd, const SlotLayout& layout) {
  PL_RETURN_IF_ERROR(CheckSealed(fd, layout.slot_bytes));
  return Mapping::Map(fd, layout.slot_bytes, Mapping::Access::kReadWrite);
}

Result<std::vector<Mapping>> MapSlots(std::span<const UniqueFd> fds, const SlotLayout& layout) {
  if (fds.size() != layout.slot_count)
    return Status(ErrorCode::kMismatch,
                  std::to_string(fds.size()) + " slot descriptors for a table of " + std::to_string(layout.slot_count) + " slots");
  std::vector<Mapping> out;
  for (const UniqueFd& fd : fds) {
    PL_ASSIGN_OR_RETURN(Mapping mapping, MapSlot(fd.get(), layout));
    out.push_back(std::move(mapping));
  }
  return out;
}

Result<Mapping> MapResultWindow(int fd, const SlotLayout& layout) {
  PL_RETURN_IF_ERROR(CheckSealed(fd, layout.slot_bytes));
  return Mapping::Map(fd, layout.result_area_bytes, Mapping::Access::kReadOnly);
}

}  // namespace proofline::shm
