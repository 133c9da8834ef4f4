// Are the points of a key points? Coordinates below q first, then on the curve, then, where asked, in the subgroup.
//
// On-curve costs four multiplications a point and can be afforded with every proof. The subgroup test costs some 60 doublings (BLS12-381,
// and G2 of BN254; G1 of BN254 is the whole curve): once, when a key is added. Parallel in the caller's arena.
#pragma once

#include "core/groth16/backend.h"
#include "core/groth16/convert.h"
#include "core/groth16/first_bad.h"

namespace proofline {

// One packed point in a key's form. Infinity passes.
template <class Curve, class Point>
PointFault CheckPackedPoint(const uint8_t* bytes, Backend::PointCheck what) {
  using F = typename Point::Field;
  if (!F::IsReduced(bytes) || !F::IsReduced(bytes + F::kBytes)) return PointFault::kCoordinate;
  Point p = Point::Load(bytes);
  if (p.IsInfinity()) return PointFault::kNone;
  if (!Curve::IsOnCurve(p)) return PointFault::kOffCurve;
  if (what == Backend::PointCheck::kSubgroup && !Curve::IsInSubgroup(p)) return PointFault::kOffSubgroup;
  return PointFault::kNone;
}

// All points of a query section. `section` as in "section 5 (A)".
template <class Curve, class Point>
Status CheckQuery(std::string_view section, ByteSpan bytes, Backend::PointCheck what, const Backend::SectionDone& done) {
  size_t count = bytes.size() / Point::kBytes;
  auto fault = [&](size_t i) { return CheckPackedPoint<Curve, Point>(bytes.data() + i * Point::kBytes, what); };
  size_t grain = what == Backend::PointCheck::kSubgroup ? 64 : 2048;
  size_t bad = FirstBad(count, grain, [&](size_t i) { return fault(i) == PointFault::kNone; });
  if (bad == count) {
    done(bytes);
    return OkStatus();
  }
  return Status(ErrorCode::kInvalidFile,
                std::string(section) + ": point " + std::to_string(bad) + " of " + std::to_string(count) + " " +
                    std::string(PointFaultText(fault(bad))),
                "", "the key is damaged; fetch it again and compare its hash with the published one");
}

// A point of the header, which must not be infinity.
template <class Curve, class Point>
Status CheckHeaderPoint(std::string_view name, ByteSpan bytes, Backend::PointCheck what) {
  PointFault fault = CheckPackedPoint<Curve, Point>(bytes.data(), what);
  if (fault == PointFault::kNone && Point::Load(bytes.data()).IsInfinity()) fault = PointFault::kInfinity;
  if (fault == PointFault::kNone) return OkStatus();
  return Status(ErrorCode::kInvalidFile,
                "section 2 (header): " + std::string(name) + " " + std::string(PointFaultText(fault)), "",
                "the key is damaged; fetch it again and compare its hash with the published one");
}

template <class Curve>
Status CheckKeyHeader(const ProvingKeyView& key, Backend::PointCheck what) {
  using G1 = typename Curve::G1;
  using G2 = typename Curve::G2;
  PL_RETURN_IF_ERROR((CheckHeaderPoint<Curve, G1>("alpha1", key.alpha1, what)));
  PL_RETURN_IF_ERROR((CheckHeaderPoint<Curve, G1>("beta1", key.beta1, what)));
  PL_RETURN_IF_ERROR((CheckHeaderPoint<Curve, G2>("beta2", key.beta2, what)));
  PL_RETURN_IF_ERROR((CheckHeaderPoint<Curve, G2>("gamma2", key.gamma2, what)));
  PL_RETURN_IF_ERROR((CheckHeaderPoint<Curve, G1>("delta1", key.delta1, what)));
  return CheckHeaderPoint<Curve, G2>("delta2", key.delta2, what);
}

template <class Curve>
Status CheckKeyPoints(const ProvingKeyView& key, Backend::PointCheck what, const Backend::SectionDone& done) {
  using G1 = typename Curve::G1;
  using G2 = typename Curve::G2;
  PL_RETURN_IF_ERROR(CheckKeyHeader<Curve>(key, what));
  PL_RETURN_IF_ERROR((CheckQuery<Curve, G1>("section 3 (IC)", key.ic, what, done)));
  PL_RETURN_IF_ERROR((CheckQuery<Curve, G1>("section 5 (A)", key.a, what, done)));
  PL_RETURN_IF_ERROR((CheckQuery<Curve, G1>("section 6 (B1)", key.b1, what, done)));
  PL_RETURN_IF_ERROR((CheckQuery<Curve, G2>("section 7 (B2)", key.b2, what, done)));
  PL_RETURN_IF_ERROR((CheckQuery<Curve, G1>("section 8 (C)", key.c, what, done)));
  return CheckQuery<Curve, G1>("section 9 (H)", key.h, what, done);
}

}  // namespace proofline
