// Totals and the digest of a constraint system's rows, as they come.
#pragma once

#include <memory>
#include <vector>

#include "core/base/digest.h"
#include "core/circuits/filecoin/constraint_system.h"

namespace proofline::filecoin {

// Counts of terms, and which variables occur: A counts auxiliary variables only (every input is in the A query), B both.
struct R1csTotals {
  uint64_t rows = 0, nnz_a = 0, nnz_b = 0, nnz_c = 0;
  uint64_t a_aux = 0, b_inputs = 0, b_aux = 0;
};

class TotalsSink : public RowSink {
 public:
  void Row(std::span<const Term> a, std::span<const Term> b, std::span<const Term> c) override;
  R1csTotals totals() const;

 private:
  uint64_t rows_ = 0, nnz_[3] = {};
  std::vector<bool> a_aux_, b_aux_, b_inputs_;
};

// BLAKE2s-256 over the big-endian counts of inputs, auxiliary variables and rows, then for each row A, B and C: the number of terms and each
// term as 'I' or 'A', index, coefficient, all big-endian. The counts come first, so they must be known before the rows.
class R1csDigest : public RowSink {
 public:
  R1csDigest(uint64_t num_inputs, uint64_t num_aux, uint64_t num_rows);
  void Row(std::span<const Term> a, std::span<const Term> b, std::span<const Term> c) override;
  Digest256 Finish();

 private:
  void Append(uint64_t value);
  void Append(std::span<const Term> sum);

  Blake2s256 hash_;
  std::vector<uint8_t> buffer_;
};

}  // namespace proofline::filecoin
