// Key generation for one curve; setup_<curve>.cc instantiate it, tests look at its parts.
#pragma once

#include <new>
#include <vector>

#include "core/base/text.h"
#include "core/curve/curve.h"
#include "core/curve/fixed_base.h"
#include "core/groth16/qap.h"
#include "core/groth16/sample.h"
#include "core/groth16/setup.h"

namespace proofline {

// gamma is 1, as in every snarkjs key.
template <class Fr>
struct SetupSecret {
  Fr tau, alpha, beta, delta;
};

// Each from SeededStream(seed, "groth16 tau"), "groth16 alpha", ..., by rejection. Drawn again while a value is of no use: 0 anywhere,
// delta = 1 (such a key has gamma = delta and anyone can forge), tau a root of unity of order 2 * domain.
template <class Fr>
Result<SetupSecret<Fr>> DeriveSetupSecret(std::string_view seed, uint32_t log2_domain) {
  auto draw = [&](std::string_view name, auto&& is_useful, Fr* out) -> Status {
    PL_ASSIGN_OR_RETURN(SeededStream stream, SeededStream::Create(seed, StrCat("groth16 ", name)));
    do {
      PL_ASSIGN_OR_RETURN(*out, SampleField<Fr>([&](MutableByteSpan bytes) { return stream.Fill(bytes); }));
    } while (!is_useful(*out));
    return OkStatus();
  };
  auto not_zero = [](const Fr& x) { return !x.IsZero(); };
  SetupSecret<Fr> secret;
  PL_RETURN_IF_ERROR(draw(
      "tau", [&](const Fr& x) { return !x.IsZero() && !(PowU64(x, uint64_t{2} << log2_domain) == Fr::One()); }, &secret.tau));
  PL_RETURN_IF_ERROR(draw("alpha", not_zero, &secret.alpha));
  PL_RETURN_IF_ERROR(draw("beta", not_zero, &secret.beta));
  PL_RETURN_IF_ERROR(draw("delta", [&](const Fr& x) { return !x.IsZero() && !(x == Fr::One()); }, &secret.delta));
  return secret;
}

// Multiplies the generators and hands the products to a sink, section by section.
template <class Curve>
class KeyPointWriter {
  using Fr = typename Curve::Fr;
  using G1 = typename Curve::G1;
  using G2 = typename Curve::G2;

 public:
  // `total` points are to come.
  KeyPointWriter(KeySink& sink, const SetupProgress& progress, uint64_t total)
      : sink_(sink), progress_(progress), total_(total), table1_(Curve::Generator1()), table2_(Curve::Generator2()) {}

  // scalar(0), scalar(1), ... times the generator, as one section. The scalars are called for in parallel.
  template <class ScalarFn>
  Status WriteG1(KeySink::Section section, size_t count, const ScalarFn& scalar) {
    return WriteSection(section, table1_, count, scalar);
  }
  template <class ScalarFn>
  Status WriteG2(KeySink::Section section, size_t count, const ScalarFn& scalar) {
    return WriteSection(section, table2_, count, scalar);
  }

  Status WriteHeader(const Fr& alpha, const Fr& beta, const Fr& gamma, const Fr& delta) {
    PL_RETURN_IF_ERROR(sink_.BeginSection(KeySink::kHeaderPoints, 3 * G1::kBytes + 3 * G2::kBytes));
    const Fr g1_first[] = {alpha, beta}, g2_first[] = {beta, gamma};
    auto of = [](const Fr* values) { return [values](size_t i) { return values[i]; }; };
    PL_RETURN_IF_ERROR(AppendPoints(table1_, 2, of(g1_first)));
    PL_RETURN_IF_ERROR(AppendPoints(table2_, 2, of(g2_first)));
    PL_RETURN_IF_ERROR(AppendPoints(table1_, 1, of(&delta)));
    return AppendPoints(table2_, 1, of(&delta));
  }

 private:
  static constexpr size_t kPointsPerPiece = 1 << 15;

  template <class Table, class ScalarFn>
  Status WriteSection(KeySink::Section section, const Table& table, size_t count, const ScalarFn& scalar) {
    using Point = Affine<typename Table::Field>;
    PL_RETURN_IF_ERROR(sink_.BeginSection(section, uint64_t{count} * Point::kBytes));
    return AppendPoints(table, count, scalar);
  }

  template <class Table, class ScalarFn>
  Status AppendPoints(const Table& table, size_t count, const ScalarFn& scalar) {
    using Point = Affine<typename Table::Field>;
    static_assert(sizeof(Point) == Point::kBytes, "an array of points is their packed form");
    std::vector<Fr> scalars(std::min(count, kPointsPerPiece));
    std::vector<Point> points(scalars.size());
    for (size_t first = 0; first < count; first += kPointsPerPiece) {
      const size_t n = std::min(count - first, kPointsPerPiece);
      tbb::parallel_for(tbb::blocked_range<size_t>(0, n, 1024), [&](const tbb::blocked_range<size_t>& range) {
        for (size_t i = range.begin(); i < range.end(); ++i) scalars[i] = scalar(first + i);
      });
      table.Multiply(std::span<const Fr>(scalars.data(), n), std::span<Point>(points.data(), n));
      PL_RETURN_IF_ERROR(sink_.Append(ByteSpan(reinterpret_cast<const uint8_t*>(points.data()), n * sizeof(Point))));
      done_ += n;
      if (progress_) progress_(done_, total_);
    }
    return OkStatus();
  }

  KeySink& sink_;
  const SetupProgress& progress_;
  uint64_t done_ = 0, total_ = 0;
  FixedBaseTable<Fr, typename G1::Field> table1_;
  FixedBaseTable<Fr, typename G2::Field> table2_;
};

template <class Curve>
class KeyGenerator {
  using Fr = typename Curve::Fr;

 public:
  KeyGenerator(const R1csView& r1cs, const KeyShape& shape, const SetupSecret<Fr>& secret, KeySink& sink,
               const SetupProgress& progress)
      : r1cs_(r1cs), shape_(shape), secret_(secret), sink_(sink),
        points_(sink, progress, 6 + uint64_t{shape.n_vars} * 4 + (uint64_t{1} << shape.log2_domain)) {}

  Status Run() {
    const int log2_n = static_cast<int>(shape_.log2_domain);
    qap_ = EvaluateQap<Fr>(r1cs_, log2_n, secret_.tau);
    const size_t n_public_wires = size_t{shape_.n_public} + 1;
    const Fr delta_inverse = secret_.delta.Inverse();
    auto ic_value = [&](size_t s) { return secret_.beta * qap_.u[s] + secret_.alpha * qap_.v[s] + qap_.w[s]; };

    PL_RETURN_IF_ERROR(sink_.Begin(shape_));
    PL_RETURN_IF_ERROR(points_.WriteHeader(secret_.alpha, secret_.beta, Fr::One(), secret_.delta));
    PL_RETURN_IF_ERROR(points_.WriteG1(KeySink::kIc, n_public_wires, ic_value));
    PL_RETURN_IF_ERROR(WriteCoefficients());
    PL_RETURN_IF_ERROR(points_.WriteG1(KeySink::kA, shape_.n_vars, [&](size_t s) { return qap_.u[s]; }));
    PL_RETURN_IF_ERROR(points_.WriteG1(KeySink::kB1, shape_.n_vars, [&](size_t s) { return qap_.v[s]; }));
    PL_RETURN_IF_ERROR(points_.WriteG2(KeySink::kB2, shape_.n_vars, [&](size_t s) { return qap_.v[s]; }));
    PL_RETURN_IF_ERROR(points_.WriteG1(KeySink::kC, shape_.n_vars - n_public_wires,
                                       [&](size_t s) { return ic_value(s + n_public_wires) * delta_inverse; }));
    qap_ = {};
    // The odd half of the Lagrange basis of size 2N: the proof's quotient is given by its values there.
    const Fr root = RootOfUnity<Fr>(log2_n + 1);
    std::vector<Fr> odd = LagrangeAt(secret_.tau, log2_n + 1, root, root.Square(), size_t{1} << log2_n);
    return points_.WriteG1(KeySink::kH, odd.size(), [&](size_t i) { return odd[i] * delta_inverse; });
  }

 private:
  static constexpr size_t kRecordsPerPiece = 1 << 15;

  // Constraint by constraint A's entries, then B's, then the extra rows of the public signals: the order of snarkjs.
  Status WriteCoefficients() {
    constexpr size_t kRecord = ProvingKeyView::kCoefficientBytes;
    PL_RETURN_IF_ERROR(sink_.BeginSection(KeySink::kCoefficients, shape_.coefficient_count * kRecord));
    std::vector<uint8_t> piece;
    piece.reserve(kRecordsPerPiece * kRecord);
    auto add = [&](uint32_t matrix, uint32_t constraint, uint32_t signal, const Fr& mont) -> Status {
      const size_t at = piece.size();
      piece.resize(at + kRecord);
      StoreLe(&piece[at], matrix);
      StoreLe(&piece[at + 4], constraint);
      StoreLe(&piece[at + 8], signal);
      mont.ToMont().StoreMont(&piece[at + 12]);
      if (piece.size() < kRecordsPerPiece * kRecord) return OkStatus();
      Status status = sink_.Append(piece);
      piece.clear();
      return status;
    };
    for (uint32_t i = 0; i < r1cs_.n_constraints; ++i) {
      const R1csConstraint c = r1cs_.constraint(i);
      const LinearCombination* sides[] = {&c.a, &c.b};
      for (uint32_t matrix = 0; matrix < 2; ++matrix)
        for (uint32_t j = 0; j < sides[matrix]->count; ++j)
          PL_RETURN_IF_ERROR(add(matrix, i, sides[matrix]->wire(j), Fr::LoadCanon(sides[matrix]->coefficient(j))));
    }
    for (uint32_t s = 0; s <= shape_.n_public; ++s) PL_RETURN_IF_ERROR(add(0, r1cs_.n_constraints + s, s, Fr::One()));
    return piece.empty() ? OkStatus() : sink_.Append(piece);
  }

  const R1csView& r1cs_;
  const KeyShape& shape_;
  const SetupSecret<Fr>& secret_;
  KeySink& sink_;
  KeyPointWriter<Curve> points_;
  QapAtPoint<Fr> qap_;
};

// GenerateKey's contract for one curve; `shape` comes from it.
template <class Curve>
Status GenerateKeyFor(const R1csView& r1cs, const KeyShape& shape, std::string_view seed, KeySink& sink,
                      const SetupProgress& progress) {
  using Fr = typename Curve::Fr;
  PL_ASSIGN_OR_RETURN(SetupSecret<Fr> secret, DeriveSetupSecret<Fr>(seed, shape.log2_domain));
  return KeyGenerator<Curve>(r1cs, shape, secret, sink, progress).Run();
}

extern template Status GenerateKeyFor<Bn254<PortableArith>>(const R1csView&, const KeyShape&, std::string_view, KeySink&,
                                                            const SetupProgress&);
extern template Status GenerateKeyFor<Bn254<AdxArith>>(const R1csView&, const KeyShape&, std::string_view, KeySink&,
                                                       const SetupProgress&);
extern template Status GenerateKeyFor<Bls12381<PortableArith>>(const R1csView&, const KeyShape&, std::string_view, KeySink&,
                                                               const SetupProgress&);
extern template Status GenerateKeyFor<Bls12381<AdxArith>>(const R1csView&, const KeyShape&, std::string_view, KeySink&,
                                                          const SetupProgress&);

}  // namespace proofline
