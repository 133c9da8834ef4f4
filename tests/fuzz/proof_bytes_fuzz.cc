#include <algorithm>

#include "core/formats/proof_bytes.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto proofs = DecodeProofs({data, size}, "fuzz");
  if (!proofs.ok()) return 0;
  fuzz::Require(LooksLikeProofBytes({data, size}));
  // One spelling of each proof: what was decoded is written back as it was.
  const uint8_t* at = data + size - proofs->size() * kProofBytes;
  for (const Proof& proof : *proofs) {
    const auto bytes = EncodeProof(proof);
    fuzz::Require(std::equal(bytes.begin(), bytes.end(), at));
    at += kProofBytes;
  }
  return 0;
}
