// Inside core/formats only: bincode 1.x with fixed-width little-endian integers, read with bounds.
#pragma once

#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/base/text.h"

namespace proofline::bincode {

// Goes through bytes once. Every failure names the file, what was being read and the offset.
class Reader {
 public:
  Reader(ByteSpan bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  template <class T>
  Status Integer(T& out, std::string_view what) {
    PL_RETURN_IF_ERROR(Need(sizeof(T), what));
    out = LoadLe<T>(bytes_.data() + at_);
    at_ += sizeof(T);
    return OkStatus();
  }
  Status Bytes(MutableByteSpan out, std::string_view what) {
    PL_RETURN_IF_ERROR(Need(out.size(), what));
    std::memcpy(out.data(), bytes_.data() + at_, out.size());
    at_ += out.size();
    return OkStatus();
  }
  // The length of a vector whose elements take at least `element_bytes` (not 0) each: never more than the rest of the file holds.
  Result<size_t> Length(size_t element_bytes, std::string_view what) {
    uint64_t length = 0;
    PL_RETURN_IF_ERROR(Integer(length, what));
    if (length > (bytes_.size() - at_) / element_bytes)
      return Bad(what, StrCat("has ", length, " elements, more than the remaining ", bytes_.size() - at_, " bytes can hold"));
    return static_cast<size_t>(length);
  }
  Status End() const {
    if (at_ == bytes_.size()) return OkStatus();
    return Bad("the end", StrCat(bytes_.size() - at_, " bytes follow"));
  }
  Status Bad(std::string_view what, std::string_view why) const {
    return Status(ErrorCode::kInvalidFile, StrCat(name_, ": ", what, ": ", why), StrCat("at byte ", at_));
  }

 private:
  Status Need(size_t count, std::string_view what) const {
    if (count <= bytes_.size() - at_) return OkStatus();
    return Bad(what, StrCat("the file ends after ", bytes_.size(), " bytes, ", count, " more are expected here"));
  }

  ByteSpan bytes_;
  std::string_view name_;
  size_t at_ = 0;
};

}  // namespace proofline::bincode
