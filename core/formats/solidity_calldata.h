// The arguments of snarkjs's Solidity verifier, as `snarkjs zkey export soliditycalldata` prints them.
#pragma once

#include <span>
#include <string>

#include "core/groth16/types.h"

namespace proofline {

// [a],[[b]],[c],[publics] in quoted hexadecimal of at least 64 digits; G2 coordinates c1 first. The same bytes as snarkjs's
// output, without a new line at the end. A contract exists for BN254 only; other curves are printed as snarkjs prints them.
std::string SolidityCalldata(const Proof& proof, std::span<const FrCanonical> publics);

}  // namespace proofline
