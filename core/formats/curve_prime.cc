#include "core/formats/curve_prime.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "core/field/fp.h"

namespace proofline {

namespace {
template <class M>
ByteSpan Bytes() {
  return {reinterpret_cast<const uint8_t*>(M::kValue.data()), sizeof(M::kValue)};
}
}  // namespace

ByteSpan BaseFieldPrime(CurveId curve) { return curve == CurveId::kBn254 ? Bytes<Bn254FqModulus>() : Bytes<Bls12381FqModulus>(); }
ByteSpan ScalarFieldPrime(CurveId curve) { return curve == CurveId::kBn254 ? Bytes<Bn254FrModulus>() : Bytes<Bls12381FrModulus>(); }

std::optional<CurveId> CurveOfScalarPrime(ByteSpan little_endian) {
  for (CurveId curve : {CurveId::kBn254, CurveId::kBls12381})
    if (std::ranges::equal(little_endian, ScalarFieldPrime(curve))) return curve;
  return std::nullopt;
}

std::string_view CurveTitle(CurveId curve) { return curve == CurveId::kBn254 ? "BN254" : "BLS12-381"; }

std::optional<CurveId> CurveOfJsonName(std::string_view name) {
  std::string plain;
  for (char c : name.substr(0, 32)) {
    if (c == '-' || c == '_') continue;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (plain == "bn128" || plain == "bn254" || plain == "altbn128") return CurveId::kBn254;
  if (plain == "bls12381") return CurveId::kBls12381;
  return std::nullopt;
}

bool IsBelowR(CurveId curve, const void* value) {
  return curve == CurveId::kBn254 ? Fp<Bn254FrModulus>::IsReduced(value) : Fp<Bls12381FrModulus>::IsReduced(value);
}

bool IsBelowQ(CurveId curve, const void* value) {
  return curve == CurveId::kBn254 ? Fp<Bn254FqModulus>::IsReduced(value) : Fp<Bls12381FqModulus>::IsReduced(value);
}

}  // namespace proofline
