#include "core/groth16/result.h"

#include "core/base/text.h"
#include "core/field/fp.h"

namespace proofline {

namespace {

constexpr uint32_t kMagic = 0x31465250;  // "PRF1"
constexpr size_t kHeaderBytes = 16;
constexpr size_t kCoordinateBytes = 48;
constexpr size_t kCoordinates = 8;

Status Bad(std::string text) { return Status(ErrorCode::kInvalidFile, "proved partition: " + text); }

// Each coordinate of the proof in the order of the encoding.
template <class P, class Visit>
void ForEachCoordinate(P& proof, Visit visit) {
  for (auto* c : {&proof.a.x, &proof.a.y, &proof.b.x0, &proof.b.x1, &proof.b.y0, &proof.b.y1, &proof.c.x, &proof.c.y}) visit(*c);
}

template <class FqModulus>
bool IsBelow(const std::array<uint8_t, 48>& coordinate) {
  for (size_t i = Fp<FqModulus>::kBytes; i < coordinate.size(); ++i)
    if (coordinate[i] != 0) return false;
  return Fp<FqModulus>::IsReduced(coordinate.data());
}

}  // namespace

void EncodeResult(const ProvedPartition& result, MutableByteSpan out) {
  StoreLe(out.data(), kMagic);
  StoreLe(out.data() + 4, static_cast<uint32_t>(result.proof.curve));
  StoreLe(out.data() + 8, static_cast<uint32_t>(result.publics.size()));
  StoreLe(out.data() + 12, uint32_t{0});
  uint8_t* at = out.data() + kHeaderBytes;
  ForEachCoordinate(result.proof, [&at](const std::array<uint8_t, 48>& coordinate) {
    std::memcpy(at, coordinate.data(), kCoordinateBytes);
    at += kCoordinateBytes;
  });
  for (const FrCanonical& value : result.publics) {
    std::memcpy(at, value.data(), kFrBytes);
    at += kFrBytes;
  }
}

Result<ProvedPartition> DecodeResult(ByteSpan bytes) {
  if (bytes.size() < ResultBytes(0)) return Bad(StrCat("has ", bytes.size(), " bytes, expected at least ", ResultBytes(0)));
  if (LoadLe<uint32_t>(bytes.data()) != kMagic) return Bad(StrCat("magic is ", LoadLe<uint32_t>(bytes.data()), ", expected ", kMagic));
  uint32_t curve = LoadLe<uint32_t>(&bytes[4]), n_public = LoadLe<uint32_t>(&bytes[8]), reserved = LoadLe<uint32_t>(&bytes[12]);
  if (curve != static_cast<uint32_t>(CurveId::kBn254) && curve != static_cast<uint32_t>(CurveId::kBls12381))
    return Bad(StrCat("curve is ", curve, ", expected 1 or 2"));
  if (reserved != 0) return Bad(StrCat("the reserved word is ", reserved, ", expected 0"));
  if (bytes.size() != ResultBytes(n_public)) return Bad(StrCat("has ", bytes.size(), " bytes, expected ", ResultBytes(n_public)));

  ProvedPartition out;
  out.proof.curve = static_cast<CurveId>(curve);
  const bool bn254 = out.proof.curve == CurveId::kBn254;
  const uint8_t* at = bytes.data() + kHeaderBytes;
  int index = 0, bad = -1;
  ForEachCoordinate(out.proof, [&](std::array<uint8_t, 48>& coordinate) {
    std::memcpy(coordinate.data(), at, kCoordinateBytes);
    at += kCoordinateBytes;
    if (!(bn254 ? IsBelow<Bn254FqModulus>(coordinate) : IsBelow<Bls12381FqModulus>(coordinate)) && bad < 0) bad = index;
    ++index;
  });
  if (bad >= 0) return Bad(StrCat("coordinate ", bad, " of ", kCoordinates, " is not below q"));
  out.publics.resize(n_public);
  for (FrCanonical& value : out.publics) {
    std::memcpy(value.data(), at, kFrBytes);
    at += kFrBytes;
    if (!(bn254 ? Fp<Bn254FrModulus>::IsReduced(value.data()) : Fp<Bls12381FrModulus>::IsReduced(value.data())))
      return Bad(StrCat("public value ", &value - out.publics.data(), " is not below r"));
  }
  return out;
}

}  // namespace proofline
