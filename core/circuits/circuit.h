// A circuit built in memory with one satisfying witness: what the tests, the benches and the quick start prove.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/groth16/r1cs.h"
#include "core/groth16/types.h"

namespace proofline {

// Owns the constraints and the witness. Wires: 0 is the constant 1, then the public outputs, the public inputs, the private inputs,
// the intermediate values (circom's order).
struct Circuit {
  CurveId curve = CurveId::kBn254;
  uint32_t n_pub_out = 0, n_pub_in = 0, n_prv_in = 0;
  std::vector<uint8_t> constraints;  // as in R1csView
  std::vector<uint64_t> offsets;
  std::vector<FrCanonical> values;  // one per wire

  uint32_t n_wires() const { return static_cast<uint32_t>(values.size()); }
  uint32_t n_public() const { return n_pub_out + n_pub_in; }
  uint32_t n_constraints() const { return static_cast<uint32_t>(offsets.size() - 1); }
  // Valid as long as this object is neither changed nor moved.
  R1csView view() const;
  // n_wires() canonical values of 32 bytes.
  ByteSpan witness() const {
    return ByteSpan(reinterpret_cast<const uint8_t*>(values.data()), values.size() * kFrBytes);
  }
};

// The number of the first constraint that the witness breaks, or nullopt. Plain and slow; for tests and small circuits.
std::optional<uint32_t> FirstUnsatisfied(const R1csView& r1cs, ByteSpan witness);

// A chain of hash steps, each of which absorbs a private 64-bit message that it range-checks:
//   state <- P(state + message),  P = `rounds` times x <- (x + c_round)^5
// over Fr (x^5 is a permutation of both fields; the shape is MiMC's: Albrecht et al., ASIACRYPT 2016). Public output: the last
// state; public input: the first. Messages and first state come from SeededStream(seed, "chain inputs"), the round constants from
// SeededStream("proofline chain", "round constants"), both by rejection (core/groth16/sample.h).
struct ChainOptions {
  uint32_t steps = 1;
  // 110 rounds are the ceil(log_5 r) that MiMC's authors ask for, on either curve.
  uint32_t rounds = 110;
  std::string seed = "proofline";
};
Result<Circuit> MakeChainCircuit(CurveId curve, const ChainOptions& options);
// 3 constraints a round, 65 a range check, one for the output.
uint64_t ChainConstraints(const ChainOptions& options);

// SHA-256 (FIPS 180-4) of a private message from `seed`, padded inside the circuit: a witness of almost nothing but zeros and ones. Public
// outputs: the eight words of the digest, most significant first. `rounds` below 64 cuts every compression short, which is not SHA-256
// any more but makes small circuits.
struct Sha256Options {
  uint32_t message_bytes = 64;
  uint32_t rounds = 64;
  std::string seed = "proofline";
};
Result<Circuit> MakeSha256Circuit(CurveId curve, const Sha256Options& options);
// An upper bound; the zeros among the constants (padding, initial state) save a few percent.
uint64_t Sha256ConstraintsAtMost(const Sha256Options& options);
// The message that MakeSha256Circuit hashes: SeededStream(seed, "sha256 message").
Result<std::vector<uint8_t>> Sha256Message(const Sha256Options& options);

// The largest circuit of a kind that fits a domain of 2^log2 points, for benches. kInvalidArgument outside of 10 <= log2 <= 24.
//   kChain: the hash chain above, one wire in six a bit          kBits: SHA-256, nearly every wire a bit
//   kIdentity: no range checks, so nearly every wire full-size: the chain's permutation applied on and on
enum class CircuitKind : uint8_t { kChain, kBits, kIdentity };
struct SizedOptions {
  CircuitKind kind = CircuitKind::kChain;
  int log2 = 16;
  std::string seed = "proofline";
};
Result<Circuit> MakeSizedCircuit(CurveId curve, const SizedOptions& options);
Result<CircuitKind> ParseCircuitKind(std::string_view name);  // "chain", "bits", "identity"

}  // namespace proofline
