#include "core/circuits/filecoin/compact_witness.h"

#include <algorithm>
#include <bit>

#include "core/base/text.h"

namespace proofline::filecoin {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kHigh = 0xaaaaaaaaaaaaaaaa;  // the bits that say "wide"

struct Layout {
  uint64_t classes, marks, wide, end;
};

uint64_t Aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

Layout LayoutOf(uint64_t count, uint64_t wide_count) {
  Layout l;
  l.classes = kAlignment;
  l.marks = l.classes + Aligned((count + 31) / 32 * 8);
  l.wide = l.marks + Aligned((count + CompactWitnessView::kValuesPerMark - 1) / CompactWitnessView::kValuesPerMark * 4);
  l.end = l.wide + wide_count * sizeof(FrCanonical);
  return l;
}

bool AllZero(ByteSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

Status Damaged(std::string text) { return Status(ErrorCode::kInvalidFile, "compact witness: " + std::move(text)); }

}  // namespace

void WitnessPart::Reserve(uint64_t count, uint64_t wide_count) {
  classes_.reserve((count + 31) / 32 + 1);
  wide_.reserve(wide_count);
}

void WitnessPart::Put(const Fr& value) {
  if (value.IsZero()) return Append(uint64_t(ValueClass::kZero), 1);
  if (value == Fr::One()) return Append(uint64_t(ValueClass::kOne), 1);
  Append(uint64_t(ValueClass::kWide), 1);
  value.StoreCanon(wide_.emplace_back().data());
}

void WitnessPart::Put(const FrCanonical& value) { Put(FrOf(value)); }

void WitnessPart::Append(const WitnessPart& other) {
  for (uint64_t word : other.classes_) Append(word, 32);
  Append(other.open_word_, static_cast<int>(other.count_ % 32));
  wide_.insert(wide_.end(), other.wide_.begin(), other.wide_.end());
}

std::vector<uint64_t> WitnessPart::TakeClasses() {
  if (count_ % 32 != 0) classes_.push_back(open_word_);
  return std::move(classes_);
}

const FrCanonical& CompactWitnessView::WideAt(uint64_t i) const {
  uint64_t before = marks[i / kValuesPerMark];
  for (uint64_t word = i / kValuesPerMark * (kValuesPerMark / 32); word < i / 32; ++word) before += std::popcount(classes[word] & kHigh);
  const uint64_t below = (uint64_t{1} << (2 * (i % 32))) - 1;
  return wide[before + std::popcount(classes[i / 32] & kHigh & below)];
}

void CompactWitnessView::Expand(uint64_t first, MutableByteSpan out) const {
  const uint64_t last = first + out.size() / kFrBytes;
  std::ranges::fill(out, uint8_t{0});
  uint64_t next_wide = marks.empty() ? 0 : marks[first / kValuesPerMark];
  for (uint64_t i = first / kValuesPerMark * kValuesPerMark; i < last; ++i) {
    const ValueClass c = ClassOf(i);
    uint8_t* to = i < first ? nullptr : out.data() + (i - first) * kFrBytes;
    if (c == ValueClass::kWide) {
      if (to) std::memcpy(to, wide[next_wide].data(), kFrBytes);
      ++next_wide;
    } else if (to) {
      to[0] = static_cast<uint8_t>(c);
    }
  }
}

uint64_t CompactWitnessBytes(uint64_t count, uint64_t wide_count) { return LayoutOf(count, wide_count).end; }

void WriteCompactWitness(WitnessPart part, MutableByteSpan out) {
  const uint64_t count = part.count(), wide_count = part.wide().size();
  const Layout layout = LayoutOf(count, wide_count);
  std::memset(out.data(), 0, kAlignment);
  StoreLe(out.data(), count);
  StoreLe(out.data() + 8, wide_count);
  const std::vector<uint64_t> classes = part.TakeClasses();
  if (!classes.empty()) std::memcpy(out.data() + layout.classes, classes.data(), classes.size() * 8);  // data() of none may be null
  std::memset(out.data() + layout.classes + classes.size() * 8, 0, layout.marks - layout.classes - classes.size() * 8);

  constexpr size_t kWordsPerMark = CompactWitnessView::kValuesPerMark / 32;
  uint8_t* mark = out.data() + layout.marks;
  uint32_t before = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (i % kWordsPerMark == 0) {
      StoreLe(mark, before);
      mark += 4;
    }
    before += static_cast<uint32_t>(std::popcount(classes[i] & kHigh));
  }
  std::memset(mark, 0, out.data() + layout.wide - mark);
  if (wide_count > 0) std::memcpy(out.data() + layout.wide, part.wide().data(), wide_count * sizeof(FrCanonical));
}

Result<CompactWitnessView> ReadCompactWitness(ByteSpan bytes) {
  if (bytes.size() < kAlignment) return Damaged(StrCat("has ", bytes.size(), " bytes, expected at least ", kAlignment));
  const uint64_t count = LoadLe<uint64_t>(bytes.data()), wide_count = LoadLe<uint64_t>(bytes.data() + 8);
  // Bounds that keep LayoutOf from wrapping.
  if (count > bytes.size() * 4 || wide_count > bytes.size() / sizeof(FrCanonical) || wide_count > UINT32_MAX ||
      CompactWitnessBytes(count, wide_count) != bytes.size())
    return Damaged(StrCat(count, " values, ", wide_count, " of them wide, do not fill ", bytes.size(), " bytes"));
  const Layout layout = LayoutOf(count, wide_count);
  CompactWitnessView view;
  view.count = count;
  view.classes = {reinterpret_cast<const uint64_t*>(bytes.data() + layout.classes), (count + 31) / 32};
  view.marks = {reinterpret_cast<const uint32_t*>(bytes.data() + layout.marks),
                (count + CompactWitnessView::kValuesPerMark - 1) / CompactWitnessView::kValuesPerMark};
  view.wide = {reinterpret_cast<const FrCanonical*>(bytes.data() + layout.wide), wide_count};
  uint64_t before = 0;
  for (size_t i = 0; i < view.classes.size(); ++i) {
    if (i % (CompactWitnessView::kValuesPerMark / 32) == 0 && view.marks[i / (CompactWitnessView::kValuesPerMark / 32)] != before)
      return Damaged(StrCat("mark ", i / (CompactWitnessView::kValuesPerMark / 32), " is wrong, expected ", before));
    const uint64_t word = view.classes[i];
    if ((word & word >> 1 & ~kHigh) != 0) return Damaged(StrCat("a value of ", i * 32, " to ", i * 32 + 31, " is of no known class"));
    before += std::popcount(word & kHigh);
  }
  const uint64_t classes_end = layout.classes + view.classes.size_bytes(), marks_end = layout.marks + view.marks.size_bytes();
  if (!AllZero(bytes.subspan(16, kAlignment - 16)) || !AllZero(bytes.subspan(classes_end, layout.marks - classes_end)) ||
      !AllZero(bytes.subspan(marks_end, layout.wide - marks_end)))
    return Damaged("there is something between its sections");
  if (count % 32 != 0 && view.classes.back() >> (2 * (count % 32)) != 0) return Damaged("classes follow the last value");
  if (before != wide_count) return Damaged(StrCat("has ", wide_count, " wide values, its classes say ", before));
  return view;
}

}  // namespace proofline::filecoin
