// .wtns version 2: a witness as circom's calculators write it.
#pragma once

#include <string_view>

#include "core/formats/section_file.h"
#include "core/groth16/types.h"

namespace proofline {

// A witness where it lies. `values`: count canonical values of 32 bytes, little-endian, in the order constant 1, public
// signals, private ones. That each is < r and the first is 1 is Backend::CheckWitness's to check. Secret.
struct WtnsView {
  CurveId curve = CurveId::kBn254;
  uint32_t count = 0;
  ByteSpan values;
  uint64_t values_offset = 0;  // of `values` in the file, for MappedFile::CopyOut
  SectionFile sections;
};

// Checks container, n8, prime, count and lengths; touches no page of the values.
Result<WtnsView> ReadWtns(ByteSpan bytes, std::string_view name);

// For MappedFile::Options: a stream that is read to its end only if it starts as a .wtns, and is not longer than one of `n_vars` values.
MappedFile::StreamLimit WitnessStream(uint64_t n_vars);

// kMismatch unless curve and count are those of the key.
Status CheckWitnessFitsKey(const WtnsView& witness, std::string_view witness_name, const ProvingKeyView& key, std::string_view key_name);

// The same for a constraint system: n_vars is the key's nVars or the system's nWires, `other_name` the file it comes from.
Status CheckWitnessFits(const WtnsView& witness, std::string_view witness_name, CurveId curve, uint32_t n_vars, std::string_view other_name);

}  // namespace proofline
