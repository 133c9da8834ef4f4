#include "core/formats/parameter_manifest.h"

#include <algorithm>

#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/formats/json_text.h"

namespace proofline {

using json_text::Json;

namespace {

Result<ParameterDigest> ReadDigest(const Json& value, std::string_view key, std::string_view name) {
  constexpr char kExpected[] = "32 lower-case hexadecimal digits";
  ParameterDigest digest{};
  if (!value.is_string()) return json_text::Wrong(name, key, value, kExpected);
  const std::string& text = value.get_ref<const std::string&>();
  if (text.size() != 2 * digest.size()) return json_text::Wrong(name, key, value, kExpected);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
    if (!digit && !letter) return json_text::Wrong(name, key, value, kExpected);
    digest[i / 2] = static_cast<uint8_t>(digest[i / 2] << 4 | (digit ? c - '0' : c - 'a' + 10));
  }
  return digest;
}

Result<ManifestEntry> ReadEntry(const Json& value, const std::string& file, std::string_view name) {
  if (!value.is_object()) return json_text::Wrong(name, file, value, "an object with cid, digest and sector_size");
  ManifestEntry entry;
  PL_ASSIGN_OR_RETURN(const Json* cid, json_text::Member(value, "cid", name));
  if (!cid->is_string()) return json_text::Wrong(name, StrCat(file, ": cid"), *cid, "a string");
  entry.cid = cid->get<std::string>();
  PL_ASSIGN_OR_RETURN(const Json* digest, json_text::Member(value, "digest", name));
  PL_ASSIGN_OR_RETURN(entry.digest, ReadDigest(*digest, StrCat(file, ": digest"), name));
  PL_ASSIGN_OR_RETURN(const Json* size, json_text::Member(value, "sector_size", name));
  if (!size->is_number_unsigned()) return json_text::Wrong(name, StrCat(file, ": sector_size"), *size, "a number of bytes");
  entry.sector_bytes = size->get<uint64_t>();
  return entry;
}

}  // namespace

Result<ParameterManifest> ParameterManifestFromJson(std::string_view text, std::string_view name) {
  PL_ASSIGN_OR_RETURN(Json root, json_text::Parse(text, name, kMaxManifestBytes));
  if (!root.is_object()) return json_text::Wrong(name, "the document", root, "an object with a member for each file");
  ParameterManifest manifest;
  for (const auto& item : root.items()) {
    PL_ASSIGN_OR_RETURN(ManifestEntry entry, ReadEntry(item.value(), item.key(), name));
    manifest.files.emplace(item.key(), std::move(entry));
  }
  return manifest;
}

Result<Digest512> Blake2bOfFile(const MappedFile& file, const std::function<bool()>& stop) {
  constexpr size_t kPiece = size_t{64} << 20;
  Blake2b512 hash;
  const ByteSpan bytes = file.bytes();
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    if (stop && stop()) return Status(ErrorCode::kCancelled, StrCat(file.name(), ": cancelled while it was hashed"));
    const ByteSpan piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    hash.Update(piece);
    file.DropPages(piece);
  }
  PL_RETURN_IF_ERROR(file.CheckUnchanged());
  return hash.Finish();
}

ParameterDigest ParameterDigestOf(const Digest512& whole) {
  ParameterDigest digest;
  std::copy_n(whole.begin(), digest.size(), digest.begin());
  return digest;
}

std::string ParameterDigestHex(const ParameterDigest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (uint8_t b : digest) {
    out += kDigits[b >> 4];
    out += kDigits[b & 15];
  }
  return out;
}

Status CheckAgainstManifest(const ParameterManifest& manifest, std::string_view path, const ParameterDigest& digest) {
  const std::string_view file = path.substr(path.find_last_of('/') + 1);
  const auto entry = manifest.files.find(file);
  if (entry == manifest.files.end())
    return Status(ErrorCode::kNotFound, StrCat(path, ": is not in the manifest, which names ", manifest.files.size(), " files"), "",
                  "keep the file's published name, or check it without the manifest");
  if (entry->second.digest == digest) return OkStatus();
  return Status(ErrorCode::kMismatch,
                StrCat(path, ": has the digest ", ParameterDigestHex(digest), ", the manifest says ", ParameterDigestHex(entry->second.digest)), "",
                "the file is damaged or another one; fetch it again");
}

}  // namespace proofline
