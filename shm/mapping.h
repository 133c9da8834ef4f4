// A mapped range of a memfd, never in a core dump. The mapping goes with the object; descriptors may be closed before
// it.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace proofline::shm {

class Mapping {
 public:
  enum class Access { kReadOnly, kReadWrite };

  // Maps the first `bytes` bytes of `fd` (rounded up to its page size, which may be a huge page). Touches nothing.
  // kResource when the system refuses.
  static Result<Mapping> Map(int fd, uint64_t bytes, Access access);

  Mapping(Mapping&&) noexcept;
  Mapping& operator=(Mapping&&) noexcept;
  ~Mapping();

  uint8_t* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }  // as asked for

 private:
  struct Impl;
  Mapping(std::unique_ptr<Impl> impl, uint8_t* data, uint64_t bytes);
  std::unique_ptr<Impl> impl_;
  uint8_t* data_ = nullptr;
  uint64_t size_bytes_ = 0;
};

// The seals every shared memfd of ours carries, so that no process can cut memory from under another's mapping.
inline constexpr int kRequiredSeals = 0x0002 | 0x0004;  // F_SEAL_SHRINK | F_SEAL_GROW
// kMismatch unless `fd` carries them and is at least `bytes` long.
Status CheckSealed(int fd, uint64_t bytes);

}  // namespace proofline::shm
