// C1 (JSON, wrapped, binary) and, behind a byte that says which, vanilla PoSt and update proofs.
#include "core/circuits/filecoin/witness.h"
#include "core/formats/filecoin_c1.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

namespace {

void RequireBounded(const filecoin::MerkleProof& proof) {
  for (const filecoin::PathElement& e : proof.path) fuzz::Require(e.index <= e.siblings.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const filecoin::SectorShape shape = *filecoin::SectorShapeOf(2048);
  if (auto c1 = ReadFilecoinC1({data, size}, "fuzz"); c1.ok()) {
    fuzz::Require(!c1->partitions.empty());
    for (const filecoin::PoRepPartition& partition : c1->partitions) {
      fuzz::Require(!partition.challenges.empty());
      for (const filecoin::PoRepChallenge& c : partition.challenges) RequireBounded(c.comm_d);
      (void)filecoin::CheckForm(shape.porep, partition);
    }
  }
  if (size == 0) return 0;
  const ByteSpan rest(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    auto sector = ReadFilecoinPoStProof(rest, "fuzz");
    if (sector.ok()) {
      for (const filecoin::MerkleProof& proof : sector->openings) RequireBounded(proof);
      (void)filecoin::CheckForm(shape.window, *sector, 10);
    }
  } else if (auto partition = ReadFilecoinUpdateProof(rest, "fuzz"); partition.ok()) {
    for (const filecoin::UpdateChallenge& c : partition->challenges) RequireBounded(c.d_new);
    (void)filecoin::CheckForm(*shape.update, *partition);
  }
  return 0;
}
