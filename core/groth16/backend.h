// One curve's proving arithmetic behind one interface, compiled once per instruction set and chosen once at run time.
//
// A Backend holds no state and may be used from any number of threads at once. Its parallel parts run in the TBB arena of the
// calling thread (call inside arena.execute). It allocates only what a method's comment names. All byte arrays are as in
// types.h; `witness` is n_vars canonical values of 32 bytes; rows are domain() Montgomery values of 32 bytes.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "core/base/status.h"
#include "core/groth16/types.h"

namespace proofline {

enum class ArithPath : uint8_t {
  kAuto = 0,      // the fastest this processor has
  kPortable = 1,  // 128-bit integers; the reference
  kAdx = 2,       // mulx, adcx, adox
};

// Called at the end of each stage of Prove with its name ("ntt", "msm_h", "msm_a", "msm_b1", "msm_b2", "msm_c", "assemble") and its time. A
// device may add "load_key", "upload" and "device" (from the first copy to the last kernel).
using StageObserver = std::function<void(std::string_view stage, uint64_t nanoseconds)>;

// The two blinding scalars r and s, canonical, < group order. Drawn fresh for each attempt by RandomBlinding; fixed ones are for tests.
struct Blinding {
  FrCanonical r{}, s{};
  ~Blinding();  // wipes
};

// What a device computes of a proof: each query's points times its scalars. One affine point each, in the key's form; H, A, B1 and C over
// G1, B2 over G2. The scalars of C are the private witness values.
struct QuerySums {
  ByteSpan h, a, b1, b2, c;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual CurveId curve() const = 0;
  virtual ArithPath path() const = 0;

  // Uniform in [0, r) from the kernel's generator.
  virtual Result<Blinding> RandomBlinding() const = 0;

  // Every value < r, the first one 1. kInvalidFile with index, found and bound otherwise.
  virtual Status CheckWitness(ByteSpan witness) const = 0;

  // rows_a[i] = sum of A's coefficients over constraint i times the witness, rows_b likewise; missing rows are 0.
  // Allocates an index of 4 bytes a coefficient at most. kUnsupported for a key that holds no coefficients.
  virtual Status ComputeRows(const ProvingKeyView& key, ByteSpan witness, MutableByteSpan rows_a,
                             MutableByteSpan rows_b) const = 0;

  // (alpha + A.z + r delta, beta + B.z + s delta, ...), the same bytes whatever the key's form. Rows come from ComputeRows, or from the
  // circuit, for the same witness. Does not verify. Allocates two vectors of the domain (64 bytes a constraint) and the scratch of one MSM.
  virtual Result<Proof> Prove(const ProvingKeyView& key, ByteSpan witness, ByteSpan rows_a, ByteSpan rows_b,
                              const Blinding& blinding, const StageObserver& observer) const = 0;

  // The last step of Prove, for sums that another device has computed: the same sums give the same bytes.
  virtual Result<Proof> Assemble(const ProvingKeyView& key, const QuerySums& sums, const Blinding& blinding) const = 0;

  // The verification key inside a proving key. Fails if a point of it is off its curve.
  virtual Result<VerificationKey> ExtractVerificationKey(const ProvingKeyView& key) const = 0;

  // kOk if e(A, B) = e(alpha, beta) e(IC(publics), gamma) e(C, delta); kInvalidProof if not. Points must be on their curves and in
  // their subgroups, coordinates < q, publics < r and n_public of them: otherwise kInvalidFile or kMismatch, naming the offender.
  virtual Status Verify(const VerificationKey& vk, std::span<const FrCanonical> publics, const Proof& proof) const = 0;

  // How much of a key's points to check. Errors name the section and the index. `done` is told of each section that has passed and will
  // not be read again.
  enum class PointCheck { kOnCurve, kSubgroup };
  using SectionDone = std::function<void(ByteSpan section)>;
  virtual Status CheckPoints(const ProvingKeyView& key, PointCheck what, const SectionDone& done) const = 0;
  Status CheckPoints(const ProvingKeyView& key, PointCheck what) const {
    return CheckPoints(key, what, [](ByteSpan) {});
  }
  // The same for a verification key (always with subgroups).
  virtual Status CheckVerificationKey(const VerificationKey& vk) const = 0;

  // alpha * beta pairing for `vk_alphabeta_12` of verification_key.json: 12 canonical Fq values in the order snarkjs prints them.
  virtual std::array<std::array<uint8_t, 48>, 12> AlphaBeta(const VerificationKey& vk) const = 0;
};

// Never null. kAdx on a processor without it gives the portable one; path() tells.
const Backend& GetBackend(CurveId curve, ArithPath path = ArithPath::kAuto);

}  // namespace proofline
