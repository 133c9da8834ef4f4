#include "core/curve/pairing.h"

#include <array>
#include <vector>

namespace proofline {
namespace {

// The non-adjacent form of a loop count, most significant digit first.
struct SignedDigits {
  std::array<int8_t, 68> digit{};
  int count = 0;
};

constexpr SignedDigits NonAdjacentForm(uint128 n) {
  std::array<int8_t, 68> low_first{};
  int count = 0;
  for (; n != 0; n >>= 1, ++count) {
    if ((n & 1) == 0) continue;
    low_first[count] = (n & 2) ? -1 : 1;
    n -= (n & 2) ? uint128(0) - 1 : uint128(1);
  }
  SignedDigits out;
  out.count = count;
  for (int i = 0; i < count; ++i) out.digit[i] = low_first[count - 1 - i];
  return out;
}

// A line through points of the twist with slope `slope`, at `constant` = slope * x - y of a point on it.
template <class F2>
struct Line {
  F2 slope, constant;
};

// f times the line at P, which is given as (-xP/yP, 1/yP). Untwisting sends (x, y) to (x w^2, y w^3) on BN254 (twist of type D) and to
// (x / w^2, y / w^3) on BLS12-381 (type M); there the line is scaled by w^3, which the final exponentiation maps to 1.
template <class Arith>
void MulByLine(Gt<Bn254<Arith>>& f, const Line<typename Bn254<Arith>::Fq2>& line, const typename Bn254<Arith>::G1& p) {
  // 1 - slope (xP/yP) w + constant (1/yP) w^3
  auto b0 = line.slope.Scale(p.x), b1 = line.constant.Scale(p.y);
  auto f1 = f.c1.MulBy01(b0, b1).MulByV();
  f.c1 = f.c1 + f.c0.MulBy01(b0, b1);
  f.c0 = f.c0 + f1;
}
template <class Arith>
void MulByLine(Gt<Bls12381<Arith>>& f, const Line<typename Bls12381<Arith>::Fq2>& line,
               const typename Bls12381<Arith>::G1& p) {
  // constant (1/yP) - slope (xP/yP) w^2 + w^3
  auto b0 = line.constant.Scale(p.y), b1 = line.slope.Scale(p.x);
  auto f0 = f.c0.MulBy01(b0, b1) + f.c1.MulByV().MulByV();
  f.c1 = f.c1.MulBy01(b0, b1) + f.c0.MulByV();
  f.c0 = f0;
}

// The running points T of all pairs of a product and the lines of one step.
template <class Curve>
class MillerState {
 public:
  using Fq = typename Curve::Fq;
  using Fq2 = typename Curve::Fq2;
  using G2 = typename Curve::G2;

  explicit MillerState(std::span<const G1G2Pair<Curve>> pairs) {
    for (const auto& pair : pairs) {
      if (pair.p.IsInfinity() || pair.q.IsInfinity()) continue;
      p_.push_back(pair.p);
      q_.push_back(pair.q);
    }
    t_ = q_;
    denominators_.resize(p_.size());
    scratch_.resize(p_.size());
    ScaleG1();
  }
  size_t size() const { return p_.size(); }
  const std::vector<G2>& q() const { return q_; }

  // f *= tangents at T; T = 2T.
  void DoubleStep(Gt<Curve>& f) {
    for (size_t i = 0; i < size(); ++i) denominators_[i] = t_[i].y.Double();
    BatchInvert(std::span<Fq2>(denominators_), std::span<Fq2>(scratch_));
    for (size_t i = 0; i < size(); ++i) {
      Fq2 xx = t_[i].x.Square();
      Apply(f, i, (xx.Double() + xx) * denominators_[i], t_[i].x);
    }
  }
  // f *= lines through T and `other`; T += other. One point a pair.
  void AddStep(Gt<Curve>& f, std::span<const G2> other) {
    for (size_t i = 0; i < size(); ++i) denominators_[i] = other[i].x - t_[i].x;
    BatchInvert(std::span<Fq2>(denominators_), std::span<Fq2>(scratch_));
    for (size_t i = 0; i < size(); ++i) Apply(f, i, (other[i].y - t_[i].y) * denominators_[i], other[i].x);
  }
  // The same with +-Q.
  void AddQ(Gt<Curve>& f, bool negative) {
    if (!negative) return AddStep(f, q_);
    std::vector<G2> minus_q = q_;
    for (G2& q : minus_q) q = -q;
    AddStep(f, minus_q);
  }

 private:
  // P becomes (-x/y, 1/y), which is all that lines need. No point of these curves has y = 0: their groups have odd order.
  void ScaleG1() {
    std::vector<Fq> y(size()), scratch(size());
    for (size_t i = 0; i < size(); ++i) y[i] = p_[i].y;
    BatchInvert(std::span<Fq>(y), std::span<Fq>(scratch));
    for (size_t i = 0; i < size(); ++i) p_[i] = {-(p_[i].x * y[i]), y[i]};
  }
  // The chord of this slope through T and a point with x = other_x: multiplies it into f and moves T to the sum.
  void Apply(Gt<Curve>& f, size_t i, const Fq2& slope, const Fq2& other_x) {
    G2& t = t_[i];
    Line<Fq2> line{slope, slope * t.x - t.y};
    Fq2 x3 = slope.Square() - t.x - other_x;
    t = {x3, -(slope * x3 - line.constant)};
    MulByLine<typename Curve::Arith>(f, line, p_[i]);
  }

  std::vector<typename Curve::G1> p_;
  std::vector<G2> q_, t_;
  std::vector<Fq2> denominators_, scratch_;
};

template <class Curve>
Gt<Curve> MillerLoopOver(MillerState<Curve>& state, const SignedDigits& digits) {
  Gt<Curve> f = Gt<Curve>::One();
  for (int i = 1; i < digits.count; ++i) {
    f = f.Square();
    state.DoubleStep(f);
    if (digits.digit[i] != 0) state.AddQ(f, digits.digit[i] < 0);
  }
  return f;
}

template <class Arith>
Gt<Bn254<Arith>> MillerLoop(std::type_identity<Bn254<Arith>>, std::span<const G1G2Pair<Bn254<Arith>>> pairs) {
  using Curve = Bn254<Arith>;
  constexpr SignedDigits kDigits = NonAdjacentForm(uint128{6} * Curve::kX + 2);
  MillerState<Curve> state(pairs);
  Gt<Curve> f = MillerLoopOver(state, kDigits);
  // The lines through T, psi(Q) and T + psi(Q), -psi^2(Q).
  std::vector<typename Curve::G2> image = state.q();
  for (auto& q : image) q = Curve::PsiMap()(q);
  state.AddStep(f, image);
  for (auto& q : image) q = -Curve::PsiMap()(q);
  state.AddStep(f, image);
  return f;
}

template <class Arith>
Gt<Bls12381<Arith>> MillerLoop(std::type_identity<Bls12381<Arith>>,
                               std::span<const G1G2Pair<Bls12381<Arith>>> pairs) {
  using Curve = Bls12381<Arith>;
  constexpr SignedDigits kDigits = NonAdjacentForm(Curve::kAbsZ);
  MillerState<Curve> state(pairs);
  // z is negative: the inverse, which is the conjugate after the final exponentiation.
  return MillerLoopOver(state, kDigits).Conjugate();
}

// f^(q^4 - q^2 + 1)/r times 2x (6x^2 + 3x + 1): with l0 = 1 + 6x + 12x^2 + 12x^3, l1 = l2 - 2x, l2 = 6x + 6x^2 + 12x^3, l3 = l1 - 1, the
// exponent is l0 + l1 q + l2 q^2 + l3 q^3.
template <class Arith>
Gt<Bn254<Arith>> HardPart(std::type_identity<Bn254<Arith>>, const Gt<Bn254<Arith>>& f) {
  constexpr uint64_t x = Bn254<Arith>::kX;
  auto f_2x = f.CyclotomicPow(x).CyclotomicSquare();
  auto f_6x = f_2x.CyclotomicSquare() * f_2x;
  auto f_6xx = f_6x.CyclotomicPow(x);
  auto f_12xxx = f_6xx.CyclotomicSquare().CyclotomicPow(x);
  auto l2 = f_12xxx * f_6xx * f_6x;
  auto l1 = l2 * f_2x.Conjugate();
  auto l0 = l2 * f_6xx * f;
  auto l3 = l1 * f.Conjugate();
  return l0 * l1.Frobenius() * l2.Frobenius().Frobenius() * l3.Frobenius().Frobenius().Frobenius();
}

// f^(q^4 - q^2 + 1)/r times 3: the exponent is (z - 1)^2 (z + q) (z^2 + q^2 - 1) + 3, with z = -|z|.
template <class Arith>
Gt<Bls12381<Arith>> HardPart(std::type_identity<Bls12381<Arith>>, const Gt<Bls12381<Arith>>& f) {
  constexpr uint64_t abs_z = Bls12381<Arith>::kAbsZ;
  auto power_z = [](const auto& g) { return g.CyclotomicPow(abs_z).Conjugate(); };
  auto a = power_z(f) * f.Conjugate();
  a = power_z(a) * a.Conjugate();
  a = power_z(a) * a.Frobenius();
  a = power_z(power_z(a)) * a.Frobenius().Frobenius() * a.Conjugate();
  return a * f.CyclotomicSquare() * f;
}

}  // namespace

template <class Curve>
Gt<Curve> MultiMillerLoop(std::span<const G1G2Pair<Curve>> pairs) {
  return MillerLoop(std::type_identity<Curve>(), pairs);
}

template <class Curve>
Gt<Curve> FinalExponentiation(const Gt<Curve>& f) {
  // f^((q^6 - 1)(q^2 + 1))
  Gt<Curve> g = f.Conjugate() * f.Inverse();
  g = g.Frobenius().Frobenius() * g;
  return HardPart(std::type_identity<Curve>(), g);
}

template <class Curve>
bool PairingProductIsOne(std::span<const G1G2Pair<Curve>> pairs) {
  return FinalExponentiation<Curve>(MultiMillerLoop<Curve>(pairs)).IsOne();
}

template <class Curve>
Gt<Curve> Pairing(const typename Curve::G1& p, const typename Curve::G2& q) {
  const G1G2Pair<Curve> pair{p, q};
  return FinalExponentiation<Curve>(MultiMillerLoop<Curve>(std::span(&pair, 1)));
}

#define PL_INSTANTIATE(Curve)                                                            \
  template Gt<Curve> MultiMillerLoop<Curve>(std::span<const G1G2Pair<Curve>>);           \
  template Gt<Curve> FinalExponentiation<Curve>(const Gt<Curve>&);                       \
  template bool PairingProductIsOne<Curve>(std::span<const G1G2Pair<Curve>>);            \
  template Gt<Curve> Pairing<Curve>(const Curve::G1&, const Curve::G2&);
PL_INSTANTIATE(Bn254<PortableArith>)
PL_INSTANTIATE(Bn254<AdxArith>)
PL_INSTANTIATE(Bls12381<PortableArith>)
PL_INSTANTIATE(Bls12381<AdxArith>)
#undef PL_INSTANTIATE

}  // namespace proofline
