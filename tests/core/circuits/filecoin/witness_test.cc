// Witnesses of really sealed sectors: the values and the rows they give are the reference's.
#include "core/circuits/filecoin/witness.h"

#include "core/circuits/filecoin/witness_system.h"
#include "core/formats/filecoin_c1.h"
#include "tests/core/circuits/filecoin/synthesise.h"
#include "tests/core/circuits/filecoin/witness_digests.h"

namespace proofline::filecoin {
namespace {

const std::string kData = PROOFLINE_TEST_DATA;

SectorShape Shape(std::string_view size) { return *SectorShapeOf(*ParseSectorSize(size)); }

TEST(FilecoinWitness, PoRep2KiB) {
  Result<FilecoinC1> c1 = ReadFilecoinC1(ReadData(kData + "fil2k-v1_1-a.c1.bincode"), "c1");
  ASSERT_TRUE(c1.ok()) << c1.status().ToString();
  const PoRepShape shape = Shape("2KiB").porep;
  ExpectWitness(WitnessAnswer("fil2k-v1_1-a/p0"), MakePoRepWitness(shape, c1->partitions[0]), *CompilePoRep(shape));
}

TEST(FilecoinWitness, Window2KiB) {
  Result<PoStSector> sector = ReadFilecoinPoStProof(ReadData(kData + "fil2k-v1_1-a.window.vproof"), "vproof");
  ASSERT_TRUE(sector.ok()) << sector.status().ToString();
  const PoStShape shape = Shape("2KiB").window;
  ExpectWitness(WitnessAnswer("fil2k-v1_1-a.window"), MakeWindowWitness(shape, std::span(&*sector, 1)), *CompilePoSt(shape));
}

TEST(FilecoinWitness, Update2KiB) {
  Result<UpdatePartition> partition = ReadFilecoinUpdateProof(ReadData(kData + "upd2k.p0.vproof"), "vproof");
  ASSERT_TRUE(partition.ok()) << partition.status().ToString();
  for (const Json& line : ReadLines("sealed.jsonl")) {
    if (!line.contains("update")) continue;
    partition->comm_r_old = FrFromHex(line["comm_r_old"]);
    partition->comm_r_new = FrFromHex(line["comm_r_new"]);
    partition->comm_d_new = FrFromHex(line["comm_d_new"]);
  }
  partition->h_select = 1;
  const UpdateShape shape = *Shape("2KiB").update;
  ExpectWitness(WitnessAnswer("upd2k/p0"), MakeUpdateWitness(shape, *partition), *CompileUpdate(shape));
}

// SHA-256 by words gives what SHA-256 by bits gives, in the same order, whatever is constant among its operands.
TEST(FilecoinWitness, WordwiseSha256IsTheBitwise) {
  for (uint64_t pattern : {uint64_t{0}, ~uint64_t{0}, uint64_t{0x0123456789abcdef}, uint64_t{0xf0f0f0f0aaaaaaaa}}) {
    for (uint64_t kinds : {uint64_t{0}, uint64_t{0x1}, uint64_t{0xffff0000ffff0000}, uint64_t{0x5a5a5a5a00ff00ff}}) {
      auto hash = [&](auto& cs) {
        using CS = std::decay_t<decltype(cs)>;
        std::vector<Boolean<CS>> bits;
        for (int i = 0; i < 700; ++i) {
          const bool value = std::rotl(pattern, i / 3) & 1, constant = std::rotl(kinds, i) & 1;
          Boolean<CS> b = constant ? Boolean<CS>::Constant(value) : AllocBit(cs, value);
          bits.push_back(i % 5 == 0 ? !b : b);
        }
        return Sha256<CS>(cs, bits);
      };
      WitnessSystem words;
      BitwiseWitnessSystem bits;
      const auto digest = hash(words);
      const auto twin = hash(bits);
      for (size_t i = 0; i < digest.size(); ++i) {
        ASSERT_EQ(digest[i].kind, twin[i].kind) << i;
        ASSERT_EQ(digest[i].bit, twin[i].bit) << i;
      }
      ASSERT_EQ(words.aux().count(), bits.aux().count());
      EXPECT_EQ(words.aux().TakeClasses(), bits.aux().TakeClasses());
    }
  }
}

TEST(FilecoinWitness, CompactFormHoldsEveryValue) {
  for (uint64_t count : {0, 1, 31, 32, 33, 511, 512, 513, 2000}) {
    WitnessPart part, head, tail;
    std::vector<FrCanonical> dense;
    for (uint64_t i = 0; i < count; ++i) {
      const Fr value = i % 7 == 3 ? Fr::FromU64(i * i + 2) : i % 3 == 0 ? Fr::One() : Fr::Zero();
      dense.push_back(CanonicalOf(value));
      (i < count / 3 ? head : tail).Put(value);
    }
    part.Append(head);
    part.Append(tail);
    ASSERT_EQ(part.count(), count);
    CompactBytes bytes(part);
    const CompactWitnessView view = bytes.view();
    for (uint64_t i = 0; i < count; ++i) {
      FrCanonical one;
      view.Expand(i, one);
      EXPECT_EQ(one, dense[i]) << i;
      if (view.ClassOf(i) == ValueClass::kWide) {
        EXPECT_EQ(view.WideAt(i), dense[i]) << i;
      }
    }
    std::vector<uint8_t> all(count * kFrBytes);
    view.Expand(0, all);
    EXPECT_TRUE(std::equal(all.begin(), all.end(), reinterpret_cast<const uint8_t*>(dense.data())));
  }
}

TEST(FilecoinWitness, DamagedCompactFormIsRefused) {
  WitnessPart part;
  for (int i = 0; i < 1000; ++i) part.Put(i % 9 == 0 ? Fr::FromU64(i + 2) : Fr::One());
  CompactBytes bytes(part);
  const std::vector<uint8_t> good(bytes.bytes().begin(), bytes.bytes().end());
  ASSERT_TRUE(ReadCompactWitness(bytes.bytes()).ok());
  EXPECT_FALSE(ReadCompactWitness(bytes.bytes().first(good.size() - 1)).ok());
  EXPECT_FALSE(ReadCompactWitness(bytes.bytes().first(8)).ok());
  for (size_t at : {0, 1, 7, 8, 15, 16, 63, 64, 100, 64 + 250, 64 + 256 + 4, 64 + 256 + 8}) {
    bytes.bytes()[at] ^= 0x81;
    EXPECT_EQ(ReadCompactWitness(bytes.bytes()).status().code(), ErrorCode::kInvalidFile) << at;
    bytes.bytes()[at] = good[at];
  }
}

TEST(FilecoinWitness, WrongFormIsRefusedByName) {
  Result<FilecoinC1> c1 = ReadFilecoinC1(ReadData(kData + "fil2k-v1_1-a.c1.bincode"), "c1");
  ASSERT_TRUE(c1.ok());
  const PoRepShape shape = Shape("2KiB").porep;
  PoRepPartition bad = c1->partitions[0];
  bad.challenges[1].drg_parents[4].inclusion.path[1].siblings.pop_back();
  Status status = MakePoRepWitness(shape, bad).status();
  EXPECT_EQ(status.code(), ErrorCode::kMismatch);
  EXPECT_EQ(status.error().fact, "challenge 1, column of DRG parent 4, path in TreeC, level 1: has 6 siblings, expected 7");
  EXPECT_EQ(MakePoRepWitness(Shape("4KiB").porep, c1->partitions[0]).status().code(), ErrorCode::kMismatch);
}

}  // namespace
}  // namespace proofline::filecoin
