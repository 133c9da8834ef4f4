// proof.json as snarkjs writes it: pi_a, pi_b, pi_c, protocol, curve.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/groth16/types.h"

namespace proofline {

inline constexpr size_t kMaxProofJsonBytes = size_t{64} << 10;

// The same bytes as snarkjs's file. No new line at the end.
std::string ProofToJson(const Proof& proof);

// Coordinates below q; points may be off their curves (Backend::Verify looks). A file without "curve" or "protocol" is taken to be
// what `expected` says. Without `expected` it must name its curve. Another curve than expected is kMismatch.
Result<Proof> ProofFromJson(std::string_view text, std::string_view name, std::optional<CurveId> expected);

}  // namespace proofline
