// A.z and B.z over the domain, from a key's coefficient section: row i of a matrix is the sum of coefficient * witness over the
// records of constraint i; a row without records is 0.
//
// A stored value is coefficient * R^2, so one Montgomery multiplication by a canonical witness value gives the product in Montgomery
// form. Records may come in any order and several may name the same place; they are summed.
//
// Parallel without shared writes. Keys in use have their records sorted by constraint, so the record array is cut where the
// constraint changes, and each piece owns the rows from its first constraint to the next piece's. A piece that meets a record outside
// of its rows stops; then all is done over from an index that sorts record numbers by row range (a counting sort, stable).
//
// Included by core/groth16/backend_*.cc and by tests; parallel parts run in the caller's TBB arena.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/field/fp.h"
#include "core/groth16/types.h"

namespace proofline {

template <class Fr>
class RowComputer {
 public:
  // The spans are those of Backend::ComputeRows, of matching lengths (n_vars and domain() elements).
  RowComputer(const ProvingKeyView& key, ByteSpan witness, MutableByteSpan rows_a, MutableByteSpan rows_b)
      : key_(key), witness_(witness), rows_{rows_a.data(), rows_b.data()}, records_(key.coefficients.data()),
        count_(key.coefficient_count()) {}

  // kInvalidFile if a record names a matrix, constraint or signal that does not exist. Readers check that before, so it
  // means that the file was changed under us; the rows are then worthless.
  Status Run() {
    if (RunInFileOrder()) return OkStatus();
    if (!bad_record_.load()) RunByIndex();
    if (bad_record_.load())
      return Status(ErrorCode::kInvalidFile,
                    "section 4 (coefficients): a record names a matrix, constraint or signal that does not exist",
                    "the records were checked when the key was read", "do not change a key while it is in use");
    return OkStatus();
  }

  // For tests: the path that sorted files do not take.
  Status RunUnsorted() {
    RunByIndex();
    return bad_record_.load() ? Status(ErrorCode::kInvalidFile, "bad record") : OkStatus();
  }

 private:
  static constexpr size_t kRecord = ProvingKeyView::kCoefficientBytes;
  static constexpr size_t kRecordsPerPiece = 1 << 14;
  static constexpr int kLog2RowsPerRange = 11;  // 2048 rows of both matrices are 128 KiB: they stay in the second-level cache

  uint32_t Constraint(size_t record) const { return LoadLe<uint32_t>(records_ + record * kRecord + 4); }
  void ClearRows(size_t begin, size_t end) {
    for (uint8_t* rows : rows_) std::memset(rows + begin * kFrBytes, 0, (end - begin) * kFrBytes);
  }

  // Adds one record to its row. False if the record is out of range.
  bool Accumulate(size_t record) {
    const uint8_t* p = records_ + record * kRecord;
    uint32_t matrix = LoadLe<uint32_t>(p);
    uint32_t constraint = LoadLe<uint32_t>(p + 4);
    uint32_t signal = LoadLe<uint32_t>(p + 8);
    if (matrix > 1 || constraint >= key_.domain() || signal >= key_.n_vars) return false;
    // Canonical limbs on purpose: see the head of this file.
    Fr value = LoadLe<Fr>(witness_.data() + size_t{signal} * kFrBytes);
    if (value.IsZero()) return true;
    uint8_t* row = rows_[matrix] + size_t{constraint} * kFrBytes;
    (Fr::LoadMont(row) + Fr::LoadMont(p + 12) * value).StoreMont(row);
    return true;
  }

  // First record at or after `record` that starts a new constraint.
  size_t NextRowStart(size_t record) const {
    if (record == 0) return 0;
    while (record < count_ && Constraint(record) == Constraint(record - 1)) ++record;
    return record;
  }

  // False if the records are not sorted well enough, or one is bad.
  bool RunInFileOrder() {
    size_t pieces = std::max<size_t>(1, count_ / kRecordsPerPiece);
    std::vector<size_t> first_record(pieces + 1), first_row(pieces + 1);
    for (size_t i = 0; i < pieces; ++i) {
      // Not before the previous start: one long row would be searched through for every piece in it.
      first_record[i] = NextRowStart(std::max(count_ / pieces * i, i == 0 ? 0 : first_record[i - 1]));
      first_row[i] = i == 0 ? 0 : first_record[i] < count_ ? Constraint(first_record[i]) : key_.domain();
      if (first_row[i] > key_.domain() || (i > 0 && first_row[i] < first_row[i - 1]))
        return false;
    }
    first_record[pieces] = count_;
    first_row[pieces] = key_.domain();
    std::atomic<bool> sorted{true};
    tbb::parallel_for(size_t{0}, pieces, [&](size_t i) {
      if (!RunPiece(first_record[i], first_record[i + 1], first_row[i], first_row[i + 1])) sorted.store(false);
    });
    return sorted.load();
  }

  bool RunPiece(size_t record, size_t end_record, size_t row, size_t end_row) {
    ClearRows(row, end_row);
    for (; record < end_record; ++record) {
      uint32_t constraint = Constraint(record);
      if (constraint < row || constraint >= end_row) return false;
      if (!Accumulate(record)) {
        bad_record_.store(true);
        return false;
      }
    }
    return true;
  }

  void RunByIndex() {
    size_t ranges = (size_t{key_.domain()} >> kLog2RowsPerRange) + 1;
    std::vector<uint32_t> start(ranges + 1);
    for (size_t i = 0; i < count_; ++i) {
      if (Constraint(i) >= key_.domain()) return bad_record_.store(true);
      ++start[(Constraint(i) >> kLog2RowsPerRange) + 1];
    }
    for (size_t r = 0; r < ranges; ++r) start[r + 1] += start[r];
    std::vector<uint32_t> index(count_), at(start.begin(), start.end() - 1);
    for (size_t i = 0; i < count_; ++i) index[at[Constraint(i) >> kLog2RowsPerRange]++] = static_cast<uint32_t>(i);
    tbb::parallel_for(size_t{0}, ranges, [&](size_t r) {
      size_t domain = key_.domain();
      ClearRows(std::min(domain, r << kLog2RowsPerRange), std::min(domain, (r + 1) << kLog2RowsPerRange));
      for (size_t i = start[r]; i < start[r + 1]; ++i)
        if (!Accumulate(index[i])) return bad_record_.store(true);
    });
  }

  const ProvingKeyView& key_;
  ByteSpan witness_;
  uint8_t* rows_[2];
  const uint8_t* records_;
  size_t count_;
  std::atomic<bool> bad_record_{false};
};

}  // namespace proofline
