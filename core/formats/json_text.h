// Inside core/formats only: strict reading of snarkjs's small JSON files, and their layout when written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/status.h"
#include "core/groth16/types.h"

namespace proofline::json_text {

using Json = nlohmann::json;

// Bounded before anything is built: size, and nesting of `max_depth`. Refused as kInvalidFile: anything but one JSON value, a name that
// is twice in the outermost object.
inline constexpr int kMaxDepth = 8;
Result<Json> Parse(std::string_view text, std::string_view name, size_t max_bytes, int max_depth = kMaxDepth);

// "NAME: PATH: is FOUND, expected EXPECTED".
Status Wrong(std::string_view name, std::string_view path, const Json& found, std::string_view expected);
Status Missing(std::string_view name, std::string_view path);
// The member, or Missing.
Result<const Json*> Member(const Json& object, std::string_view key, std::string_view name);

// "protocol" must say groth16; a file without it passes only if `optional`.
Status CheckProtocol(const Json& object, std::string_view name, bool optional);
// What "curve" says; nullopt without it.
Result<std::optional<CurveId>> ReadCurve(const Json& object, std::string_view name);

// Decimal strings below r, and points [x, y, "1"] / [[c0, c1], [c0, c1], ["1", "0"]] with coordinates below q, or infinity.
Result<FrCanonical> ReadFr(const Json& value, std::string_view path, std::string_view name, CurveId curve);
Result<G1Point> ReadG1(const Json& value, std::string_view path, std::string_view name, CurveId curve);
Result<G2Point> ReadG2(const Json& value, std::string_view path, std::string_view name, CurveId curve);

// Builds what snarkjs's command line writes: one space for each level, a new line for each element, no new line at the end.
class Writer {
 public:
  void OpenObject() { Open('{'); }
  void OpenArray() { Open('['); }
  void CloseObject() { Close('}'); }
  void CloseArray() { Close(']'); }
  void Key(std::string_view key);
  void String(std::string_view text);  // plain ASCII without quotes or backslashes
  void Number(uint64_t value);
  void Point(const G1Point& point);
  void Point(const G2Point& point);
  std::string Take() { return std::move(out_); }

 private:
  void Open(char bracket);
  void Close(char bracket);
  void Begin();  // comma, new line, indentation before an element
  void Pair(std::string_view c0, std::string_view c1);

  std::string out_;
  size_t depth_ = 0;
  bool empty_ = true;       // nothing in the innermost bracket yet
  bool after_key_ = false;  // the value goes on the key's line
};

}  // namespace proofline::json_text
