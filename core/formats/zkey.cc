#include "core/formats/zkey.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/base/decimal.h"
#include "core/base/text.h"
#include "core/field/fp.h"
#include "core/formats/curve_prime.h"

namespace proofline {

namespace {

constexpr std::string_view kHeaderName = "header";

// Reads one field after the other; Take is only called for as many bytes as RequireAtLeast has granted.
class FieldReader {
 public:
  explicit FieldReader(ByteSpan bytes) : bytes_(bytes) {}
  size_t left() const { return bytes_.size(); }
  ByteSpan Take(size_t n) {
    ByteSpan head = bytes_.first(n);
    bytes_ = bytes_.subspan(n);
    return head;
  }
  uint32_t U32() { return LoadLe<uint32_t>(Take(4).data()); }

 private:
  ByteSpan bytes_;
};

Status Truncated(const SectionFile& file, size_t found, size_t expected) {
  return file.Bad(zkey::kHeader, kHeaderName, StrCat("length is ", found, " bytes, expected ", expected));
}

// n8q, q, n8r, r -> curve. The scalar prime names the curve; all else must agree.
Result<CurveId> ReadPrimes(const SectionFile& file, FieldReader& in, size_t length) {
  if (in.left() < 4) return Truncated(file, length, 4);
  uint32_t n8q = in.U32();
  if (n8q != 32 && n8q != 48)
    return file.Bad(zkey::kHeader, kHeaderName, StrCat("n8q is ", n8q, ", expected 32 (BN254) or 48 (BLS12-381)"));
  size_t expected = 4 + size_t{n8q} + 4 + kFrBytes;
  if (length < expected) return Truncated(file, length, expected);
  ByteSpan q = in.Take(n8q);
  uint32_t n8r = in.U32();
  if (n8r != kFrBytes) return file.Bad(zkey::kHeader, kHeaderName, StrCat("n8r is ", n8r, ", expected ", kFrBytes));
  ByteSpan r = in.Take(kFrBytes);
  for (CurveId curve : {CurveId::kBn254, CurveId::kBls12381}) {
    if (!std::ranges::equal(q, BaseFieldPrime(curve))) continue;
    if (std::ranges::equal(r, ScalarFieldPrime(curve))) return curve;
    return file.Bad(zkey::kHeader, kHeaderName,
                    StrCat("the base field is that of ", CurveTitle(curve), " but the scalar field prime r is ", ToDecimal(r), ", expected ",
                           ToDecimal(ScalarFieldPrime(curve))));
  }
  return file.Bad(zkey::kHeader, kHeaderName, StrCat("the base field prime q is ", ToDecimal(q), ", expected that of BN254 or BLS12-381"), {},
                  "use a key for one of these curves");
}

Status CheckCounts(const SectionFile& file, CurveId curve, uint32_t n_vars, uint32_t n_public, uint32_t domain) {
  if (n_public >= n_vars)
    return file.Bad(zkey::kHeader, kHeaderName, StrCat("nPublic is ", n_public, ", expected less than nVars, which is ", n_vars));
  if (!std::has_single_bit(domain) || domain < 2)
    return file.Bad(zkey::kHeader, kHeaderName, StrCat("domainSize is ", domain, ", expected a power of two that is at least 2"));
  if (n_public >= domain)
    return file.Bad(zkey::kHeader, kHeaderName,
                    StrCat("domainSize is ", domain, ", expected at least nPublic + 1, which is ", uint64_t{n_public} + 1));
  uint32_t log2 = static_cast<uint32_t>(std::countr_zero(domain));
  if (log2 > MaxLog2Domain(curve))
    return Status(ErrorCode::kUnsupported, StrCat(file.name(), ": section 2 (header): domainSize is 2^", log2, ", expected at most 2^",
                                                  MaxLog2Domain(curve), " on ", CurveTitle(curve)));
  return OkStatus();
}

Status CheckCoordinates(const SectionFile& file, uint32_t section, std::string_view what, CurveId curve, ByteSpan coordinates) {
  const size_t n8q = FqBytes(curve);
  for (size_t i = 0; i * n8q < coordinates.size(); ++i) {
    ByteSpan value = coordinates.subspan(i * n8q, n8q);
    if (!IsBelowQ(curve, value.data()))
      return file.Bad(section, section == zkey::kHeader ? kHeaderName : "IC",
                      StrCat(what, ": coordinate ", i, " is ", ToDecimal(value), ", expected less than q, which is ",
                             ToDecimal(BaseFieldPrime(curve))));
  }
  return OkStatus();
}

Status ReadHeader(const SectionFile& file, ProvingKeyView& view) {
  PL_ASSIGN_OR_RETURN(ByteSpan protocol, file.RequireLength(zkey::kProtocol, "protocol", 4, "one u32"));
  uint32_t id = LoadLe<uint32_t>(protocol.data());
  if (id != zkey::kGroth16Protocol)
    return file.Bad(zkey::kProtocol, "protocol", StrCat("is ", id, id == 2 ? " (PLONK)" : id == 10 ? " (FFLONK)" : "", ", expected 1 (Groth16)"),
                    {}, "make the key with `snarkjs groth16 setup`");

  PL_ASSIGN_OR_RETURN(ByteSpan header, file.Require(zkey::kHeader, kHeaderName));
  FieldReader in(header);
  PL_ASSIGN_OR_RETURN(view.curve, ReadPrimes(file, in, header.size()));
  const size_t g1 = 2 * FqBytes(view.curve), g2 = 2 * g1;
  const size_t expected = 4 + FqBytes(view.curve) + 4 + kFrBytes + 12 + 3 * g1 + 3 * g2;
  if (header.size() != expected) return Truncated(file, header.size(), expected);
  view.n_vars = in.U32();
  view.n_public = in.U32();
  uint32_t domain = in.U32();
  PL_RETURN_IF_ERROR(CheckCounts(file, view.curve, view.n_vars, view.n_public, domain));
  view.log2_domain = static_cast<uint32_t>(std::countr_zero(domain));

  struct Point {
    const char* name;
    ByteSpan* span;
    size_t bytes;
  };
  for (const Point& point : {Point{"alpha1", &view.alpha1, g1}, Point{"beta1", &view.beta1, g1}, Point{"beta2", &view.beta2, g2},
                             Point{"gamma2", &view.gamma2, g2}, Point{"delta1", &view.delta1, g1}, Point{"delta2", &view.delta2, g2}}) {
    *point.span = in.Take(point.bytes);
    PL_RETURN_IF_ERROR(CheckCoordinates(file, zkey::kHeader, point.name, view.curve, *point.span));
    if (std::ranges::all_of(*point.span, [](uint8_t b) { return b == 0; }))
      return file.Bad(zkey::kHeader, kHeaderName, StrCat(point.name, " is the point at infinity, expected any other point"));
  }
  return OkStatus();
}

Status ReadPointSections(const SectionFile& file, ProvingKeyView& view) {
  const uint64_t g1 = 2 * FqBytes(view.curve), g2 = 2 * g1;
  struct Part {
    uint32_t type;
    const char* name;
    const char* rule;
    uint64_t points;
    uint64_t point_bytes;
    ByteSpan* span;
  };
  const Part parts[] = {
      {zkey::kIc, "IC", "nPublic + 1 points of G1", uint64_t{view.n_public} + 1, g1, &view.ic},
      {zkey::kA, "A", "nVars points of G1", view.n_vars, g1, &view.a},
      {zkey::kB1, "B1", "nVars points of G1", view.n_vars, g1, &view.b1},
      {zkey::kB2, "B2", "nVars points of G2", view.n_vars, g2, &view.b2},
      {zkey::kC, "C", "nVars - nPublic - 1 points of G1", uint64_t{view.n_vars} - view.n_public - 1, g1, &view.c},
      {zkey::kH, "H", "domainSize points of G1", view.domain(), g1, &view.h},
  };
  for (const Part& part : parts) {
    PL_ASSIGN_OR_RETURN(*part.span, file.RequireLength(part.type, part.name, part.points * part.point_bytes,
                                                       StrCat(part.rule, ", ", part.points, " * ", part.point_bytes)));
  }
  return CheckCoordinates(file, zkey::kIc, "IC", view.curve, view.ic);
}

// Sections longer than 4 GiB or so cannot hold a count of 32 bits: the count and the length must agree exactly.
Result<ByteSpan> ReadCoefficientSection(const SectionFile& file) {
  constexpr std::string_view kName = "coefficients";
  PL_ASSIGN_OR_RETURN(ByteSpan content, file.Require(zkey::kCoefficients, kName));
  if (content.size() < 4) return file.Bad(zkey::kCoefficients, kName, StrCat("length is ", content.size(), " bytes, expected at least 4"));
  uint32_t count = LoadLe<uint32_t>(content.data());
  uint64_t expected = 4 + uint64_t{count} * ProvingKeyView::kCoefficientBytes;
  if (content.size() != expected)
    return file.Bad(zkey::kCoefficients, kName,
                    StrCat("length is ", content.size(), " bytes, expected ", expected, " (4 + ", ProvingKeyView::kCoefficientBytes,
                           " for each of the ", count, " coefficients that its first number counts)"));
  return content.subspan(4);
}

void ReadProoflineRecord(const SectionFile& file, Zkey& key) {
  for (const Section& section : file.sections()) {
    if (section.type != zkey::kProofline) continue;
    ByteSpan record = file.Content(section);
    // Only a later version of this program writes anything else here; until it is understood, the safe reading is "known".
    if (record.size() < 8 || LoadLe<uint32_t>(record.data()) != zkey::kRecordVersion) {
      key.known_secret = true;
      key.known_secret_note = "unknown record";
      continue;
    }
    if (!(LoadLe<uint32_t>(&record[4]) & zkey::kFlagKnownSecret)) continue;
    key.known_secret = true;
    key.known_secret_note.clear();
    for (uint8_t c : record.subspan(8, std::min(record.size() - 8, zkey::kMaxNoteBytes)))
      key.known_secret_note += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '?';
  }
}

// Index of the first bad record, or `end`. Branch-free inside a block so that the compiler can overlap the loads.
template <class M>
size_t FindBadCoefficient(const ProvingKeyView& view, size_t begin, size_t end) {
  constexpr size_t kBytes = ProvingKeyView::kCoefficientBytes;
  constexpr uint64_t kTop = M::kValue[3];
  const uint32_t domain = view.domain(), n_vars = view.n_vars;
  const uint8_t* record = view.coefficients.data() + begin * kBytes;
  for (size_t i = begin; i < end; ++i, record += kBytes) {
    bool bad = (LoadLe<uint32_t>(record) > 1) | (LoadLe<uint32_t>(record + 4) >= domain) | (LoadLe<uint32_t>(record + 8) >= n_vars) |
               (LoadLe<uint64_t>(record + 12 + 24) >= kTop);
    if (!bad) continue;
    // The top limb may equal r's: only then do the others decide.
    bool indices = LoadLe<uint32_t>(record) <= 1 && LoadLe<uint32_t>(record + 4) < domain && LoadLe<uint32_t>(record + 8) < n_vars;
    if (!indices || !Fp<M>::IsReduced(record + 12)) return i;
  }
  return end;
}

Status DescribeBadCoefficient(const ProvingKeyView& view, std::string_view name, size_t index) {
  const uint8_t* record = view.coefficients.data() + index * ProvingKeyView::kCoefficientBytes;
  uint32_t matrix = LoadLe<uint32_t>(record), constraint = LoadLe<uint32_t>(record + 4), signal = LoadLe<uint32_t>(record + 8);
  std::string fact = StrCat(name, ": section 4 (coefficients): coefficient ", index, ": ");
  if (matrix > 1) {
    fact += StrCat("matrix is ", matrix, ", expected 0 (A) or 1 (B)");
  } else if (constraint >= view.domain()) {
    fact += StrCat("constraint is ", constraint, ", expected less than domainSize, which is ", view.domain());
  } else if (signal >= view.n_vars) {
    fact += StrCat("signal is ", signal, ", expected less than nVars, which is ", view.n_vars);
  } else {
    fact += StrCat("value is ", ToDecimal({record + 12, kFrBytes}), ", expected less than r, which is ",
                   ToDecimal(ScalarFieldPrime(view.curve)));
  }
  return Status(ErrorCode::kInvalidFile, std::move(fact), {}, "the key is damaged; make or download it again");
}

size_t FindBad(const ProvingKeyView& view, size_t begin, size_t end) {
  return view.curve == CurveId::kBn254 ? FindBadCoefficient<Bn254FrModulus>(view, begin, end)
                                       : FindBadCoefficient<Bls12381FrModulus>(view, begin, end);
}

}  // namespace

Status CheckCoefficients(const ProvingKeyView& view, std::string_view name, size_t begin, size_t end) {
  size_t bad = FindBad(view, begin, end);
  return bad == end ? OkStatus() : DescribeBadCoefficient(view, name, bad);
}

Status CheckAllCoefficients(const ProvingKeyView& view, std::string_view name) {
  constexpr size_t kGrain = size_t{1} << 15;
  const size_t count = view.coefficient_count();
  if (count <= kGrain) return CheckCoefficients(view, name, 0, count);
  std::mutex mutex;
  size_t first_bad = count;
  tbb::parallel_for(tbb::blocked_range<size_t>(0, count, kGrain), [&](const tbb::blocked_range<size_t>& range) {
    size_t bad = FindBad(view, range.begin(), range.end());
    if (bad == range.end()) return;
    std::lock_guard<std::mutex> lock(mutex);
    first_bad = std::min(first_bad, bad);
  });
  return first_bad == count ? OkStatus() : DescribeBadCoefficient(view, name, first_bad);
}

Result<Zkey> ReadZkey(ByteSpan bytes, std::string_view name, ZkeyUse use) {
  Zkey key;
  PL_ASSIGN_OR_RETURN(key.sections, SectionFile::Parse(bytes, name, FileKind::kZkey));
  const SectionFile& file = key.sections;
  ProvingKeyView& view = key.view;
  PL_RETURN_IF_ERROR(ReadHeader(file, view));
  PL_RETURN_IF_ERROR(ReadPointSections(file, view));
  PL_ASSIGN_OR_RETURN(ByteSpan coefficients, ReadCoefficientSection(file));
  key.coefficient_count = coefficients.size() / ProvingKeyView::kCoefficientBytes;
  if (use == ZkeyUse::kAll) {
    view.coefficients = coefficients;
    PL_RETURN_IF_ERROR(CheckAllCoefficients(view, name));
  }
  key.unsafe = std::ranges::equal(view.gamma2, view.delta2);
  ReadProoflineRecord(file, key);
  return key;
}

ZkeyContributions ReadContributions(const Zkey& key) {
  constexpr size_t kHashBytes = 64;
  ZkeyContributions out;
  auto section = key.sections.Require(zkey::kContributions, "contributions");
  if (!section.ok()) return out;
  out.present = true;
  FieldReader in(*section);
  if (in.left() < kHashBytes + 4) return out;
  in.Take(kHashBytes);
  out.count = in.U32();
  // Three points of G1, one of G2, a hash, the kind, and parameters that the last number counts.
  const size_t fixed = 3 * 2 * FqBytes(key.view.curve) + 4 * FqBytes(key.view.curve) + kHashBytes + 4;
  for (uint32_t i = 0; i < out.count; ++i) {
    if (in.left() < fixed + 4) return out;
    in.Take(fixed);
    uint32_t parameter_bytes = in.U32();
    if (in.left() < parameter_bytes) return out;
    in.Take(parameter_bytes);
  }
  out.readable = in.left() == 0;
  return out;
}

}  // namespace proofline
