// The four prime fields: BN254 (alt_bn128, EIP-197) and BLS12-381 (draft-irtf-cfrg-pairing-friendly-curves), base field Fq and
// scalar field Fr of each. Limbs are 64-bit, least significant first.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace proofline {

enum class CurveId : uint8_t { kBn254 = 1, kBls12381 = 2 };

// The name in JSON files: "bn128" or "bls12381".
constexpr std::string_view CurveJsonName(CurveId id) { return id == CurveId::kBn254 ? "bn128" : "bls12381"; }
constexpr size_t FqBytes(CurveId id) { return id == CurveId::kBn254 ? 32 : 48; }
constexpr size_t kFrBytes = 32;

struct Bn254FqModulus {
  static constexpr int kLimbs = 4;
  static constexpr std::array<uint64_t, 4> kValue = {0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d,
                                                     0x30644e72e131a029};
};

struct Bn254FrModulus {
  static constexpr int kLimbs = 4;
  static constexpr std::array<uint64_t, 4> kValue = {0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d,
                                                     0x30644e72e131a029};
  static constexpr int kTwoAdicity = 28;
  static constexpr uint64_t kNonResidue = 5;  // smallest
};

struct Bls12381FqModulus {
  static constexpr int kLimbs = 6;
  static constexpr std::array<uint64_t, 6> kValue = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                                     0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};
};

struct Bls12381FrModulus {
  static constexpr int kLimbs = 4;
  static constexpr std::array<uint64_t, 4> kValue = {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805,
                                                     0x73eda753299d7d48};
  static constexpr int kTwoAdicity = 32;
  static constexpr uint64_t kNonResidue = 5;
};

}  // namespace proofline
