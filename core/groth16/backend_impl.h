// The one implementation of Backend, instantiated in backend_<curve>_<arith>.cc (a file each, so that they build side by side) and
// included nowhere else.
#pragma once

#include <new>

#include "core/base/rng.h"
#include "core/curve/curve.h"
#include "core/groth16/backend.h"
#include "core/groth16/points.h"
#include "core/groth16/prove.h"
#include "core/groth16/rows.h"
#include "core/groth16/sample.h"
#include "core/groth16/verify.h"

namespace proofline {

// Curve is Bn254<Arith> or Bls12381<Arith>.
template <class Curve>
class BackendImpl final : public Backend {
  using Fr = typename Curve::Fr;
  using G1 = typename Curve::G1;
  using G2 = typename Curve::G2;

 public:
  explicit BackendImpl(ArithPath path) : path_(path) {}
  CurveId curve() const override { return Curve::kId; }
  ArithPath path() const override { return path_; }

  Result<Blinding> RandomBlinding() const override {
    Blinding blinding;
    PL_RETURN_IF_ERROR(SampleCanonical<Fr>(FillRandom, blinding.r));
    PL_RETURN_IF_ERROR(SampleCanonical<Fr>(FillRandom, blinding.s));
    return blinding;
  }

  Status CheckWitness(ByteSpan witness) const override {
    if (witness.size() % kFrBytes != 0 || witness.empty())
      return Status(ErrorCode::kInvalidFile, "the witness has " + std::to_string(witness.size()) +
                                                 " bytes, expected 32 for each value and at least one value");
    static constexpr std::array<uint8_t, kFrBytes> kOneBytes = {1};
    if (std::memcmp(witness.data(), kOneBytes.data(), kFrBytes) != 0)
      return Status(ErrorCode::kInvalidFile, "witness value 0 is not 1", "the first value stands for the constant 1",
                    "make the witness again with the circuit's own generator");
    size_t count = witness.size() / kFrBytes;
    size_t bad = FirstBad(count, 8192, [&](size_t i) { return Fr::IsReduced(witness.data() + i * kFrBytes); });
    if (bad == count) return OkStatus();
    // The value itself is a secret and is not printed.
    return Status(ErrorCode::kInvalidFile,
                  "witness value " + std::to_string(bad) + " of " + std::to_string(count) + " is not below the group order r of " +
                      std::string(CurveJsonName(Curve::kId)),
                  "values are plain integers in [0, r), 32 bytes each, little-endian",
                  "make the witness again with the circuit's own generator");
  }

  Status ComputeRows(const ProvingKeyView& key, ByteSpan witness, MutableByteSpan rows_a,
                     MutableByteSpan rows_b) const override {
    PL_RETURN_IF_ERROR(CheckShape(key, witness, rows_a.size(), rows_b.size()));
    // Keys that hold their circuit have at least the records of the extra rows of A.
    if (key.coefficients.empty())
      return Status(ErrorCode::kUnsupported, "the key holds no coefficients", "A.z and B.z of such a key come from its circuit");
    try {
      return RowComputer<Fr>(key, witness, rows_a, rows_b).Run();
    } catch (const std::bad_alloc&) {
      return Status(ErrorCode::kResource, "not enough memory for an index of " + std::to_string(key.coefficient_count()) +
                                              " coefficients");
    }
  }

  Result<Proof> Prove(const ProvingKeyView& key, ByteSpan witness, ByteSpan rows_a, ByteSpan rows_b, const Blinding& blinding,
                      const StageObserver& observer) const override {
    PL_RETURN_IF_ERROR(CheckShape(key, witness, rows_a.size(), rows_b.size()));
    return ProveCpu<Curve>(key, witness, rows_a, rows_b, blinding, observer);
  }

  Result<Proof> Assemble(const ProvingKeyView& key, const QuerySums& sums, const Blinding& blinding) const override {
    PL_RETURN_IF_ERROR(CheckCurve(key));
    bool fits = sums.b2.size() == G2::kBytes;
    for (ByteSpan sum : {sums.h, sums.a, sums.b1, sums.c}) fits &= sum.size() == G1::kBytes;
    if (!fits) return Status(ErrorCode::kMismatch, "a query's sum has not the size of a point of " + std::string(CurveJsonName(Curve::kId)));
    return AssembleProof<Curve>(key, sums, blinding);
  }

  Result<VerificationKey> ExtractVerificationKey(const ProvingKeyView& key) const override {
    PL_RETURN_IF_ERROR(CheckCurve(key));
    PL_RETURN_IF_ERROR(CheckKeyHeader<Curve>(key, PointCheck::kOnCurve));
    PL_RETURN_IF_ERROR((CheckQuery<Curve, G1>("section 3 (IC)", key.ic, PointCheck::kOnCurve, [](ByteSpan) {})));
    VerificationKey vk;
    vk.curve = Curve::kId;
    vk.alpha1 = ToPlain(G1::Load(key.alpha1.data()));
    vk.beta2 = ToPlain(G2::Load(key.beta2.data()));
    vk.gamma2 = ToPlain(G2::Load(key.gamma2.data()));
    vk.delta2 = ToPlain(G2::Load(key.delta2.data()));
    size_t count = key.ic.size() / G1::kBytes;
    vk.ic.reserve(count);
    for (size_t i = 0; i < count; ++i) vk.ic.push_back(ToPlain(G1::Load(key.ic.data() + i * G1::kBytes)));
    return vk;
  }

  Status Verify(const VerificationKey& vk, std::span<const FrCanonical> publics, const Proof& proof) const override {
    try {
      return VerifyProof<Curve>(vk, publics, proof);
    } catch (const std::bad_alloc&) {
      return Status(ErrorCode::kResource, "not enough memory for " + std::to_string(publics.size()) + " public values");
    }
  }

  using Backend::CheckPoints;
  Status CheckPoints(const ProvingKeyView& key, PointCheck what, const SectionDone& done) const override {
    PL_RETURN_IF_ERROR(CheckCurve(key));
    return CheckKeyPoints<Curve>(key, what, done);
  }

  Status CheckVerificationKey(const VerificationKey& vk) const override {
    LoadedVerificationKey<Curve> loaded;
    return LoadVerificationKey<Curve>(vk, &loaded);
  }

  std::array<std::array<uint8_t, 48>, 12> AlphaBeta(const VerificationKey& vk) const override { return ComputeAlphaBeta<Curve>(vk); }

 private:
  static Status CheckCurve(const ProvingKeyView& key) {
    if (key.curve == Curve::kId) return OkStatus();
    return verify_detail::CurveMismatch("the proving key", key.curve, Curve::kId);
  }

  static Status CheckShape(const ProvingKeyView& key, ByteSpan witness, size_t rows_a_bytes, size_t rows_b_bytes) {
    PL_RETURN_IF_ERROR(CheckCurve(key));
    auto check = [](std::string_view what, size_t found, size_t expected) {
      if (found == expected * kFrBytes) return OkStatus();
      return Status(ErrorCode::kMismatch, std::string(what) + " has " + std::to_string(found / kFrBytes) + " values (" +
                                              std::to_string(found) + " bytes), the proving key is for " + std::to_string(expected));
    };
    PL_RETURN_IF_ERROR(check("the witness", witness.size(), key.n_vars));
    PL_RETURN_IF_ERROR(check("the vector A.z", rows_a_bytes, key.domain()));
    return check("the vector B.z", rows_b_bytes, key.domain());
  }

  ArithPath path_;
};

}  // namespace proofline
