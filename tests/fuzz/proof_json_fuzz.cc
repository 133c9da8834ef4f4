#include "core/formats/proof_json.h"
#include "core/formats/solidity_calldata.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (auto expected : {std::optional<CurveId>(), std::optional(CurveId::kBn254), std::optional(CurveId::kBls12381)}) {
    auto proof = ProofFromJson(fuzz::Text(data, size), "fuzz", expected);
    if (!proof.ok()) continue;
    auto again = ProofFromJson(ProofToJson(*proof), "fuzz", std::nullopt);
    fuzz::Require(again.ok() && *again == *proof);
    fuzz::Require(!SolidityCalldata(*proof, {}).empty());
  }
  return 0;
}
