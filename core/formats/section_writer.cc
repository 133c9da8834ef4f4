#include "core/formats/section_writer.h"

#include "core/base/text.h"

namespace proofline {

namespace {
Status Misuse(const std::string& path, std::string text) { return Status(ErrorCode::kInternal, StrCat(path, ": ", text)); }
}  // namespace

Result<SectionWriter> SectionWriter::Create(const std::string& path, FileKind kind, uint32_t section_count,
                                            const AtomicFileWriter::Options& options) {
  SectionWriter writer;
  PL_ASSIGN_OR_RETURN(writer.out_, AtomicFileWriter::Create(path, options));
  writer.sections_left_ = section_count;
  PL_RETURN_IF_ERROR(writer.out_.Write(FileKindName(kind)));
  uint32_t head[2] = {FileVersion(kind), section_count};
  PL_RETURN_IF_ERROR(writer.out_.Write(ByteSpan(reinterpret_cast<const uint8_t*>(head), sizeof(head))));
  return writer;
}

Status SectionWriter::EndSection() {
  if (left_bytes_ == 0) return OkStatus();
  return Misuse(out_.path(), StrCat("section ", type_, " was ended with ", left_bytes_, " bytes to go"));
}

Status SectionWriter::Begin(uint32_t type, uint64_t length_bytes) {
  PL_RETURN_IF_ERROR(EndSection());
  if (sections_left_ == 0) return Misuse(out_.path(), StrCat("section ", type, " is one too many"));
  --sections_left_;
  type_ = type;
  left_bytes_ = length_bytes;
  uint8_t head[12];
  StoreLe(head, type);
  StoreLe(head + 4, length_bytes);
  return out_.Write(ByteSpan(head, sizeof(head)));
}

Status SectionWriter::Append(ByteSpan bytes) {
  if (bytes.size() > left_bytes_)
    return Misuse(out_.path(), StrCat("section ", type_, " gets ", bytes.size(), " bytes, ", left_bytes_, " are left in it"));
  left_bytes_ -= bytes.size();
  return out_.Write(bytes);
}

Status SectionWriter::Commit() {
  PL_RETURN_IF_ERROR(EndSection());
  if (sections_left_ != 0) return Misuse(out_.path(), StrCat(sections_left_, " sections were not written"));
  return out_.Commit();
}

}  // namespace proofline
