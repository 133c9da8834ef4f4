// Key generation from a constraint system and a seed, in the form of snarkjs's keys or of bellperson's (README.md has the equations).
//
// For tests and benches. Whoever knows the seed can forge proofs for the key; whoever stores it marks it as such (a flag in the file,
// and programs warn). Real keys come from a ceremony.
#pragma once

#include <functional>
#include <string_view>

#include "core/base/status.h"
#include "core/groth16/constraint_source.h"
#include "core/groth16/r1cs.h"
#include "core/groth16/types.h"

namespace proofline {

// Counts of the key to come.
struct KeyShape {
  CurveId curve = CurveId::kBn254;
  uint32_t n_vars = 0, n_public = 0, log2_domain = 0;
  uint64_t coefficient_count = 0;
};

// Where a key's parts go. The numbers are the section types of a .zkey.
class KeySink {
 public:
  enum Section : uint32_t { kHeaderPoints = 2, kIc = 3, kCoefficients = 4, kA = 5, kB1 = 6, kB2 = 7, kC = 8, kH = 9 };

  virtual ~KeySink() = default;
  // First of all, once.
  virtual Status Begin(const KeyShape& shape) = 0;
  // Then each section of the key's form, one at a time; Append calls that make up exactly `bytes` bytes follow. All is packed as in
  // ProvingKeyView; kHeaderPoints is alpha1, beta1, beta2, gamma2, delta1, delta2. GenerateKey keeps the order of the numbers,
  // GenerateParams that of a .params: kHeaderPoints, kIc, kH, kC, kA, kB1, kB2, and no coefficients.
  virtual Status BeginSection(Section section, uint64_t bytes) = 0;
  virtual Status Append(ByteSpan bytes) = 0;
};

// The smallest domain that holds all rows, 2 at least: log2 of max(2, n_constraints + n_public + 1). kUnsupported if the curve has
// no domain of that size (2^27 for BN254 and 2^31 for BLS12-381 are the largest whose odd coset exists).
Result<uint32_t> SetupLog2Domain(const R1csView& r1cs);

// `done` of `total` steps (points multiplied); called from the calling thread.
using SetupProgress = std::function<void(uint64_t done, uint64_t total)>;

// The same seed and system give the same key, byte for byte. Parallel in the caller's TBB arena. Memory: three field elements a wire,
// one a constraint, and pieces of sections. kInvalidArgument for a system without the constant wire or with more public signals
// than wires; failures of the sink are passed up.
Status GenerateKey(const R1csView& r1cs, std::string_view seed, KeySink& sink, const SetupProgress& progress = {});


// The secret of a key in bellperson's form; each value in [1, r).
struct ToxicWaste {
  FrCanonical alpha{}, beta{}, gamma{}, delta{}, tau{};
};
// Value NAME is SHA-256(seed | "toxic/NAME") as a little-endian number with its two top bits cleared.
ToxicWaste ToxicWasteOf(std::string_view seed);

// A key of bellperson's form: gamma of its own, H in the monomial basis, no points for variables that A or B leave out, one row for each
// input after the constraints. The points follow from circuit and secret alone. kInvalidArgument for a variable in no constraint (it
// would have no point in L or IC), for values that are 0 or not < r, and for a tau in the domain. Cost and memory as GenerateKey.
Status GenerateParams(const ConstraintSource& source, const ToxicWaste& secret, KeySink& sink, const SetupProgress& progress = {});

}  // namespace proofline
