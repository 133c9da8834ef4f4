#include "core/formats/params_writer.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/groth16/point_bytes.h"

namespace proofline {

namespace {

constexpr KeySink::Section kOrder[] = {KeySink::kHeaderPoints, KeySink::kIc, KeySink::kH, KeySink::kC, KeySink::kA, KeySink::kB1, KeySink::kB2};
constexpr PointGroup kHeaderGroups[] = {PointGroup::kG1, PointGroup::kG1, PointGroup::kG2, PointGroup::kG2, PointGroup::kG1, PointGroup::kG2};
constexpr size_t kHeaderBytes = 864;
constexpr size_t kMaxNoteBytes = 256;

PointGroup GroupOf(KeySink::Section section) { return section == KeySink::kB2 ? PointGroup::kG2 : PointGroup::kG1; }

Status WriteNote(const std::string& path, const std::string& note) {
  return WriteFileAtomically(ParamsNotePath(path), StrCat(note, "\nWhoever knows the secret of this key can forge proofs for it. For tests only.\n"));
}

}  // namespace

std::string ParamsNotePath(const std::string& params_path) { return params_path + ".note"; }

std::optional<std::string> ReadParamsNote(const std::string& params_path) {
  auto file = MappedFile::Open(ParamsNotePath(params_path), {.guarded = true});
  if (!file.ok()) return std::nullopt;
  std::string note;
  for (uint8_t c : file->bytes().first(std::min<size_t>(file->size_bytes(), kMaxNoteBytes))) {
    if (c == '\n') break;
    note += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '?';
  }
  return note;
}

Result<ParamsWriter> ParamsWriter::Create(const std::string& path, const std::string& vk_path, const std::string& known_secret_note) {
  ParamsWriter writer;
  writer.path_ = path;
  writer.vk_path_ = vk_path;
  writer.note_ = known_secret_note.substr(0, kMaxNoteBytes);
  PL_ASSIGN_OR_RETURN(writer.params_, AtomicFileWriter::Create(path));
  if (!vk_path.empty()) {
    PL_ASSIGN_OR_RETURN(writer.vk_, AtomicFileWriter::Create(vk_path));
  }
  return writer;
}

Status ParamsWriter::Begin(const KeyShape& shape) {
  if (shape.curve == CurveId::kBls12381) return OkStatus();
  return Status(ErrorCode::kUnsupported, StrCat(path_, ": a .params file is over BLS12-381, the circuit is over ", CurveJsonName(shape.curve)));
}

Status ParamsWriter::Write(ByteSpan bytes) {
  PL_RETURN_IF_ERROR(params_.Write(bytes));
  const bool in_vk = section_ == kHeaderPoints || section_ == kIc;
  return vk_ && in_vk ? vk_->Write(bytes) : OkStatus();
}

Status ParamsWriter::BeginSection(Section section, uint64_t bytes) {
  if (left_bytes_ != 0 || next_ == std::size(kOrder) || section != kOrder[next_])
    return Status(ErrorCode::kInternal, StrCat("params writer: section ", uint32_t{section}, " begun with ", left_bytes_, " bytes of another missing"));
  ++next_;
  section_ = section;
  left_bytes_ = bytes;
  if (section == kHeaderPoints) return OkStatus();
  const uint64_t count = bytes / KeyPointBytes(GroupOf(section));
  if (count > UINT32_MAX) return Status(ErrorCode::kUnsupported, StrCat(path_, ": a section of ", count, " points; a .params counts them in 32 bits"));
  const uint32_t big_endian = __builtin_bswap32(static_cast<uint32_t>(count));
  return Write({reinterpret_cast<const uint8_t*>(&big_endian), 4});
}

Status ParamsWriter::AppendHeader(ByteSpan bytes) {
  header_.insert(header_.end(), bytes.begin(), bytes.end());
  if (header_.size() < kHeaderBytes) return OkStatus();
  std::vector<uint8_t> out(kHeaderBytes);
  size_t at = 0;
  for (PointGroup group : kHeaderGroups) {
    const size_t size = KeyPointBytes(group);
    ExportPoints(group, ByteSpan(header_).subspan(at, size), MutableByteSpan(out).subspan(at, size));
    at += size;
  }
  return Write(out);
}

Status ParamsWriter::Append(ByteSpan bytes) {
  if (bytes.size() > left_bytes_) return Status(ErrorCode::kInternal, "params writer: more bytes than the section announced");
  left_bytes_ -= bytes.size();
  if (section_ == kHeaderPoints) return AppendHeader(bytes);
  piece_.resize(bytes.size());
  ExportPoints(GroupOf(section_), bytes, piece_);
  return Write(piece_);
}

Status ParamsWriter::Finish() {
  if (left_bytes_ != 0 || next_ != std::size(kOrder)) return Status(ErrorCode::kInternal, StrCat("params writer: finished after ", next_, " sections"));
  // The notes first: a key whose secret is known is never there without one.
  if (!note_.empty()) {
    PL_RETURN_IF_ERROR(WriteNote(path_, note_));
    if (vk_) PL_RETURN_IF_ERROR(WriteNote(vk_path_, note_));
  }
  PL_RETURN_IF_ERROR(params_.Commit());
  return vk_ ? vk_->Commit() : OkStatus();
}

}  // namespace proofline
