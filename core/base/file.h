// Reading whole files by mapping them, and writing files that are either complete or not there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/mapping_guard.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline {

// The bytes of a file, read-only. A regular file (or memfd) is mapped; anything else (pipe, terminal, /dev/fd/N of one) is read
// to its end into anonymous memory that is wiped when released. Nothing is allocated by a number read from the file. Movable;
// reading needs no lock.
//
// Somebody who truncates a mapped file while it is read makes the next access past its new end a SIGBUS. Options::guarded turns that
// into zeros, which CheckUnchanged and ChangeOr report; CopyOut never touches the mapping. Keys are read unguarded in workers, whose
// death is an expected event.
class MappedFile {
 public:
  // Judges a stream by its first bytes (kStreamStartBytes, fewer if it ends before): how many bytes it may have in all, or why it is not
  // read on. `name` is for messages.
  using StreamLimit = std::function<Result<uint64_t>(ByteSpan start, const std::string& name)>;
  static constexpr size_t kStreamStartBytes = 12;
  static constexpr uint64_t kMaxStreamBytes = uint64_t{8} << 30;

  struct Options {
    bool secret = false;  // keep the pages out of core dumps
    // Bytes that a file lost while it was mapped are read as zeros. Who asks for that believes no result, and no failure either,
    // before CheckUnchanged or ChangeOr.
    bool guarded = false;
    StreamLimit stream_limit = {};  // for what cannot be mapped; empty: any start, kMaxStreamBytes
    int interrupt_fd = -1;          // once readable, opening a FIFO and reading a stream end with kCancelled
  };

  // kNotFound, kInvalidArgument (no permission), kInvalidFile (a directory, or what stream_limit refuses), kResource, kIo, kCancelled.
  // `path` names the file in messages.
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
  // kInvalidFile if size or modification time differ from what they were when the file was opened; kIo if bytes of a guarded file
  // could not be read although it looks the same.
  Status CheckUnchanged() const;
  // CheckUnchanged's failure if there is one, since any other may come of it; else `status`.
  Status ChangeOr(Status status) const;

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
  int guard_ = kNoMappingGuard;
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
