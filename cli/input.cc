#include "cli/input.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/paths.h"
#include "core/base/text.h"

namespace proofline::cli {
namespace {

bool IsUnder(const std::string& path, std::string_view folder) { return path.rfind(folder, 0) == 0; }

// Through MappedFile, which bounds what it reads from a stream.
Result<UniqueFd> CopyToMemfd(const MappedFile& stream) {
  UniqueFd fd(memfd_create("proofline-input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return Status(ErrorCode::kResource, StrCat(stream.name(), ": no memory file can be made"), strerror(errno));
  ByteSpan left = stream.bytes();
  while (!left.empty()) {
    const ssize_t n = write(fd.get(), left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Status(ErrorCode::kResource, StrCat(stream.name(), ": its ", stream.size_bytes(), " bytes do not fit the memory"), strerror(errno), "store it in a regular file first");
    left = left.subspan(static_cast<size_t>(n));
  }
  fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return fd;
}

}  // namespace

Result<SharedInput> OpenSharedInput(const std::string& name, const MappedFile::Options& options) {
  SharedInput input;
  input.name = name;
  input.fd.reset(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!input.fd) {
    auto failed = MappedFile::Open(name, options);  // for its message
    if (!failed.ok()) return std::move(failed).status();
    return Status(ErrorCode::kIo, StrCat(name, ": cannot be read"));
  }
  PL_ASSIGN_OR_RETURN(input.file, MappedFile::FromDescriptor(input.fd.get(), name, options));
  input.path = AbsolutePath(name);
  if (!input.file.is_mapped_file()) {
    PL_ASSIGN_OR_RETURN(input.fd, CopyToMemfd(input.file));
    PL_ASSIGN_OR_RETURN(input.file, MappedFile::FromDescriptor(input.fd.get(), name, options));
  }
  struct stat by_name, opened;
  const bool same = stat(input.path.c_str(), &by_name) == 0 && fstat(input.fd.get(), &opened) == 0 && by_name.st_dev == opened.st_dev && by_name.st_ino == opened.st_ino;
  if (!same || IsUnder(input.path, "/dev/") || IsUnder(input.path, "/proc/")) input.path = StrCat("/proc/", getpid(), "/fd/", input.fd.get());
  return input;
}

}  // namespace proofline::cli
