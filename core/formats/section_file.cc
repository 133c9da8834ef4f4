#include "core/formats/section_file.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/formats/vkey_json.h"

namespace proofline {

namespace {

constexpr size_t kFileHeaderBytes = 12;
constexpr size_t kSectionHeaderBytes = 12;

struct Magic {
  FileKind kind;
  std::string_view bytes;
  uint32_t version;  // the one understood; 0: not read as a section file
};
constexpr Magic kMagics[] = {
    {FileKind::kZkey, "zkey", 1},
    {FileKind::kWtns, "wtns", 2},
    {FileKind::kR1cs, "r1cs", 1},
    {FileKind::kPtau, "ptau", 1},
    {FileKind::kWasm, std::string_view("\0asm", 4), 0},
};

constexpr char kRemedy[] = "the file is damaged or was not written to its end; make or download it again";

// `want` is the kind's name, or several.
Status WrongKind(ByteSpan bytes, std::string_view name, FileKind found, std::string_view want) {
  if (found == FileKind::kEmpty)
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": is empty, a ", want, " file is expected"), {},
                  want == FileKindName(FileKind::kWtns) ? "make the witness again: a witness calculator leaves an empty file behind when the "
                                                "input breaks an assertion of the circuit"
                                              : "make or download the file again");
  std::string shown;
  for (size_t i = 0; i < std::min<size_t>(4, bytes.size()); ++i)
    shown += bytes[i] >= 0x20 && bytes[i] < 0x7f ? std::string(1, static_cast<char>(bytes[i])) : StrCat("<", bytes[i], ">");
  return Status(ErrorCode::kInvalidFile, StrCat(name, ": is ", FileKindName(found), ", expected ", want),
                StrCat("its first bytes are '", shown, "'"), "check the order of the file names on the command line");
}

// Version and number of sections, of at least kFileHeaderBytes.
Status CheckHeader(ByteSpan bytes, std::string_view name, FileKind kind) {
  const uint32_t version = LoadLe<uint32_t>(&bytes[4]), count = LoadLe<uint32_t>(&bytes[8]);
  if (version != FileVersion(kind))
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": ", FileKindName(kind), " version is ", version, ", expected ", FileVersion(kind)));
  if (count > SectionFile::kMaxSections)
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": has ", count, " sections, expected at most ", SectionFile::kMaxSections), {}, kRemedy);
  return OkStatus();
}

bool IsWhiteSpace(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](uint8_t b) { return b == ' ' || b == '\t' || b == '\r' || b == '\n'; });
}

Result<FileKind> CheckStart(ByteSpan start, const std::string& name, const std::vector<FileKind>& kinds) {
  FileKind found = DetectFileKind(start);
  if (found == FileKind::kEmpty) return found;  // the reader's to refuse
  if (found == FileKind::kUnknown && IsWhiteSpace(start)) found = FileKind::kJson;
  if (std::ranges::find(kinds, found) == kinds.end()) {
    std::string want;
    for (FileKind kind : kinds) want += StrCat(want.empty() ? "" : kind == kinds.back() ? " or " : ", ", FileKindName(kind));
    return WrongKind(start, name, found, want);
  }
  if (FileVersion(found) != 0 && start.size() >= kFileHeaderBytes) PL_RETURN_IF_ERROR(CheckHeader(start, name, found));
  return found;
}

}  // namespace

FileKind DetectFileKind(ByteSpan bytes) {
  if (bytes.empty()) return FileKind::kEmpty;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 4096));
  for (const Magic& m : kMagics)
    if (text.starts_with(m.bytes)) return m.kind;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) return FileKind::kJson;
  return FileKind::kUnknown;
}

std::string_view FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kEmpty: return "empty";
    case FileKind::kZkey: return "zkey";
    case FileKind::kWtns: return "wtns";
    case FileKind::kR1cs: return "r1cs";
    case FileKind::kPtau: return "ptau";
    case FileKind::kWasm: return "wasm";
    case FileKind::kJson: return "json";
    case FileKind::kUnknown: break;
  }
  return "unknown kind of file";
}

uint32_t FileVersion(FileKind kind) {
  for (const Magic& m : kMagics)
    if (m.kind == kind) return m.version;
  return 0;
}

MappedFile::StreamLimit StreamOf(std::vector<FileKind> kinds, uint64_t max_bytes) {
  return [kinds = std::move(kinds), max_bytes](ByteSpan start, const std::string& name) -> Result<uint64_t> {
    PL_ASSIGN_OR_RETURN(const FileKind kind, CheckStart(start, name, kinds));
    return kind == FileKind::kJson ? std::min<uint64_t>(max_bytes, kMaxVerificationKeyJsonBytes) : max_bytes;
  };
}

Result<SectionFile> SectionFile::Parse(ByteSpan bytes, std::string_view name, FileKind kind) {
  FileKind found = DetectFileKind(bytes);
  if (found != kind) return WrongKind(bytes, name, found, FileKindName(kind));
  if (bytes.size() < kFileHeaderBytes)
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": has ", bytes.size(), " bytes, expected at least ", kFileHeaderBytes), {}, kRemedy);

  SectionFile file;
  file.bytes_ = bytes;
  file.name_ = name;
  PL_RETURN_IF_ERROR(CheckHeader(bytes, name, kind));
  file.version_ = LoadLe<uint32_t>(&bytes[4]);
  const uint32_t count = LoadLe<uint32_t>(&bytes[8]);

  uint64_t at = kFileHeaderBytes;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t left = bytes.size() - at;
    if (left < kSectionHeaderBytes)
      return Status(ErrorCode::kInvalidFile, StrCat(name, ": ends within the header of section number ", i + 1, " of ", count),
                    StrCat("offset ", at, ": ", left, " bytes found, ", kSectionHeaderBytes, " expected"), kRemedy);
    Section section{LoadLe<uint32_t>(&bytes[at]), at + kSectionHeaderBytes, LoadLe<uint64_t>(&bytes[at + 4])};
    left -= kSectionHeaderBytes;
    if (section.length_bytes > left)
      return Status(ErrorCode::kInvalidFile,
                    StrCat(name, ": section ", section.type, ": length is ", section.length_bytes, " bytes, but only ", left,
                           " are left in the file"),
                    StrCat("the section's content starts at offset ", section.offset), kRemedy);
    at = section.offset + section.length_bytes;
    file.sections_.push_back(section);
  }
  file.trailing_bytes_ = bytes.size() - at;
  return file;
}

size_t SectionFile::Count(uint32_t type) const {
  return static_cast<size_t>(std::count_if(sections_.begin(), sections_.end(), [type](const Section& s) { return s.type == type; }));
}

Status SectionFile::Bad(uint32_t type, std::string_view what, std::string text, std::string detail, std::string remedy) const {
  return Status(ErrorCode::kInvalidFile, StrCat(name_, ": section ", type, " (", what, "): ", text), std::move(detail), std::move(remedy));
}

Result<ByteSpan> SectionFile::Require(uint32_t type, std::string_view what) const {
  const Section* found = nullptr;
  for (const Section& section : sections_) {
    if (section.type != type) continue;
    if (found)
      return Bad(type, what, "is there more than once, expected once",
                 StrCat("at offsets ", found->offset, " and ", section.offset, ", ", Count(type), " found"));
    found = &section;
  }
  if (!found)
    return Bad(type, what, "is missing", StrCat(sections_.size(), " sections found"),
               "the file is damaged or was not written to its end; make or download it again");
  return Content(*found);
}

Result<ByteSpan> SectionFile::RequireLength(uint32_t type, std::string_view what, uint64_t length_bytes, std::string_view rule) const {
  PL_ASSIGN_OR_RETURN(ByteSpan content, Require(type, what));
  if (content.size() != length_bytes)
    return Bad(type, what, StrCat("length is ", content.size(), " bytes, expected ", length_bytes, " (", rule, ")"));
  return content;
}

}  // namespace proofline
