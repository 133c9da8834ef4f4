#include "core/groth16/point_bytes.h"

#include <algorithm>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/curve/curve.h"
#include "core/field/sqrt.h"
#include "core/groth16/backend.h"
#include "core/groth16/convert.h"
#include "core/groth16/first_bad.h"

namespace proofline {
namespace {

constexpr uint8_t kCompressedFlag = 0x80, kInfinityFlag = 0x40, kLargerFlag = 0x20, kFlags = 0xe0;
constexpr size_t kFqBytes = 48;

// One coordinate, big-endian, the flags already off its first byte.
template <class M, class Arith>
bool ReadCoordinate(const uint8_t* bytes, uint8_t first_mask, Fp<M, Arith>* out) {
  uint8_t little[kFqBytes];
  std::reverse_copy(bytes, bytes + kFqBytes, little);
  little[kFqBytes - 1] &= first_mask;
  using Fq = Fp<M, Arith>;
  if (!Fq::IsReduced(little)) return false;
  *out = Fq::LoadCanon(little);
  return true;
}
template <class Fq>
bool ReadCoordinate(const uint8_t* bytes, uint8_t first_mask, Fq2<Fq>* out) {
  return ReadCoordinate(bytes, first_mask, &out->c1) && ReadCoordinate(bytes + kFqBytes, 0xff, &out->c0);
}

template <class M, class Arith>
void WriteCoordinate(const Fp<M, Arith>& x, uint8_t* bytes) {
  x.StoreCanon(bytes);
  std::reverse(bytes, bytes + kFqBytes);
}
template <class Fq>
void WriteCoordinate(const Fq2<Fq>& x, uint8_t* bytes) {
  WriteCoordinate(x.c1, bytes);
  WriteCoordinate(x.c0, bytes + kFqBytes);
}

// Is y, of y and -y, the larger one? In Fq2 the coordinate of u decides, where it is not 0.
template <class M, class Arith>
bool IsLarger(const Fp<M, Arith>& y) {
  const Fp<M, Arith> plain = y.ToCanon(), negated = (-y).ToCanon();
  for (int i = Fp<M, Arith>::kLimbs; i-- > 0;)
    if (plain.limbs[i] != negated.limbs[i]) return plain.limbs[i] > negated.limbs[i];
  return false;
}
template <class Fq>
bool IsLarger(const Fq2<Fq>& y) {
  return y.c1.IsZero() ? IsLarger(y.c0) : IsLarger(y.c1);
}

template <class Arith>
struct Codec {
  using Curve = Bls12381<Arith>;

  static typename Curve::G1 Load(const G1Point& plain) {
    typename Curve::G1 p = Curve::G1::Infinity();
    convert_detail::LoadCoordinates<Curve>(plain, &p);
    return p;
  }
  static typename Curve::G2 Load(const G2Point& plain) {
    typename Curve::G2 p = Curve::G2::Infinity();
    convert_detail::LoadCoordinates<Curve>(plain, &p);
    return p;
  }
  template <class Point>
  static bool IsInSubgroup(const Point& p) {
    return p.IsInfinity() || Curve::IsInSubgroup(p);
  }

  static typename Curve::Fq B(const typename Curve::G1&) { return Curve::B1(); }
  static typename Curve::Fq2 B(const typename Curve::G2&) { return Curve::B2(); }

  template <class F>
  static PointFault Decode(const uint8_t* bytes, PointForm form, bool check_curve, Affine<F>* out) {
    *out = Affine<F>::Infinity();
    const uint8_t flags = bytes[0] & kFlags;
    const bool compressed = form == PointForm::kCompressed;
    if (((flags & kCompressedFlag) != 0) != compressed) return PointFault::kFlags;
    const size_t size = compressed ? F::kBytes : 2 * F::kBytes;
    if (flags & kInfinityFlag) {
      const bool clean = !(flags & kLargerFlag) && !(bytes[0] & ~kFlags) && std::all_of(bytes + 1, bytes + size, [](uint8_t b) { return b == 0; });
      return clean ? PointFault::kNone : PointFault::kFlags;
    }
    if (!compressed && flags != 0) return PointFault::kFlags;
    Affine<F> p;
    if (!ReadCoordinate(bytes, static_cast<uint8_t>(~kFlags), &p.x)) return PointFault::kCoordinate;
    if (compressed) {
      if (!SquareRoot(p.x.Square() * p.x + B(p), &p.y)) return PointFault::kOffCurve;
      if (IsLarger(p.y) != ((flags & kLargerFlag) != 0)) p.y = -p.y;
    } else {
      if (!ReadCoordinate(bytes + F::kBytes, 0xff, &p.y)) return PointFault::kCoordinate;
      // (0, 0) is how infinity looks to our arithmetic; here it is only a point off the curve.
      if (p.IsInfinity() || (check_curve && !Curve::IsOnCurve(p))) return PointFault::kOffCurve;
    }
    *out = p;
    return PointFault::kNone;
  }

  template <class F>
  static void Encode(const Affine<F>& p, PointForm form, uint8_t* bytes) {
    const bool compressed = form == PointForm::kCompressed;
    const uint8_t flag = compressed ? kCompressedFlag : 0;
    if (p.IsInfinity()) {
      std::fill_n(bytes, compressed ? F::kBytes : 2 * F::kBytes, 0);
      bytes[0] = flag | kInfinityFlag;
      return;
    }
    WriteCoordinate(p.x, bytes);
    if (!compressed) return WriteCoordinate(p.y, bytes + F::kBytes);
    bytes[0] |= flag | (IsLarger(p.y) ? kLargerFlag : 0);
  }

  template <class Point>
  static PointsVerdict Import(ByteSpan from, PointChecks checks, MutableByteSpan to) {
    const size_t count = from.size() / Point::kBytes;
    auto fault = [&](size_t i, Point* p) {
      PointFault f = Decode(from.data() + i * Point::kBytes, PointForm::kUncompressed, checks != PointChecks::kForm, p);
      if (f != PointFault::kNone) return f;
      if (p->IsInfinity()) return PointFault::kInfinity;
      return checks == PointChecks::kSubgroup && !Curve::IsInSubgroup(*p) ? PointFault::kOffSubgroup : PointFault::kNone;
    };
    const size_t bad = FirstBad(count, checks == PointChecks::kSubgroup ? 64 : 2048, [&](size_t i) {
      Point p;
      if (fault(i, &p) != PointFault::kNone) return false;
      if (!to.empty()) p.Store(to.data() + i * Point::kBytes);
      return true;
    });
    if (bad == count) return {count, PointFault::kNone};
    Point p;
    return {bad, fault(bad, &p)};
  }

  template <class Point>
  static void Export(ByteSpan from, MutableByteSpan to) {
    tbb::parallel_for(tbb::blocked_range<size_t>(0, from.size() / Point::kBytes, 2048), [&](const tbb::blocked_range<size_t>& range) {
      for (size_t i = range.begin(); i < range.end(); ++i)
        Encode(Point::Load(from.data() + i * Point::kBytes), PointForm::kUncompressed, to.data() + i * Point::kBytes);
    });
  }
};

// fn(codec) with the arithmetic that this processor has.
template <class Fn>
auto WithCodec(const Fn& fn) {
  return GetBackend(CurveId::kBls12381).path() == ArithPath::kAdx ? fn(Codec<AdxArith>()) : fn(Codec<PortableArith>());
}

template <class Plain, class Point, class C>
PointFault DecodePlain(const C& codec, const uint8_t* bytes, PointForm form, Plain* out) {
  Point p;
  const PointFault fault = codec.Decode(bytes, form, true, &p);
  *out = ToPlain(p);
  return fault;
}

}  // namespace

PointFault DecodePoint(const uint8_t* bytes, PointForm form, G1Point* out) {
  return WithCodec([&](auto codec) { return DecodePlain<G1Point, typename decltype(codec)::Curve::G1>(codec, bytes, form, out); });
}
PointFault DecodePoint(const uint8_t* bytes, PointForm form, G2Point* out) {
  return WithCodec([&](auto codec) { return DecodePlain<G2Point, typename decltype(codec)::Curve::G2>(codec, bytes, form, out); });
}

bool IsInSubgroup(const G1Point& point) {
  return WithCodec([&](auto codec) { return codec.IsInSubgroup(codec.Load(point)); });
}
bool IsInSubgroup(const G2Point& point) {
  return WithCodec([&](auto codec) { return codec.IsInSubgroup(codec.Load(point)); });
}

void EncodePoint(const G1Point& point, PointForm form, uint8_t* bytes) {
  WithCodec([&](auto codec) { codec.Encode(codec.Load(point), form, bytes); });
}
void EncodePoint(const G2Point& point, PointForm form, uint8_t* bytes) {
  WithCodec([&](auto codec) { codec.Encode(codec.Load(point), form, bytes); });
}

PointsVerdict ImportPoints(PointGroup group, ByteSpan uncompressed, PointChecks checks, MutableByteSpan to) {
  return WithCodec([&](auto codec) {
    using Curve = typename decltype(codec)::Curve;
    return group == PointGroup::kG1 ? codec.template Import<typename Curve::G1>(uncompressed, checks, to)
                                    : codec.template Import<typename Curve::G2>(uncompressed, checks, to);
  });
}

void ExportPoints(PointGroup group, ByteSpan key_form, MutableByteSpan uncompressed) {
  WithCodec([&](auto codec) {
    using Curve = typename decltype(codec)::Curve;
    return group == PointGroup::kG1 ? codec.template Export<typename Curve::G1>(key_form, uncompressed)
                                    : codec.template Export<typename Curve::G2>(key_form, uncompressed);
  });
}

}  // namespace proofline
