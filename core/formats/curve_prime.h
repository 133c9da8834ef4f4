// Which curve a file belongs to is told by the primes inside it, never by its name.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/base/bytes.h"
#include "core/field/moduli.h"

namespace proofline {

// q and r of a curve, little-endian; q has FqBytes(curve) bytes.
ByteSpan BaseFieldPrime(CurveId curve);
ByteSpan ScalarFieldPrime(CurveId curve);

// nullopt for a prime that is neither curve's.
std::optional<CurveId> CurveOfScalarPrime(ByteSpan little_endian);

// "BN254" or "BLS12-381", for messages; JSON files use CurveJsonName.
std::string_view CurveTitle(CurveId curve);
// snarkjs's names in any case, with or without '-' and '_': bn128, bn254, altbn128; bls12381.
std::optional<CurveId> CurveOfJsonName(std::string_view name);

// True if the value is below the curve's r (32 bytes) or q (FqBytes bytes, any more must be 0).
bool IsBelowR(CurveId curve, const void* value);
bool IsBelowQ(CurveId curve, const void* value);

}  // namespace proofline
