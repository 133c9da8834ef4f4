#include "core/circuits/circuit.h"

#include <algorithm>

#include "core/field/fp.h"

namespace proofline {

namespace {

template <class FrModulus>
std::optional<uint32_t> FirstUnsatisfiedIn(const R1csView& r1cs, ByteSpan witness) {
  using Fr = Fp<FrModulus>;
  auto evaluate = [&](const LinearCombination& lc) {
    Fr sum = Fr::Zero();
    for (uint32_t j = 0; j < lc.count; ++j)
      sum += Fr::LoadCanon(lc.coefficient(j)) * Fr::LoadCanon(witness.data() + size_t{lc.wire(j)} * kFrBytes);
    return sum;
  };
  for (uint32_t i = 0; i < r1cs.n_constraints; ++i) {
    R1csConstraint c = r1cs.constraint(i);
    if (!(evaluate(c.a) * evaluate(c.b) == evaluate(c.c))) return i;
  }
  return std::nullopt;
}

// The largest `count` >= 1 with constraints(count) <= limit, for a growing function. 0 if even one is too many.
template <class Fn>
uint32_t LargestFitting(uint64_t limit, Fn constraints) {
  uint32_t count = 0;
  for (uint32_t step = uint32_t{1} << 24; step != 0; step /= 2)
    if (constraints(count + step) <= limit) count += step;
  return count;
}

Result<Circuit> MakeSizedSha256(CurveId curve, const SizedOptions& options, uint64_t domain) {
  constexpr uint64_t kPublicRows = 8 + 1;
  Sha256Options sha{.message_bytes = 0, .rounds = 64, .seed = options.seed};
  auto at_most = [&](uint32_t message_bytes, uint32_t rounds) {
    return Sha256ConstraintsAtMost({.message_bytes = message_bytes, .rounds = rounds, .seed = {}});
  };
  uint32_t blocks = LargestFitting(domain - kPublicRows, [&](uint32_t n) { return at_most(n * 64 - 9, 64); });
  if (blocks > 0) {
    sha.message_bytes = blocks * 64 - 9;
  } else {
    sha.message_bytes = 16;
    sha.rounds = std::min(64u, LargestFitting(domain - kPublicRows, [&](uint32_t n) { return at_most(16, n); }));
  }
  return MakeSha256Circuit(curve, sha);
}

}  // namespace

R1csView Circuit::view() const {
  R1csView v;
  v.curve = curve;
  v.n_wires = n_wires();
  v.n_pub_out = n_pub_out;
  v.n_pub_in = n_pub_in;
  v.n_prv_in = n_prv_in;
  v.n_constraints = n_constraints();
  v.constraints = constraints;
  v.offsets = offsets;
  return v;
}

std::optional<uint32_t> FirstUnsatisfied(const R1csView& r1cs, ByteSpan witness) {
  return r1cs.curve == CurveId::kBn254 ? FirstUnsatisfiedIn<Bn254FrModulus>(r1cs, witness)
                                       : FirstUnsatisfiedIn<Bls12381FrModulus>(r1cs, witness);
}

Result<Circuit> MakeSizedCircuit(CurveId curve, const SizedOptions& options) {
  if (options.log2 < 10 || options.log2 > 24)
    return Status(ErrorCode::kInvalidArgument, "cannot make a circuit of 2^" + std::to_string(options.log2) + " constraints", "",
                  "give a size between 2^10 and 2^24");
  uint64_t domain = uint64_t{1} << options.log2;
  constexpr uint64_t kPublicRows = 2 + 1;
  ChainOptions chain{.steps = 1, .rounds = 110, .seed = options.seed};
  switch (options.kind) {
    case CircuitKind::kBits:
      return MakeSizedSha256(curve, options, domain);
    case CircuitKind::kChain:
      chain.steps = LargestFitting(domain - kPublicRows, [&](uint32_t n) { return ChainConstraints({n, chain.rounds, {}}); });
      break;
    case CircuitKind::kIdentity:
      chain.rounds = LargestFitting(domain - kPublicRows, [&](uint32_t n) { return ChainConstraints({1, n, {}}); });
      break;
  }
  return MakeChainCircuit(curve, chain);
}

Result<CircuitKind> ParseCircuitKind(std::string_view name) {
  if (name == "chain") return CircuitKind::kChain;
  if (name == "bits") return CircuitKind::kBits;
  if (name == "identity") return CircuitKind::kIdentity;
  return Status(ErrorCode::kInvalidArgument, "unknown kind of circuit: '" + std::string(name) + "'", "",
                "give chain, bits or identity");
}

}  // namespace proofline
