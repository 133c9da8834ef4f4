#include "core/groth16/r1cs_match.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <vector>

#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/field/fp.h"
#include "core/groth16/backend.h"
#include "core/groth16/r1cs_check.h"

namespace proofline {

namespace {

// Canonical values below 2^253, which both scalar fields hold.
Result<std::vector<uint8_t>> RandomAssignment(uint32_t n_wires) {
  std::vector<uint8_t> values(size_t{n_wires} * kFrBytes);
  PL_RETURN_IF_ERROR(FillRandom(values));
  for (size_t i = kFrBytes - 1; i < values.size(); i += kFrBytes) values[i] &= 0x1f;
  return values;
}

struct Rows {
  std::vector<uint8_t> a, b;
};

// What the rows behind the constraints must be: the constant and the public signals in A, nothing else.
template <class Fr>
bool IsExtraRow(const R1csView& r1cs, const std::vector<uint8_t>& z, const Rows& rows, uint64_t row) {
  const uint64_t signal = row - r1cs.n_constraints;
  const Fr a = Fr::LoadMont(rows.a.data() + row * kFrBytes);
  const Fr expected = signal <= r1cs.n_public() ? Fr::LoadMont(z.data() + signal * kFrBytes).ToMont() : Fr::Zero();
  return a == expected && Fr::LoadMont(rows.b.data() + row * kFrBytes).IsZero();
}

template <class Fr>
bool IsSameRow(const R1csView& r1cs, const std::vector<uint8_t>& z, const Rows& rows, uint64_t row) {
  if (row >= r1cs.n_constraints) return IsExtraRow<Fr>(r1cs, z, rows, row);
  const ConstraintValues values = EvaluateConstraint(r1cs, static_cast<uint32_t>(row), z);
  return Fr::LoadMont(values.a.data()).ToMont() == Fr::LoadMont(rows.a.data() + row * kFrBytes) &&
         Fr::LoadMont(values.b.data()).ToMont() == Fr::LoadMont(rows.b.data() + row * kFrBytes);
}

template <class Fr>
uint64_t FirstUnlike(const R1csView& r1cs, const std::vector<uint8_t>& z, const Rows& rows, uint64_t domain) {
  using Range = tbb::blocked_range<uint64_t>;
  auto body = [&](const Range& range, uint64_t first) {
    for (uint64_t row = range.begin(); row < range.end() && row < first; ++row)
      if (!IsSameRow<Fr>(r1cs, z, rows, row)) return row;
    return first;
  };
  return tbb::parallel_reduce(Range(0, domain, 2048), UINT64_MAX, body, [](uint64_t x, uint64_t y) { return std::min(x, y); });
}

}  // namespace

Result<std::optional<uint64_t>> FirstRowUnlike(const R1csView& r1cs, const ProvingKeyView& key) {
  if (uint64_t{r1cs.n_constraints} + r1cs.n_public() + 1 > key.domain())
    return Status(ErrorCode::kMismatch, StrCat("the constraint system has ", r1cs.n_constraints, " constraints, more than the key's domain of ", key.domain(), " holds"));
  PL_ASSIGN_OR_RETURN(const std::vector<uint8_t> z, RandomAssignment(r1cs.n_wires));
  Rows rows{std::vector<uint8_t>(key.domain() * kFrBytes), std::vector<uint8_t>(key.domain() * kFrBytes)};
  PL_RETURN_IF_ERROR(GetBackend(key.curve).ComputeRows(key, z, rows.a, rows.b));
  const uint64_t first = key.curve == CurveId::kBn254 ? FirstUnlike<Fp<Bn254FrModulus>>(r1cs, z, rows, key.domain())
                                                      : FirstUnlike<Fp<Bls12381FrModulus>>(r1cs, z, rows, key.domain());
  return first == UINT64_MAX ? std::nullopt : std::optional(first);
}

}  // namespace proofline
