// The key of a proof of replication, 1.1 GB, and proofs with it. Two minutes of one core for the key, one for each proof.
#include "core/formats/filecoin_c1.h"
#include "tests/core/circuits/filecoin/key_fixture.h"

namespace proofline::filecoin {
namespace {

TEST_F(KeyTest, PoRep2KiB) {
  MakeKey("porep-2KiB", "porep-2KiB.fil2k-v1_1-a");
  auto c1 = ReadFilecoinC1(ReadVector("fil2k-v1_1-a.c1.bincode"), "c1");
  ASSERT_TRUE(c1.ok()) << c1.status().ToString();
  Prove(DenseOf(MakePoRepWitness(SectorShapeOf(2048)->porep, c1->partitions[0])));
}

}  // namespace
}  // namespace proofline::filecoin
