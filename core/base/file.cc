#include "core/base/file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/secret.h"
#include "core/base/text.h"

namespace proofline {

namespace {

int64_t MtimeNs(const struct stat& info) { return int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec; }

Status ReadError(const std::string& name, std::string_view call, int error) {
  std::string fact = StrCat(name, ": cannot be read: ", std::strerror(error));
  std::string detail = StrCat(call, " failed with errno ", error);
  switch (error) {
    case ENOENT:
    case ENOTDIR: return Status(ErrorCode::kNotFound, StrCat(name, ": no such file"), detail, "check the path");
    case EACCES:
    case EPERM: return Status(ErrorCode::kInvalidArgument, fact, detail, "check the file's permissions");
    case EISDIR: return Status(ErrorCode::kInvalidFile, StrCat(name, ": is a directory, a file is expected"));
    case ENAMETOOLONG:
    case ELOOP: return Status(ErrorCode::kInvalidArgument, fact, detail, "check the path");
    case EMFILE:
    case ENFILE: return Status(ErrorCode::kResource, fact, detail, "raise the limit of open files (ulimit -n)");
    case ENOMEM: return Status(ErrorCode::kResource, fact, detail, "free memory or raise its limit");
    default: return Status(ErrorCode::kIo, fact, detail);
  }
}

Status CheckInterrupt(int interrupt_fd, const std::string& name) {
  pollfd waited{interrupt_fd, POLLIN, 0};  // poll passes over a descriptor of -1
  if (poll(&waited, 1, 0) > 0) return Status(ErrorCode::kCancelled, StrCat(name, ": interrupted while it was read"));
  return OkStatus();
}

// Until the stream has something (or its end), unless the interrupt comes first.
Status WaitForStream(int fd, int interrupt_fd, const std::string& name) {
  pollfd waited[2] = {{fd, POLLIN, 0}, {interrupt_fd, POLLIN, 0}};
  while (poll(waited, 2, -1) < 0)
    if (errno != EINTR) return ReadError(name, "poll", errno);
  return CheckInterrupt(interrupt_fd, name);
}

Status Shorter(const std::string& name, std::string detail) {
  return Status(ErrorCode::kInvalidFile, StrCat(name, ": became shorter while it was read"), std::move(detail), "do not change it while it is used");
}

// The whole pages inside `range`; a page shared with a neighbour is left alone.
void AdvisePages(ByteSpan range, int advice, bool whole_pages_only) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = reinterpret_cast<uintptr_t>(range.data());
  uintptr_t end = begin + range.size();
  begin = whole_pages_only ? (begin + page - 1) / page * page : begin / page * page;
  if (whole_pages_only) end = end / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path, const Options& options) {
  UniqueFd fd;
  // A FIFO without a writer is waited for in open.
  do {
    PL_RETURN_IF_ERROR(CheckInterrupt(options.interrupt_fd, path));
    fd.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  } while (!fd.valid() && errno == EINTR);
  if (!fd.valid()) return ReadError(path, "open", errno);
  return FromDescriptor(fd.get(), path, options);
}

Result<MappedFile> MappedFile::FromDescriptor(int fd, std::string name, const Options& options) {
  MappedFile file;
  file.name_ = std::move(name);
  struct stat info;
  if (fstat(fd, &info) != 0) return ReadError(file.name_, "fstat", errno);
  if (S_ISDIR(info.st_mode)) return ReadError(file.name_, "open", EISDIR);
  // Files of /proc and the like call themselves regular and have size 0: only reading tells.
  if (!S_ISREG(info.st_mode) || info.st_size == 0) {
    PL_RETURN_IF_ERROR(file.ReadStream(fd, options));
    return file;
  }
  file.fd_ = UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!file.fd_.valid()) return ReadError(file.name_, "fcntl", errno);
  file.size_bytes_ = static_cast<uint64_t>(info.st_size);
  file.mtime_ns_ = MtimeNs(info);
  PL_RETURN_IF_ERROR(file.Map(options));
  return file;
}

Status MappedFile::Map(const Options& options) {
  void* p = mmap(nullptr, size_bytes_, PROT_READ, MAP_PRIVATE, fd_.get(), 0);
  if (p == MAP_FAILED) return ReadError(name_, "mmap", errno);
  data_ = static_cast<const uint8_t*>(p);
  mapped_bytes_ = size_bytes_;
  if (options.secret) madvise(p, mapped_bytes_, MADV_DONTDUMP);
  if (options.guarded) guard_ = GuardMapping(p, mapped_bytes_);
  return OkStatus();
}

// The buffer grows with what has arrived, by mremap, which moves pages and leaves no copy behind.
Status MappedFile::ReadStream(int fd, const Options& options) {
  uint64_t capacity = uint64_t{1} << 20;
  void* p = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return ReadError(name_, "mmap", errno);
  data_ = static_cast<const uint8_t*>(p);
  mapped_bytes_ = capacity;
  if (options.secret) madvise(p, capacity, MADV_DONTDUMP);  // mremap keeps it
  uint64_t limit = kMaxStreamBytes;
  bool judged = !options.stream_limit;
  for (bool ended = false; !ended;) {
    if (size_bytes_ == capacity) {
      p = mremap(p, capacity, capacity * 2, MREMAP_MAYMOVE);
      if (p == MAP_FAILED) return ReadError(name_, "mremap", errno);
      data_ = static_cast<const uint8_t*>(p);
      mapped_bytes_ = capacity *= 2;
    }
    PL_RETURN_IF_ERROR(WaitForStream(fd, options.interrupt_fd, name_));
    ssize_t n = read(fd, static_cast<uint8_t*>(p) + size_bytes_, judged ? capacity - size_bytes_ : kStreamStartBytes - size_bytes_);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return ReadError(name_, "read", errno);
    ended = n == 0;
    size_bytes_ += static_cast<uint64_t>(n);
    if (!judged && (ended || size_bytes_ == kStreamStartBytes)) {
      PL_ASSIGN_OR_RETURN(limit, options.stream_limit(bytes(), name_));
      judged = true;
    }
    if (size_bytes_ > limit)
      return Status(ErrorCode::kInvalidFile, StrCat(name_, ": more than ", limit, " bytes came from a stream"), {},
                    "check that it is the file meant; one as large as that is read from a regular file only");
  }
  return OkStatus();
}

void MappedFile::Release() {
  if (!data_) return;
  void* p = const_cast<uint8_t*>(data_);
  if (!fd_.valid()) Wipe(p, size_bytes_);
  ReleaseMapping(std::exchange(guard_, kNoMappingGuard));
  munmap(p, mapped_bytes_);
  data_ = nullptr;
}

MappedFile::~MappedFile() { Release(); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  Release();
  name_ = std::move(other.name_);
  fd_ = std::move(other.fd_);
  data_ = std::exchange(other.data_, nullptr);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
  mtime_ns_ = other.mtime_ns_;
  guard_ = std::exchange(other.guard_, kNoMappingGuard);
  return *this;
}

Status MappedFile::CopyOut(uint64_t offset, MutableByteSpan out) const {
  auto end = CheckedAdd<uint64_t>(offset, out.size());
  if (!end || *end > size_bytes_)
    return Status(ErrorCode::kInternal, StrCat(name_, ": copy of bytes past the end"), StrCat("offset ", offset, ", ", out.size(), " bytes"));
  if (!fd_.valid()) {
    if (!out.empty()) std::memcpy(out.data(), data_ + offset, out.size());
    return OkStatus();
  }
  while (!out.empty()) {
    ssize_t n = pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ReadError(name_, "pread", errno);
    if (n == 0) return Shorter(name_, StrCat("it had ", size_bytes_, " bytes when opened and ends before byte ", *end, " now"));
    offset += static_cast<uint64_t>(n);
    out = out.subspan(static_cast<size_t>(n));
  }
  return OkStatus();
}

Status MappedFile::CheckUnchanged() const {
  if (!fd_.valid()) return OkStatus();
  struct stat info;
  if (fstat(fd_.get(), &info) != 0) return ReadError(name_, "fstat", errno);
  const std::string sizes = StrCat("it had ", size_bytes_, " bytes when opened and has ", info.st_size, " now");
  if (static_cast<uint64_t>(info.st_size) < size_bytes_) return Shorter(name_, sizes);
  if (static_cast<uint64_t>(info.st_size) != size_bytes_ || MtimeNs(info) != mtime_ns_)
    return Status(ErrorCode::kInvalidFile, StrCat(name_, ": changed while it was read"), sizes,
                  "do not change it while it is used; replace it by renaming another file over it");
  if (MappingWasCut(guard_)) return Status(ErrorCode::kIo, StrCat(name_, ": cannot be read: bytes of it could not be loaded"), sizes, "check the disk and the kernel's log");
  return OkStatus();
}

Status MappedFile::ChangeOr(Status status) const {
  PL_RETURN_IF_ERROR(CheckUnchanged());
  return status;
}

void MappedFile::WillNeed(ByteSpan range) const { AdvisePages(range, MADV_WILLNEED, false); }
void MappedFile::Sequential(ByteSpan range) const { AdvisePages(range, MADV_SEQUENTIAL, false); }
void MappedFile::DropPages(ByteSpan range) const {
  if (fd_.valid()) AdvisePages(range, MADV_DONTNEED, true);  // on anonymous memory it would lose the bytes
}

}  // namespace proofline
