#include "core/formats/r1cs.h"

#include <algorithm>
#include <mutex>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/base/decimal.h"
#include "core/base/text.h"
#include "core/formats/curve_prime.h"

namespace proofline {

namespace {

constexpr uint32_t kHeader = 1, kConstraints = 2, kLabels = 3, kCustomGates = 4, kCustomGateUses = 5;
constexpr size_t kHeaderBytes = 4 + kFrBytes + 4 * 4 + 8 + 4;
constexpr size_t kSmallestConstraintBytes = 12;  // three counts of 0
constexpr std::string_view kConstraintsName = "constraints";

Status ReadHeader(const SectionFile& file, R1cs& out) {
  PL_ASSIGN_OR_RETURN(ByteSpan header, file.Require(kHeader, "header"));
  if (header.size() < 4) return file.Bad(kHeader, "header", StrCat("length is ", header.size(), " bytes, expected ", kHeaderBytes));
  uint32_t n8 = LoadLe<uint32_t>(header.data());
  if (n8 != kFrBytes) return file.Bad(kHeader, "header", StrCat("n8 is ", n8, ", expected ", kFrBytes));
  if (header.size() != kHeaderBytes)
    return file.Bad(kHeader, "header", StrCat("length is ", header.size(), " bytes, expected ", kHeaderBytes));
  ByteSpan prime = header.subspan(4, kFrBytes);
  auto curve = CurveOfScalarPrime(prime);
  if (!curve)
    return file.Bad(kHeader, "header", StrCat("the prime is ", ToDecimal(prime), ", expected the scalar field's of BN254 or BLS12-381"), {},
                    "compile the circuit for one of these curves (circom --prime bn128 or bls12381)");
  const uint8_t* p = header.data() + 4 + kFrBytes;
  R1csView& view = out.view;
  view.curve = *curve;
  view.n_wires = LoadLe<uint32_t>(p);
  view.n_pub_out = LoadLe<uint32_t>(p + 4);
  view.n_pub_in = LoadLe<uint32_t>(p + 8);
  view.n_prv_in = LoadLe<uint32_t>(p + 12);
  out.n_labels = LoadLe<uint64_t>(p + 16);
  view.n_constraints = LoadLe<uint32_t>(p + 24);
  uint64_t named = uint64_t{view.n_pub_out} + view.n_pub_in + view.n_prv_in + 1;
  if (named > view.n_wires)
    return file.Bad(kHeader, "header", StrCat("nWires is ", view.n_wires, ", expected at least ", named,
                                              " (1 + nPubOut + nPubIn + nPrvIn)"));
  return OkStatus();
}

Status CheckCustomGates(const SectionFile& file) {
  for (uint32_t type : {kCustomGates, kCustomGateUses}) {
    if (file.Count(type) == 0) continue;
    PL_ASSIGN_OR_RETURN(ByteSpan content, file.Require(type, "custom gates"));
    // A count of 0 and nothing else says that there are none.
    if (std::ranges::all_of(content, [](uint8_t b) { return b == 0; }) && content.size() <= 4) continue;
    return Status(ErrorCode::kUnsupported,
                  StrCat(file.name(), ": section ", type, " (custom gates): has ", content.size(), " bytes, expected no custom gates"), {},
                  "Groth16 has no custom gates; compile the circuit without them");
  }
  return OkStatus();
}

// Walks the counts and notes where each constraint begins.
Status IndexConstraints(const SectionFile& file, R1cs& out) {
  const ByteSpan bytes = out.view.constraints;
  const uint32_t n = out.view.n_constraints;
  if (n > bytes.size() / kSmallestConstraintBytes)
    return file.Bad(kConstraints, kConstraintsName,
                    StrCat("length is ", bytes.size(), " bytes, expected at least ", uint64_t{n} * kSmallestConstraintBytes, " for ", n,
                           " constraints"));
  out.offsets.resize(size_t{n} + 1);
  uint64_t at = 0;
  for (uint32_t i = 0; i < n; ++i) {
    out.offsets[i] = at;
    for (char part : {'A', 'B', 'C'}) {
      uint64_t left = bytes.size() - at;
      if (left < 4)
        return file.Bad(kConstraints, kConstraintsName, StrCat("ends within constraint ", i, " of ", n),
                        StrCat(left, " bytes are left for the count of ", std::string_view(&part, 1), ", 4 expected"));
      uint32_t count = LoadLe<uint32_t>(&bytes[at]);
      left -= 4;
      if (count > left / LinearCombination::kTermBytes)
        return file.Bad(kConstraints, kConstraintsName,
                        StrCat("constraint ", i, " of ", n, ": ", std::string_view(&part, 1), " has ", count, " terms, but only ", left,
                               " bytes are left for them, expected ", uint64_t{count} * LinearCombination::kTermBytes));
      at += 4 + uint64_t{count} * LinearCombination::kTermBytes;
    }
  }
  if (at != bytes.size())
    return file.Bad(kConstraints, kConstraintsName, StrCat("length is ", bytes.size(), " bytes, expected ", at, " (the ", n, " constraints end there)"));
  out.offsets[n] = at;
  out.view.offsets = out.offsets;
  return OkStatus();
}

Status CheckTerms(const R1csView& view, const SectionFile& file, uint32_t index) {
  R1csConstraint constraint = view.constraint(index);
  const char* part = "A";
  for (const LinearCombination* lc : {&constraint.a, &constraint.b, &constraint.c}) {
    for (uint32_t j = 0; j < lc->count; ++j) {
      if (lc->wire(j) >= view.n_wires)
        return file.Bad(kConstraints, kConstraintsName,
                        StrCat("constraint ", index, ": ", part, ", term ", j, ": wire is ", lc->wire(j), ", expected less than nWires, which is ",
                               view.n_wires));
      if (!IsBelowR(view.curve, lc->coefficient(j)))
        return file.Bad(kConstraints, kConstraintsName,
                        StrCat("constraint ", index, ": ", part, ", term ", j, ": coefficient is ",
                               ToDecimal({lc->coefficient(j), kFrBytes}), ", expected less than r, which is ",
                               ToDecimal(ScalarFieldPrime(view.curve))));
    }
    part = part[0] == 'A' ? "B" : "C";
  }
  return OkStatus();
}

// The first bad constraint is reported, whatever the order of the threads.
Status CheckAllTerms(const R1csView& view, const SectionFile& file) {
  std::mutex mutex;
  uint32_t first = view.n_constraints;
  Status failure;
  tbb::parallel_for(tbb::blocked_range<uint32_t>(0, view.n_constraints, 4096), [&](const tbb::blocked_range<uint32_t>& range) {
    for (uint32_t i = range.begin(); i < range.end(); ++i) {
      Status status = CheckTerms(view, file, i);
      if (status.ok()) continue;
      std::lock_guard<std::mutex> lock(mutex);
      if (i < first) {
        first = i;
        failure = std::move(status);
      }
      return;
    }
  });
  return failure;
}

}  // namespace

Result<R1cs> ReadR1cs(ByteSpan bytes, std::string_view name) {
  R1cs out;
  PL_ASSIGN_OR_RETURN(out.sections, SectionFile::Parse(bytes, name, FileKind::kR1cs));
  const SectionFile& file = out.sections;
  PL_RETURN_IF_ERROR(ReadHeader(file, out));
  PL_RETURN_IF_ERROR(CheckCustomGates(file));
  if (file.Count(kLabels) != 0)
    PL_RETURN_IF_ERROR(file.RequireLength(kLabels, "labels", uint64_t{out.view.n_wires} * 8, "8 for each of the nWires wires").status());
  PL_ASSIGN_OR_RETURN(out.view.constraints, file.Require(kConstraints, kConstraintsName));
  PL_RETURN_IF_ERROR(IndexConstraints(file, out));
  PL_RETURN_IF_ERROR(CheckAllTerms(out.view, file));
  return out;
}

}  // namespace proofline
