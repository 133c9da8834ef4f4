#include "core/formats/solidity_calldata.h"

#include "core/base/decimal.h"
#include "core/base/text.h"

namespace proofline {

namespace {
std::string Quoted(ByteSpan value) { return StrCat("\"0x", ToHex(value, 64), '"'); }
}  // namespace

std::string SolidityCalldata(const Proof& proof, std::span<const FrCanonical> publics) {
  std::string inputs;
  for (const FrCanonical& value : publics) {
    if (!inputs.empty()) inputs += ',';
    inputs += Quoted(value);
  }
  const G2Point& b = proof.b;
  return StrCat('[', Quoted(proof.a.x), ", ", Quoted(proof.a.y), "],[[", Quoted(b.x1), ", ", Quoted(b.x0), "],[", Quoted(b.y1), ", ",
                Quoted(b.y0), "]],[", Quoted(proof.c.x), ", ", Quoted(proof.c.y), "],[", inputs, ']');
}

}  // namespace proofline
