// The container that .zkey, .wtns, .r1cs and .ptau share: a magic, a version, and sections that come in any order.
//
//   4 bytes magic, u32 version, u32 number of sections, then per section: u32 type, u64 length, that many bytes (no padding)
//
// The index is made first; nothing is assumed about order, alignment or unknown sections. All offsets are 64 bits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/file.h"
#include "core/base/status.h"

namespace proofline {

enum class FileKind : uint8_t { kUnknown, kEmpty, kZkey, kWtns, kR1cs, kPtau, kWasm, kJson };

// By the first bytes alone; kJson for anything that starts like JSON after white space. Files of bellperson's have nothing there to know
// them by, see DetectFilecoinKind (filecoin_file.h).
FileKind DetectFileKind(ByteSpan bytes);
// "zkey", "wtns", ..., "empty", "unknown kind of file".
std::string_view FileKindName(FileKind kind);
// The version of a section file that is read and written.
uint32_t FileVersion(FileKind kind);

// For MappedFile::Options: of a stream, only these kinds are read on, and at most `max_bytes` of them (of JSON never more than a
// verification key may have, the largest kind of it). Refused at once, in the words of the readers: other first bytes (white space
// alone may become JSON), a version that is not read, too many sections.
MappedFile::StreamLimit StreamOf(std::vector<FileKind> kinds, uint64_t max_bytes = MappedFile::kMaxStreamBytes);

struct Section {
  uint32_t type = 0;
  uint64_t offset = 0;  // of the content, from the file's start
  uint64_t length_bytes = 0;
};

// An index over bytes that it does not own; they must outlive it. Copyable, read-only afterwards.
class SectionFile {
 public:
  // More sections than this in one file are refused (real files have 2 to 11).
  static constexpr uint32_t kMaxSections = 1024;

  // Checks magic, version and that each section lies within the file. `name` starts every message.
  static Result<SectionFile> Parse(ByteSpan bytes, std::string_view name, FileKind kind);

  const std::string& name() const { return name_; }
  uint32_t version() const { return version_; }
  const std::vector<Section>& sections() const { return sections_; }  // in file order
  uint64_t trailing_bytes() const { return trailing_bytes_; }         // after the last section; tolerated
  size_t Count(uint32_t type) const;

  // The content of the one section of this type; missing or there twice is an error. `what` names it in messages ("header").
  Result<ByteSpan> Require(uint32_t type, std::string_view what) const;
  // The same, and of exactly this length. `rule` says where the length comes from ("4 + 44 * 7 coefficients").
  Result<ByteSpan> RequireLength(uint32_t type, std::string_view what, uint64_t length_bytes, std::string_view rule) const;
  ByteSpan Content(const Section& section) const { return bytes_.subspan(section.offset, section.length_bytes); }

  // "NAME: section 4 (coefficients): " + text, as a kInvalidFile.
  Status Bad(uint32_t type, std::string_view what, std::string text, std::string detail = {}, std::string remedy = {}) const;

 private:
  ByteSpan bytes_;
  std::string name_;
  uint32_t version_ = 0;
  std::vector<Section> sections_;
  uint64_t trailing_bytes_ = 0;
};

}  // namespace proofline
