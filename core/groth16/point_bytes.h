// Points of BLS12-381 as bytes, in the form of Filecoin's files and of most other users of that curve (draft-irtf-cfrg-pairing-friendly-
// curves, appendix C): big-endian coordinates, in G2 the one of u first, and three flags in the top bits of the first byte.
//
//   0x80 compressed: x alone        0x40 infinity: all other bits are 0        0x20 of the two y, the larger one (compressed only)
//
// Decoding takes one spelling of each point only: every flag that has no meaning must be 0. Whether a point is in the subgroup is asked
// apart, since it costs a hundred times what decoding does.
#pragma once

#include "core/base/bytes.h"
#include "core/groth16/types.h"

namespace proofline {

enum class PointFault : uint8_t;  // core/groth16/convert.h

enum class PointForm : uint8_t { kUncompressed, kCompressed };
constexpr size_t G1FormBytes(PointForm form) { return form == PointForm::kCompressed ? 48 : 96; }
constexpr size_t G2FormBytes(PointForm form) { return 2 * G1FormBytes(form); }

// Reads G1FormBytes / G2FormBytes bytes. kFlags, kCoordinate (not below q), kOffCurve (compressed: no point has this x); kNone for
// infinity, which the point says. The curve's equation is checked in both forms. Compressed points cost a square root, 50 to 100 us.
PointFault DecodePoint(const uint8_t* bytes, PointForm form, G1Point* out);
PointFault DecodePoint(const uint8_t* bytes, PointForm form, G2Point* out);
// Precondition: on the curve. Infinity is in the subgroup.
bool IsInSubgroup(const G1Point& point);
bool IsInSubgroup(const G2Point& point);
// Precondition: coordinates < q, or infinity.
void EncodePoint(const G1Point& point, PointForm form, uint8_t* bytes);
void EncodePoint(const G2Point& point, PointForm form, uint8_t* bytes);

enum class PointGroup : uint8_t { kG1, kG2 };
constexpr size_t KeyPointBytes(PointGroup group) { return group == PointGroup::kG1 ? 96 : 192; }
// The form alone (flags, coordinates < q, no infinity); the curve's equation too; the subgroup too.
enum class PointChecks : uint8_t { kForm, kOnCurve, kSubgroup };

// The first point of many that is at fault, or index = count and kNone.
struct PointsVerdict {
  size_t index = 0;
  PointFault fault{};
};

// Uncompressed points (packed, at any alignment) to the form of ProvingKeyView, which takes as many bytes. Infinity is a fault here. Parallel
// in the caller's TBB arena; `to` may be empty, for a check alone. What lies in `to` after a fault is no use.
PointsVerdict ImportPoints(PointGroup group, ByteSpan uncompressed, PointChecks checks, MutableByteSpan to);
// The other way, for points on the curve. Infinity is written as infinity.
void ExportPoints(PointGroup group, ByteSpan key_form, MutableByteSpan uncompressed);

}  // namespace proofline
