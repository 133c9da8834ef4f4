// verification_key.json as `snarkjs zkey export verificationkey` writes it.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/groth16/types.h"

namespace proofline {

inline constexpr size_t kMaxVerificationKeyJsonBytes = size_t{128} << 20;

// What Backend::AlphaBeta returns: vk_alphabeta_12 as 2 x 3 x 2 canonical values.
using AlphaBetaValues = std::array<std::array<uint8_t, 48>, 12>;

// The same bytes as snarkjs's file. No new line at the end. A `known_secret_note` that is not empty (printable ASCII) adds a last
// member "proofline_known_secret", which other programs do not look at, so that the fact is not lost with the .zkey.
std::string VerificationKeyToJson(const VerificationKey& vk, const AlphaBetaValues& alpha_beta, std::string_view known_secret_note = {});

// Requires protocol, curve and the points; nPublic must agree with IC. Coordinates below q; whether points are on their curves is
// Backend::CheckVerificationKey's to say. vk_alphabeta_12 is not read: the verifier computes it. `known_secret_note`, if not null, gets
// what the file says about a known secret: empty if nothing.
Result<VerificationKey> VerificationKeyFromJson(std::string_view text, std::string_view name, std::string* known_secret_note = nullptr);

// gamma2 = delta2: the key had no second-phase contribution, and anybody can forge proofs for it.
inline bool IsUnsafe(const VerificationKey& vk) { return vk.gamma2 == vk.delta2; }

}  // namespace proofline
