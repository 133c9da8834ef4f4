#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/secret.h"
#include "core/base/text.h"

namespace proofline {

namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

Status WriteError(const std::string& path, std::string_view call, int error) {
  std::string fact = StrCat(path, ": cannot be written: ", std::strerror(error));
  std::string detail = StrCat(call, " failed with errno ", error);
  switch (error) {
    case ENOENT:
    case ENOTDIR: return Status(ErrorCode::kInvalidArgument, fact, detail, "make the directory first or name another file");
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
    case ELOOP:
    case ETXTBSY:
    case ENAMETOOLONG: return Status(ErrorCode::kInvalidArgument, fact, detail, "name a file in a directory that you may write");
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return Status(ErrorCode::kResource, fact, detail, "make room on the disk or name a file on another one");
    case EMFILE:
    case ENFILE: return Status(ErrorCode::kResource, fact, detail, "raise the limit of open files (ulimit -n)");
    default: return Status(ErrorCode::kIo, fact, detail);
  }
}

std::string DirectoryOf(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// ".NAME.XXXXXXXX.tmp" beside `target`, the name cut so that the whole fits a directory entry.
std::string TemporaryName(const std::string& target) {
  uint64_t random = 0;
  if (getrandom(&random, sizeof(random), 0) != sizeof(random)) random = static_cast<uint64_t>(getpid());
  char suffix[32];
  std::snprintf(suffix, sizeof(suffix), ".%016llx.tmp", static_cast<unsigned long long>(random));
  size_t slash = target.rfind('/');
  std::string base = slash == std::string::npos ? target : target.substr(slash + 1);
  return StrCat(DirectoryOf(target), "/.", std::string_view(base).substr(0, NAME_MAX - sizeof(suffix)), suffix);
}

}  // namespace

Result<AtomicFileWriter> AtomicFileWriter::Create(const std::string& path, const Options& options) {
  if (path.empty()) return Status(ErrorCode::kInvalidArgument, "the name of an output file is empty");
  AtomicFileWriter writer;
  writer.options_ = options;
  writer.path_ = writer.target_ = path;
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return WriteError(path, "open", EISDIR);
    if (!S_ISREG(info.st_mode)) {
      writer.fd_ = UniqueFd(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
      if (!writer.fd_.valid()) return WriteError(path, "open", errno);
      return writer;
    }
    // The rename would succeed in a writable directory; a file that its owner made read-only stays as it is.
    if (access(path.c_str(), W_OK) != 0) return WriteError(path, "access", errno);
    if (char* real = realpath(path.c_str(), nullptr)) {
      writer.target_ = real;
      std::free(real);
    }
  } else if (errno != ENOENT) {
    return WriteError(path, "stat", errno);
  }
  if (path.back() == '/') return WriteError(path, "open", EISDIR);
  writer.temporary_ = TemporaryName(writer.target_);
  writer.fd_ = UniqueFd(open(writer.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, options.secret ? 0600 : 0666));
  if (!writer.fd_.valid()) {
    writer.temporary_.clear();
    return WriteError(path, "open", errno);
  }
  return writer;
}

AtomicFileWriter& AtomicFileWriter::operator=(AtomicFileWriter&& other) noexcept {
  if (this == &other) return *this;
  Discard();
  options_ = other.options_;
  path_ = std::move(other.path_);
  target_ = std::move(other.target_);
  temporary_ = std::exchange(other.temporary_, {});
  fd_ = std::move(other.fd_);
  buffer_ = std::move(other.buffer_);
  written_bytes_ = other.written_bytes_;
  return *this;
}

void AtomicFileWriter::Discard() {
  if (options_.secret && !buffer_.empty()) Wipe(buffer_.data(), buffer_.size());
  fd_.reset();
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
}

Status AtomicFileWriter::WriteThrough(ByteSpan bytes) {
  while (!bytes.empty()) {
    ssize_t n = write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return WriteError(path_, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return OkStatus();
}

Status AtomicFileWriter::Flush() {
  PL_RETURN_IF_ERROR(WriteThrough(buffer_));
  if (options_.secret && !buffer_.empty()) Wipe(buffer_.data(), buffer_.size());
  buffer_.clear();
  return OkStatus();
}

Status AtomicFileWriter::Write(ByteSpan bytes) {
  written_bytes_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) PL_RETURN_IF_ERROR(Flush());
  if (bytes.size() > kBufferBytes) return WriteThrough(bytes);
  // A vector that grows leaves copies of its old content behind; a secret gets its room at once.
  if (options_.secret) buffer_.reserve(kBufferBytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return OkStatus();
}

Status AtomicFileWriter::Commit() {
  PL_RETURN_IF_ERROR(Flush());
  if (options_.sync && fsync(fd_.get()) != 0 && errno != EINVAL && errno != EROFS) return WriteError(path_, "fsync", errno);
  // Some file systems tell of a full disk only here.
  if (close(fd_.release()) != 0 && errno != EINTR) return WriteError(path_, "close", errno);
  if (temporary_.empty()) return OkStatus();
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return WriteError(path_, "rename", errno);
  temporary_.clear();
  if (!options_.sync) return OkStatus();
  UniqueFd directory(open(DirectoryOf(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid() && fsync(directory.get()) != 0 && errno != EINVAL) return WriteError(path_, "fsync", errno);
  return OkStatus();
}

Status WriteFileAtomically(const std::string& path, std::string_view content, const AtomicFileWriter::Options& options) {
  PL_ASSIGN_OR_RETURN(AtomicFileWriter writer, AtomicFileWriter::Create(path, options));
  PL_RETURN_IF_ERROR(writer.Write(content));
  return writer.Commit();
}

}  // namespace proofline
