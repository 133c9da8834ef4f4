// A partition without a circuit: a key all of whose points have known discrete logarithms, a witness and rows. The proof that belongs to them is
// known for the price of a few dot products, so that a prover's result is checked exactly at sizes for which nobody wants to wait for a key.
//
// The shape is that of a storage proof's circuit: 0.97 N variables, 328 public ones; A has a point for 99.7 % of the variables, B for 25.4 %, the
// others are at infinity; `wide` of the witness values are uniform, of the rest half are 1 and half 0. Each section repeats kDistinct points,
// each from a place of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/status.h"
#include "core/groth16/backend.h"

namespace proofline::bench {

struct SyntheticOptions {
  CurveId curve = CurveId::kBls12381;
  int log2 = 20;
  double wide = 0.01;
  uint64_t seed = 1;
};

class SyntheticPartition {
 public:
  // Runs in the caller's TBB arena.
  static std::unique_ptr<SyntheticPartition> Make(const SyntheticOptions& options);
  virtual ~SyntheticPartition() = default;

  const ProvingKeyView& key() const { return key_; }
  // One block that a device can pin: rows of A, rows of B, witness.
  MutableByteSpan block() { return block_; }
  ByteSpan rows_a() const { return ByteSpan(block_).first(row_bytes()); }
  ByteSpan rows_b() const { return ByteSpan(block_).subspan(row_bytes(), row_bytes()); }
  ByteSpan witness() const { return ByteSpan(block_).subspan(2 * row_bytes()); }

  // The only right proof for this r and s.
  virtual Result<Proof> Expected(const Blinding& blinding) const = 0;

 protected:
  static constexpr uint64_t kDistinct = uint64_t{1} << 18;
  size_t row_bytes() const { return size_t{key_.domain()} * kFrBytes; }

  ProvingKeyView key_;
  std::vector<uint8_t> block_;
  std::vector<uint8_t> sections_[5], header_;  // h, a, b1, b2, c
};

}  // namespace proofline::bench
