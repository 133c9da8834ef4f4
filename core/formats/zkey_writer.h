// Writes a .zkey as snarkjs would after a contribution: sections 1 to 10 in order, then ours if the key's secret is known.
#pragma once

#include <array>
#include <string>

#include "core/formats/section_writer.h"
#include "core/groth16/types.h"

namespace proofline {

struct ZkeyShape {
  CurveId curve = CurveId::kBn254;
  uint32_t n_vars = 0, n_public = 0, log2_domain = 0;
  uint32_t coefficient_count = 0;
};

// Everything in the file's form: Montgomery, affine, infinity all zero; coefficients as 44-byte records times R^2.
//
//   auto writer = ZkeyWriter::Create(path, shape, "seed 7");
//   writer->WriteHeader(alpha1, ...);
//   for each of kIc, kCoefficients, kA, kB1, kB2, kC, kH:  writer->BeginSection(type);  writer->Append(...) until it is full
//   writer->Finish(circuit_hash);
//
// The file appears at Finish; before that, and after a failure, there is none.
class ZkeyWriter {
 public:
  // A `known_secret_note` that is not empty marks the key as one whose secret is known and says why (printable ASCII, cut at 256
  // bytes): a section that snarkjs and rapidsnark skip and ReadZkey reports.
  static Result<ZkeyWriter> Create(const std::string& path, const ZkeyShape& shape, const std::string& known_secret_note);

  // One G1 or G2 each. First.
  Status WriteHeader(ByteSpan alpha1, ByteSpan beta1, ByteSpan beta2, ByteSpan gamma2, ByteSpan delta1, ByteSpan delta2);
  // A zkey::k... type; the order above is required (kInternal else). kCoefficients gets its leading count by itself.
  Status BeginSection(uint32_t type);
  Status Append(ByteSpan bytes) { return out_.Append(bytes); }
  // Section 10 with this hash and no contributions, our section, and the rename.
  Status Finish(const std::array<uint8_t, 64>& circuit_hash);

 private:
  SectionWriter out_;
  ZkeyShape shape_;
  std::string note_;
  uint32_t next_ = 0;  // the section that must come next
};

}  // namespace proofline
