#include "shm/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <boost/interprocess/mapped_region.hpp>
#include <string>

namespace proofline::shm {

namespace bip = boost::interprocess;

namespace {
// What Boost's region wants to see of a descriptor that we own.
class Mappable {
 public:
  explicit Mappable(int fd) : fd_(fd) {}
  bip::mapping_handle_t get_mapping_handle() const { return bip::ipcdetail::mapping_handle_from_file_handle(fd_); }

 private:
  int fd_;
};

static_assert(kRequiredSeals == (F_SEAL_SHRINK | F_SEAL_GROW));
}  // namespace

struct Mapping::Impl {
  bip::mapped_region region;
};

Mapping::Mapping(std::unique_ptr<Impl> impl, uint8_t* data, uint64_t bytes)
    : impl_(std::move(impl)), data_(data), size_bytes_(bytes) {}
Mapping::Mapping(Mapping&&) noexcept = default;
Mapping& Mapping::operator=(Mapping&&) noexcept = default;
Mapping::~Mapping() = default;

Result<Mapping> Mapping::Map(int fd, uint64_t bytes, Access access) {
  struct stat st {};
  if (bytes == 0 || fstat(fd, &st) != 0)
    return Status(ErrorCode::kResource, "mapping of " + std::to_string(bytes) + " shared bytes is impossible");
  // On hugetlb a mapping can only be undone in whole huge pages.
  uint64_t page = st.st_blksize > 4096 ? static_cast<uint64_t>(st.st_blksize) : 4096;
  uint64_t mapped = (bytes + page - 1) / page * page;
  try {
    auto impl = std::make_unique<Impl>();
    impl->region =
        bip::mapped_region(Mappable(fd), access == Access::kReadWrite ? bip::read_write : bip::read_only, 0, mapped);
    auto* data = static_cast<uint8_t*>(impl->region.get_address());
    if (madvise(data, mapped, MADV_DONTDUMP) != 0)
      return Status(ErrorCode::kResource, "a shared mapping cannot be kept out of core dumps");
    return Mapping(std::move(impl), data, bytes);
  } catch (const bip::interprocess_exception& e) {
    return Status(ErrorCode::kResource, "mapping of " + std::to_string(mapped) + " shared bytes failed: " + e.what());
  }
}

Status CheckSealed(int fd, uint64_t bytes) {
  int seals = fcntl(fd, F_GET_SEALS);
  struct stat st {};
  if (seals < 0 || (seals & kRequiredSeals) != kRequiredSeals || fstat(fd, &st) != 0)
    return Status(ErrorCode::kMismatch, "descriptor " + std::to_string(fd) + " is not one of our sealed memory files");
  if (static_cast<uint64_t>(st.st_size) < bytes)
    return Status(ErrorCode::kMismatch,
                  "shared memory file has " + std::to_string(st.st_size) + " bytes, expected " + std::to_string(bytes));
  return OkStatus();
}

}  // namespace proofline::shm
