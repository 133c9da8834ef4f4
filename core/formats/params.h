// bellperson's key files over BLS12-381, as Filecoin uses them: `.params` (a proving key, vk first) and `.vk` (its first part alone). Byte
// tables in README.md.
//
// Neither has a magic, a version or padding: a file is one of these if its counts account for its length to the byte. A .params holds no
// circuit: which variables the points of A and B belong to follows from the circuit's densities.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/groth16/density.h"
#include "core/groth16/point_bytes.h"
#include "core/groth16/types.h"

namespace proofline {

// The vk part where it lies. Points are uncompressed or compressed as `form` says, and unchecked.
struct VkFile {
  PointForm form = PointForm::kUncompressed;
  ByteSpan alpha1, beta1, beta2, gamma2, delta1, delta2;
  ByteSpan ic;
  ByteSpan bytes;  // all of it
  uint32_t n_public() const { return static_cast<uint32_t>(ic.size() / G1FormBytes(form)) - 1; }
};

// A proving key where it lies. Counts agree with each other and with the file's length; points are uncompressed and unchecked.
struct ParamsFile {
  VkFile vk;
  ByteSpan h, l, a, b1, b2;
  uint32_t log2_domain = 0;
  uint32_t n_public() const { return vk.n_public(); }
  uint32_t n_vars() const { return n_public() + 1 + static_cast<uint32_t>(l.size() / 96); }
};

// A whole .vk: bytes behind its last point are refused. The compressed form (432 bytes, then 48 a point) is told by the first byte's flag.
Result<VkFile> ReadVk(ByteSpan bytes, std::string_view name);
// Reads no page but the six that hold counts. Refuses a domain that is no power of two from 2 on, counts of A and B that no circuit of
// this many variables has, B in G1 and G2 of different counts.
Result<ParamsFile> ReadParams(ByteSpan bytes, std::string_view name);

// The vk as verification takes it: points on the curve, none at infinity; subgroups are Backend::CheckVerificationKey's.
Result<VerificationKey> DecodeVk(const VkFile& vk, std::string_view name);

// Looks at every point and names the first bad one. Runs in the caller's TBB arena. `done` is told of each section that will not be read
// again (MappedFile::DropPages).
using ParamsSectionDone = std::function<void(ByteSpan section)>;
Status CheckParamsPoints(const ParamsFile& params, std::string_view name, PointChecks checks, const ParamsSectionDone& done);

// The key as provers use it: points in Montgomery form, densities beside them. As large as the file and two bits a variable.
uint64_t ParamsImageBytes(const ParamsFile& params);
// Decodes into `image` (ParamsImageBytes long), in parallel in the caller's arena, with the checks asked for. The view lies in `image`;
// nothing of the file is used any more. kMismatch if the densities are not of as many variables and points: the
// key is of another circuit.
Result<ProvingKeyView> ImportParams(const ParamsFile& params, std::string_view name, const QueryDensity& density, PointChecks checks,
                                    MutableByteSpan image, const ParamsSectionDone& done);

// An image in memory of its own.
class ParamsKey {
 public:
  // kResource if memory is short.
  static Result<ParamsKey> Load(const ParamsFile& params, std::string_view name, const QueryDensity& density, PointChecks checks);
  const ProvingKeyView& view() const { return view_; }

 private:
  std::unique_ptr<uint8_t[]> image_;
  ProvingKeyView view_;
};

}  // namespace proofline
