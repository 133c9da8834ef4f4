// Writes a section file front to back: each section's length is said before its bytes and held against them.
#pragma once

#include <string>

#include "core/base/file.h"
#include "core/formats/section_file.h"

namespace proofline {

class SectionWriter {
 public:
  SectionWriter() = default;
  // `section_count` sections must follow.
  static Result<SectionWriter> Create(const std::string& path, FileKind kind, uint32_t section_count,
                                      const AtomicFileWriter::Options& options);

  // Ends the section before. kInternal if that one did not get exactly the bytes it announced, or there are too many sections.
  Status Begin(uint32_t type, uint64_t length_bytes);
  Status Append(ByteSpan bytes);
  template <class T>
  Status AppendValue(const T& value) {
    return Append({reinterpret_cast<const uint8_t*>(&value), sizeof(T)});
  }
  // Until here there is no file.
  Status Commit();

 private:
  Status EndSection();

  AtomicFileWriter out_;
  uint32_t sections_left_ = 0;
  uint32_t type_ = 0;
  uint64_t left_bytes_ = 0;
};

}  // namespace proofline
