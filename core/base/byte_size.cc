#include "core/base/byte_size.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/text.h"

namespace proofline {
namespace {

struct Unit {
  std::string_view name;
  uint64_t bytes;
};
constexpr Unit kUnits[] = {{"B", 1},           {"KiB", 1ull << 10},   {"MiB", 1ull << 20},       {"GiB", 1ull << 30},          {"TiB", 1ull << 40},
                           {"kB", 1'000},      {"MB", 1'000'000},     {"GB", 1'000'000'000},     {"TB", 1'000'000'000'000}};

bool IsDigit(char c) { return '0' <= c && c <= '9'; }

// The digits at the front of `text`, which moves behind them. False for none and for more than `most`.
bool TakeDigits(std::string_view& text, size_t most, uint64_t& value, size_t& count) {
  count = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin());
  if (count == 0 || count > most) return false;
  std::from_chars(text.data(), text.data() + count, value);
  text.remove_prefix(count);
  return true;
}

}  // namespace

Result<uint64_t> ParseByteSize(std::string_view text, std::string_view option) {
  const Status bad(ErrorCode::kUsage, StrCat(option, ": \"", text, "\" is no size"), "", "write a number and a unit: 16GiB, 24GB, 15.6GiB or 512MiB");
  uint64_t whole = 0, fraction = 0, scale = 1;
  size_t count = 0;
  std::string_view rest = text;
  if (!TakeDigits(rest, 18, whole, count)) return bad;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    if (!TakeDigits(rest, 6, fraction, count)) return bad;
    for (size_t i = 0; i < count; ++i) scale *= 10;
  }
  const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return u.name == rest; });
  if (unit == std::end(kUnits) || whole >= (uint64_t{1} << 63) / unit->bytes) return bad;
  // fraction < 10^6 and a unit is at most 2^40, so the product stays below 2^60.
  const uint64_t bytes = whole * unit->bytes + fraction * unit->bytes / scale;
  if (bytes == 0) return bad;
  return bytes;
}

}  // namespace proofline
