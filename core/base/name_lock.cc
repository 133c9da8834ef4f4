#include "core/base/name_lock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>

#include "core/base/text.h"

namespace proofline {

namespace {

struct Address {
  explicit Address(const std::string& name) {
    raw.sun_family = AF_UNIX;
    const size_t length = std::min(name.size(), sizeof raw.sun_path - 1);
    memcpy(raw.sun_path + 1, name.data(), length);  // a first byte of 0 makes it abstract
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&raw); }
  sockaddr_un raw{};
  socklen_t bytes = 0;
};

UniqueFd NewSocket() { return UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)); }

}  // namespace

Result<UniqueFd> HoldName(const std::string& name) {
  UniqueFd fd = NewSocket();
  const Address address(name);
  if (!fd.valid()) return Status(ErrorCode::kResource, StrCat("no socket to hold ", name, " with: ", strerror(errno)));
  if (bind(fd.get(), address.get(), address.bytes) == 0) return fd;
  if (errno == EADDRINUSE) return Status(ErrorCode::kConflict, StrCat(name, " is held by another process"));
  return Status(ErrorCode::kIo, StrCat(name, " cannot be held: ", strerror(errno)));
}

bool IsNameHeld(const std::string& name) {
  const UniqueFd fd = NewSocket();
  const Address address(name);
  return fd.valid() && connect(fd.get(), address.get(), address.bytes) == 0;
}

std::string DeviceLockName(const std::string& device) { return StrCat("proofline-device-", device); }

}  // namespace proofline
