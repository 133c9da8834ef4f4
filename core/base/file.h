// Reading whole files by mapping them, and writing files that are either complete or not there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline {

// The bytes of a file, read-only. A regular file (or memfd) is mapped; anything else (pipe, terminal, /dev/fd/N of one) is read
// to its end into anonymous memory that is wiped when released. Nothing is allocated by a number read from the file. Movable;
// reading needs no lock.
//
// Somebody who truncates a mapped file while it is read makes the next access past its new end a SIGBUS. That cannot be ruled
// out for a mapping; it is made unlikely to matter: CheckUnchanged tells afterwards, CopyOut never touches the mapping, and keys and
// witnesses are only touched in workers, whose death is an expected event.
class MappedFile {
 public:
  struct Options {
    bool secret = false;  // keep the pages out of core dumps
    uint64_t max_stream_bytes = uint64_t{8} << 30;  // limit for what cannot be mapped
  };

  // kNotFound, kInvalidArgument (no permission), kInvalidFile (a directory), kResource, kIo. `path` names the file in messages.
  static Result<MappedFile> Open(const std::string& path, const Options& options);
  static Result<MappedFile> Open(const std::string& path) { return Open(path, Options()); }
  // Keeps a duplicate; the caller's descriptor stays his. A regular file is mapped from its start, a stream is read from here on.
  static Result<MappedFile> FromDescriptor(int fd, std::string name, const Options& options);

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;

  ByteSpan bytes() const { return {data_, size_bytes_}; }
  uint64_t size_bytes() const { return size_bytes_; }
  const std::string& name() const { return name_; }
  int64_t mtime_ns() const { return mtime_ns_; }  // 0 for a stream
  bool is_mapped_file() const { return fd_.valid(); }

  // Copies bytes [offset, offset + out.size()) by pread, not through the mapping: a file that shrank is kInvalidFile, not a signal,
  // and no page of the mapping becomes resident.
  Status CopyOut(uint64_t offset, MutableByteSpan out) const;
  // kInvalidFile if size or modification time differ from what they were when the file was opened.
  Status CheckUnchanged() const;

  // Hints; `range` lies within bytes(). DropPages gives resident pages of a mapped file back (they are read again on the next access).
  void WillNeed(ByteSpan range) const;
  void Sequential(ByteSpan range) const;
  void DropPages(ByteSpan range) const;

 private:
  Status Map(const Options& options);
  Status ReadStream(int fd, const Options& options);
  void Release();

  std::string name_;
  UniqueFd fd_;  // only for a mapped file
  const uint8_t* data_ = nullptr;
  uint64_t size_bytes_ = 0;
  uint64_t mapped_bytes_ = 0;  // of the mapping or the anonymous memory
  int64_t mtime_ns_ = 0;
};

// Writes a file under a temporary name beside it and renames it on Commit; without Commit nothing is left. A target that exists
// and is no regular file (a terminal, a pipe, /dev/null) is written directly. A symbolic link is followed, not replaced.
class AtomicFileWriter {
 public:
  struct Options {
    bool secret = false;  // mode 0600, else 0666 less the umask
    bool sync = false;    // Commit returns after the data and the name are on the disk
  };

  // Fails at once for an output that cannot be written (kInvalidArgument with the reason, or kResource), so make it before long work.
  static Result<AtomicFileWriter> Create(const std::string& path, const Options& options);
  static Result<AtomicFileWriter> Create(const std::string& path) { return Create(path, Options()); }

  AtomicFileWriter() = default;
  ~AtomicFileWriter() { Discard(); }
  AtomicFileWriter(AtomicFileWriter&& other) noexcept { *this = std::move(other); }
  AtomicFileWriter& operator=(AtomicFileWriter&& other) noexcept;

  // Buffered. After a failure only destruction is allowed.
  Status Write(ByteSpan bytes);
  Status Write(std::string_view text) { return Write(ByteSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size())); }
  uint64_t written_bytes() const { return written_bytes_; }
  const std::string& path() const { return path_; }
  Status Commit();

 private:
  Status Flush();
  Status WriteThrough(ByteSpan bytes);
  void Discard();

  Options options_;
  std::string path_;    // as the caller named it, for messages
  std::string target_;  // with links resolved
  std::string temporary_;  // empty when written directly
  UniqueFd fd_;
  std::vector<uint8_t> buffer_;
  uint64_t written_bytes_ = 0;
};

// All or nothing, in one call.
Status WriteFileAtomically(const std::string& path, std::string_view content, const AtomicFileWriter::Options& options);
inline Status WriteFileAtomically(const std::string& path, std::string_view content) {
  return WriteFileAtomically(path, content, AtomicFileWriter::Options());
}

}  // namespace proofline
