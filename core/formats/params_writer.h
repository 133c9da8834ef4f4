// Writes a .params file, and on request its .vk and a note beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/groth16/setup.h"

namespace proofline {

// Where the note of a key stands: FILE.note. The format has no room for what it says.
std::string ParamsNotePath(const std::string& params_path);
// The first line of the note beside a .params or .vk, printable ASCII; nothing if there is none. Its presence says that the key's
// secret is known.
std::optional<std::string> ReadParamsNote(const std::string& params_path);

// Takes what GenerateParams makes over BLS12-381. The files appear at Finish; before that, and after a failure, there are none.
class ParamsWriter : public KeySink {
 public:
  // `vk_path` may be empty. A `known_secret_note` that is not empty goes beside both files.
  static Result<ParamsWriter> Create(const std::string& path, const std::string& vk_path, const std::string& known_secret_note);

  // kUnsupported for another curve.
  Status Begin(const KeyShape& shape) override;
  // kInternal for another order of sections than GenerateParams has.
  Status BeginSection(Section section, uint64_t bytes) override;
  Status Append(ByteSpan bytes) override;
  Status Finish();

 private:
  Status Write(ByteSpan bytes);
  Status AppendHeader(ByteSpan bytes);

  AtomicFileWriter params_;
  std::optional<AtomicFileWriter> vk_;
  std::string path_, vk_path_, note_;
  std::vector<uint8_t> header_;  // the six points of the vk, until all are there
  std::vector<uint8_t> piece_;
  Section section_ = kHeaderPoints;
  uint64_t left_bytes_ = 0;
  size_t next_ = 0;
};

}  // namespace proofline
