#include "core/groth16/verify_batch.h"

#include <new>

#include "core/base/rng.h"
#include "core/groth16/backend.h"
#include "core/groth16/verify.h"

namespace proofline {
namespace {

using Coefficient = std::array<uint64_t, 2>;

Status Numbered(Status status, size_t index, size_t count) {
  if (status.ok() || count == 1) return status;
  return std::move(status).WithContext("proof " + std::to_string(index) + " of " + std::to_string(count));
}

template <class Curve>
class Batch {
  using Fr = typename Curve::Fr;
  using G1 = typename Curve::G1;
  using Fq = typename Curve::Fq;

 public:
  Batch(const LoadedVerificationKey<Curve>& key, std::span<const ProofClaim> claims) : key_(key), claims_(claims) {}

  Status Load(const VerificationKey& vk) {
    proofs_.resize(claims_.size());
    for (size_t j = 0; j < claims_.size(); ++j) {
      PL_RETURN_IF_ERROR(Numbered(CheckPublics<Curve>(vk, claims_[j].publics), j, claims_.size()));
      PL_RETURN_IF_ERROR(Numbered(LoadProof<Curve>(claims_[j].proof, &proofs_[j]), j, claims_.size()));
    }
    coefficients_.resize(claims_.size());
    return FillRandom({reinterpret_cast<uint8_t*>(coefficients_.data()), coefficients_.size() * sizeof(Coefficient)});
  }

  // prod_j e(-z_j A_j, B_j) e(z alpha, beta) e(sum_i x_i IC_i, gamma) e(sum_j z_j C_j, delta) = 1 with z = sum_j z_j, x_0 = z and
  // x_(i+1) = sum_j z_j public_(j,i).
  bool Holds() const {
    std::vector<G1G2Pair<Curve>> pairs(claims_.size() + 3);
    tbb::parallel_for(size_t{0}, claims_.size(), [&](size_t j) { pairs[j] = {-Times(proofs_[j].a, j).ToAffine(), proofs_[j].b}; });
    Xyzz<Fq> c = Xyzz<Fq>::Infinity();
    Fr z = Fr::Zero();
    for (size_t j = 0; j < claims_.size(); ++j) {
      c.Add(Times(proofs_[j].c, j));
      z += CoefficientOf(j);
    }
    G1G2Pair<Curve>* last = &pairs[claims_.size()];
    last[0] = {ScalarMulFr(key_.alpha1, z).ToAffine(), key_.beta2};
    last[1] = {PublicSum(z), key_.gamma2};
    last[2] = {c.ToAffine(), key_.delta2};
    return PairingProductIsOne<Curve>(pairs);
  }

 private:
  Fr CoefficientOf(size_t j) const {
    uint8_t bytes[kFrBytes] = {};
    std::memcpy(bytes, coefficients_[j].data(), sizeof(Coefficient));
    return Fr::LoadCanon(bytes);
  }
  Xyzz<Fq> Times(const G1& p, size_t j) const { return ScalarMul(p, std::span<const uint64_t>(coefficients_[j])); }

  G1 PublicSum(const Fr& z) const {
    std::vector<FrCanonical> scalars(key_.ic.size());
    std::vector<uint8_t> points(key_.ic.size() * G1::kBytes);
    z.StoreCanon(scalars[0].data());
    tbb::parallel_for(tbb::blocked_range<size_t>(0, scalars.size(), 64), [&](const tbb::blocked_range<size_t>& range) {
      for (size_t i = range.begin(); i < range.end(); ++i) {
        key_.ic[i].Store(&points[i * G1::kBytes]);
        if (i == 0) continue;
        Fr sum = Fr::Zero();
        for (size_t j = 0; j < claims_.size(); ++j) sum += CoefficientOf(j) * Fr::LoadCanon(claims_[j].publics[i - 1].data());
        sum.StoreCanon(scalars[i].data());
      }
    });
    return Msm<Fr, Fq>(points, ByteSpan(scalars[0].data(), scalars.size() * kFrBytes)).ToAffine();
  }

  const LoadedVerificationKey<Curve>& key_;
  std::span<const ProofClaim> claims_;
  std::vector<LoadedProof<Curve>> proofs_;
  std::vector<Coefficient> coefficients_;
};

template <class Curve>
Status VerifyBatchFor(const VerificationKey& vk, std::span<const ProofClaim> claims) {
  LoadedVerificationKey<Curve> key;
  PL_RETURN_IF_ERROR(LoadVerificationKey<Curve>(vk, &key));
  Batch<Curve> batch(key, claims);
  PL_RETURN_IF_ERROR(batch.Load(vk));
  if (batch.Holds()) return OkStatus();
  for (size_t j = 0; j < claims.size(); ++j)
    PL_RETURN_IF_ERROR(Numbered(VerifyProof<Curve>(vk, claims[j].publics, claims[j].proof), j, claims.size()));
  return Status(ErrorCode::kInternal, "a batch of proofs that are valid one by one did not verify");
}

}  // namespace

Status VerifyBatch(const VerificationKey& vk, std::span<const ProofClaim> claims) {
  if (claims.empty()) return Status(ErrorCode::kInvalidArgument, "no proofs to verify");
  const Backend& backend = GetBackend(vk.curve);
  if (claims.size() == 1) return backend.Verify(vk, claims[0].publics, claims[0].proof);
  const bool adx = backend.path() == ArithPath::kAdx;
  try {
    if (vk.curve == CurveId::kBn254) return adx ? VerifyBatchFor<Bn254<AdxArith>>(vk, claims) : VerifyBatchFor<Bn254<PortableArith>>(vk, claims);
    return adx ? VerifyBatchFor<Bls12381<AdxArith>>(vk, claims) : VerifyBatchFor<Bls12381<PortableArith>>(vk, claims);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResource, "not enough memory for a batch of " + std::to_string(claims.size()) + " proofs");
  }
}

}  // namespace proofline
