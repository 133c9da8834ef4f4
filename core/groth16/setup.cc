#include "core/groth16/setup.h"

#include <bit>

#include "core/base/text.h"
#include "core/groth16/backend.h"
#include "core/groth16/setup_impl.h"

namespace proofline {

Result<uint32_t> SetupLog2Domain(const R1csView& r1cs) {
  const uint64_t rows = uint64_t{r1cs.n_constraints} + r1cs.n_public() + 1;
  const uint32_t log2 = rows <= 2 ? 1 : static_cast<uint32_t>(std::bit_width(rows - 1));
  // The odd coset needs a root of twice the domain's order, and a view counts the domain in 32 bits.
  const uint32_t largest = r1cs.curve == CurveId::kBn254 ? Bn254FrModulus::kTwoAdicity - 1 : Bls12381FrModulus::kTwoAdicity - 1;
  if (log2 > largest)
    return Status(ErrorCode::kUnsupported, StrCat("a circuit of ", rows, " rows needs a domain of 2^", log2, "; the largest for ",
                                                  CurveJsonName(r1cs.curve), " is 2^", largest));
  return log2;
}

namespace {

Result<KeyShape> ShapeOf(const R1csView& r1cs) {
  if (r1cs.n_wires == 0) return Status(ErrorCode::kInvalidArgument, "the circuit has no wires, not even the constant 1");
  const uint64_t n_public = uint64_t{r1cs.n_pub_out} + r1cs.n_pub_in;
  if (n_public >= r1cs.n_wires)
    return Status(ErrorCode::kInvalidArgument,
                  StrCat("the circuit has ", n_public, " public signals but ", r1cs.n_wires, " wires"));
  KeyShape shape;
  shape.curve = r1cs.curve;
  shape.n_vars = r1cs.n_wires;
  shape.n_public = r1cs.n_public();
  PL_ASSIGN_OR_RETURN(shape.log2_domain, SetupLog2Domain(r1cs));
  shape.coefficient_count = uint64_t{shape.n_public} + 1;
  for (uint32_t i = 0; i < r1cs.n_constraints; ++i) {
    const R1csConstraint c = r1cs.constraint(i);
    shape.coefficient_count += uint64_t{c.a.count} + c.b.count;
  }
  if (shape.coefficient_count > UINT32_MAX)
    return Status(ErrorCode::kUnsupported, StrCat("the circuit has ", shape.coefficient_count,
                                                  " coefficients in A and B; a key counts them in 32 bits"));
  return shape;
}

}  // namespace

Status GenerateKey(const R1csView& r1cs, std::string_view seed, KeySink& sink, const SetupProgress& progress) {
  PL_ASSIGN_OR_RETURN(KeyShape shape, ShapeOf(r1cs));
  const bool adx = GetBackend(r1cs.curve).path() == ArithPath::kAdx;
  try {
    if (r1cs.curve == CurveId::kBn254)
      return adx ? GenerateKeyFor<Bn254<AdxArith>>(r1cs, shape, seed, sink, progress)
                 : GenerateKeyFor<Bn254<PortableArith>>(r1cs, shape, seed, sink, progress);
    return adx ? GenerateKeyFor<Bls12381<AdxArith>>(r1cs, shape, seed, sink, progress)
               : GenerateKeyFor<Bls12381<PortableArith>>(r1cs, shape, seed, sink, progress);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResource, StrCat("not enough memory to make a key for ", shape.n_vars, " wires"), "",
                  "free memory or use a smaller circuit");
  }
}

}  // namespace proofline
