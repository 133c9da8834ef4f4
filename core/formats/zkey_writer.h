// Writes a .zkey as snarkjs would after a contribution: sections 1 to 10 in order, then ours if the key's secret is known.
#pragma once

#include <array>
#include <string>

#include "core/formats/section_writer.h"
#include "core/groth16/setup.h"

namespace proofline {

// Takes what GenerateKey makes, already in the file's form. The file appears at Finish; before that, and after a failure, there is
// none.
//
//   auto writer = ZkeyWriter::Create(path, "made from a seed");
//   GenerateKey(r1cs, seed, *writer);
//   writer->Finish(circuit_hash);
class ZkeyWriter : public KeySink {
 public:
  // A `known_secret_note` that is not empty marks the key as one whose secret is known and says why (printable ASCII, cut at 256
  // bytes): a section that snarkjs and rapidsnark skip and ReadZkey reports.
  static Result<ZkeyWriter> Create(const std::string& path, const std::string& known_secret_note);

  // kUnsupported for 2^32 coefficients or more: the file counts them in 32 bits.
  Status Begin(const KeyShape& shape) override;
  // kInternal for another order or length than the format has.
  Status BeginSection(Section section, uint64_t bytes) override;
  Status Append(ByteSpan bytes) override { return out_.Append(bytes); }

  // Section 10 with this hash and no contributions, our section, and the rename.
  Status Finish(const std::array<uint8_t, 64>& circuit_hash);

 private:
  Status BeginHeader();
  uint64_t SectionBytes(uint32_t section) const;

  SectionWriter out_;
  KeyShape shape_;
  std::string note_;
  uint32_t next_ = 0;  // the section that must come next
};

}  // namespace proofline
