#include "core/circuits/filecoin/r1cs_digest.h"

namespace proofline::filecoin {
namespace {

constexpr size_t kFlushBytes = 1 << 16;

void Mark(std::vector<bool>& seen, uint32_t index) {
  if (index >= seen.size()) seen.resize(std::max<size_t>(index + 1, seen.size() * 2));
  seen[index] = true;
}

uint64_t Count(const std::vector<bool>& seen) { return static_cast<uint64_t>(std::count(seen.begin(), seen.end(), true)); }

}  // namespace

void TotalsSink::Row(std::span<const Term> a, std::span<const Term> b, std::span<const Term> c) {
  ++rows_;
  nnz_[0] += a.size();
  nnz_[1] += b.size();
  nnz_[2] += c.size();
  for (const Term& t : a)
    if (t.variable.is_aux()) Mark(a_aux_, t.variable.index());
  for (const Term& t : b) Mark(t.variable.is_aux() ? b_aux_ : b_inputs_, t.variable.index());
}

R1csTotals TotalsSink::totals() const {
  return {rows_, nnz_[0], nnz_[1], nnz_[2], Count(a_aux_), Count(b_inputs_), Count(b_aux_)};
}

R1csDigest::R1csDigest(uint64_t num_inputs, uint64_t num_aux, uint64_t num_rows) {
  Append(num_inputs);
  Append(num_aux);
  Append(num_rows);
}

void R1csDigest::Append(uint64_t value) {
  for (int i = 56; i >= 0; i -= 8) buffer_.push_back(static_cast<uint8_t>(value >> i));
}

void R1csDigest::Append(std::span<const Term> sum) {
  Append(uint64_t{sum.size()});
  for (const Term& t : sum) {
    buffer_.push_back(t.variable.is_aux() ? 'A' : 'I');
    Append(uint64_t{t.variable.index()});
    const FrCanonical coefficient = CanonicalOf(t.coefficient);
    buffer_.insert(buffer_.end(), coefficient.rbegin(), coefficient.rend());
  }
}

void R1csDigest::Row(std::span<const Term> a, std::span<const Term> b, std::span<const Term> c) {
  Append(a);
  Append(b);
  Append(c);
  if (buffer_.size() < kFlushBytes) return;
  hash_.Update(buffer_);
  buffer_.clear();
}

Digest256 R1csDigest::Finish() {
  hash_.Update(buffer_);
  buffer_.clear();
  return hash_.Finish();
}

}  // namespace proofline::filecoin
