// Between the plain points of types.h and the field arithmetic of one curve. What is loaded here has been checked.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/curve/point.h"
#include "core/groth16/types.h"

namespace proofline {

enum class PointFault : uint8_t { kNone, kCoordinate, kOffCurve, kOffSubgroup, kInfinity, kFlags };

inline std::string_view PointFaultText(PointFault fault) {
  switch (fault) {
    case PointFault::kNone: return "is fine";
    case PointFault::kCoordinate: return "has a coordinate that is not below the field order q";
    case PointFault::kOffCurve: return "is not on the curve";
    case PointFault::kOffSubgroup: return "is on the curve but not in the subgroup of order r";
    case PointFault::kInfinity: return "is the point at infinity";
    case PointFault::kFlags: return "has flags in its first byte that its form does not have";
  }
  return "is wrong";
}

namespace convert_detail {

// Each coordinate of a plain point is 48 bytes of which the field uses the first Fq::kBytes; the rest must be 0.
template <class Fq>
bool IsCoordinate(const std::array<uint8_t, 48>& bytes) {
  for (size_t i = Fq::kBytes; i < bytes.size(); ++i)
    if (bytes[i] != 0) return false;
  return Fq::IsReduced(bytes.data());
}

template <class Curve>
bool LoadCoordinates(const G1Point& in, typename Curve::G1* out) {
  using Fq = typename Curve::Fq;
  if (!IsCoordinate<Fq>(in.x) || !IsCoordinate<Fq>(in.y)) return false;
  *out = {Fq::LoadCanon(in.x.data()), Fq::LoadCanon(in.y.data())};
  return true;
}

template <class Curve>
bool LoadCoordinates(const G2Point& in, typename Curve::G2* out) {
  using Fq = typename Curve::Fq;
  if (!IsCoordinate<Fq>(in.x0) || !IsCoordinate<Fq>(in.x1) || !IsCoordinate<Fq>(in.y0) || !IsCoordinate<Fq>(in.y1)) return false;
  *out = {{Fq::LoadCanon(in.x0.data()), Fq::LoadCanon(in.x1.data())}, {Fq::LoadCanon(in.y0.data()), Fq::LoadCanon(in.y1.data())}};
  return true;
}

}  // namespace convert_detail

// Coordinates < q, on the curve, in the subgroup. Infinity passes (kNone). `Plain` is G1Point or G2Point.
template <class Curve, class Plain, class Point>
PointFault LoadPoint(const Plain& in, Point* out) {
  *out = Point::Infinity();
  Point p;
  if (!convert_detail::LoadCoordinates<Curve>(in, &p)) return PointFault::kCoordinate;
  if (in.infinity) return p.IsInfinity() ? PointFault::kNone : PointFault::kCoordinate;
  // (0, 0) is our infinity, but in a plain point it is only a point that is on neither curve.
  if (p.IsInfinity() || !Curve::IsOnCurve(p)) return PointFault::kOffCurve;
  if (!Curve::IsInSubgroup(p)) return PointFault::kOffSubgroup;
  *out = p;
  return PointFault::kNone;
}

template <class Fq>
G1Point ToPlain(const Affine<Fq>& p) {
  G1Point out;
  out.infinity = p.IsInfinity();
  p.x.StoreCanon(out.x.data());
  p.y.StoreCanon(out.y.data());
  return out;
}

template <class Fq2>
  requires requires(Fq2 x) { x.c0; }
G2Point ToPlain(const Affine<Fq2>& p) {
  G2Point out;
  out.infinity = p.IsInfinity();
  p.x.c0.StoreCanon(out.x0.data());
  p.x.c1.StoreCanon(out.x1.data());
  p.y.c0.StoreCanon(out.y0.data());
  p.y.c1.StoreCanon(out.y1.data());
  return out;
}

}  // namespace proofline
