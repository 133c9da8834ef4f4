// A constraint system as a sequence of rows, for what passes over it once: key generation in bellperson's form, its densities, the rows of a
// witness. Circuits that are written as programs (core/circuits/filecoin) give their rows as they synthesize them, so none of this needs
// the whole matrix.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "core/groth16/density.h"
#include "core/groth16/r1cs.h"
#include "core/groth16/types.h"

namespace proofline {

// Variables are those of a witness: 0 the constant 1, then the public inputs, then the auxiliary ones.
struct ConstraintTerm {
  uint32_t variable = 0;
  std::array<uint64_t, 4> coefficient{};  // Montgomery, < r, not 0
};

// One row: A(z) B(z) = C(z). No variable occurs twice in a list.
struct ConstraintRow {
  std::span<const ConstraintTerm> a, b, c;
};

class ConstraintSource {
 public:
  struct Shape {
    CurveId curve = CurveId::kBls12381;
    uint32_t n_vars = 0;    // the constant 1 counts
    uint32_t n_public = 0;  // the constant 1 does not
    uint64_t n_constraints = 0;
  };
  using RowFn = std::function<void(const ConstraintRow&)>;

  virtual ~ConstraintSource() = default;
  virtual const Shape& shape() const = 0;
  // Every row in order, the same each time; the spans are valid during the call.
  virtual void ForEachRow(const RowFn& fn) const = 0;
};

// The rows of an .r1cs file or of a circuit in memory. The view's owner outlives this.
class R1csSource : public ConstraintSource {
 public:
  explicit R1csSource(const R1csView& r1cs);
  const Shape& shape() const override { return shape_; }
  void ForEachRow(const RowFn& fn) const override;

 private:
  const R1csView& r1cs_;
  Shape shape_;
};

// Which variables have points in a key of this circuit; see QueryDensity.
QueryDensity DensityOf(const ConstraintSource& source);

// A.z and B.z over a domain, the rows that follow the constraints (A = input i, B = 0) included: what Backend::ComputeRows gives for keys
// that hold their circuit. `witness` has n_vars canonical values < r; the spans are 32 bytes for each point of the domain, which is
// large enough. In the calling thread.
void ComputeSourceRows(const ConstraintSource& source, ByteSpan witness, MutableByteSpan rows_a, MutableByteSpan rows_b);

}  // namespace proofline
