// Complete circuits of millions of rows, row by row against the digests of the reference. About four minutes.
#include <map>

#include "tests/core/circuits/filecoin/known_answers.h"
#include "tests/core/circuits/filecoin/synthesise.h"

namespace proofline::filecoin {
namespace {

SectorShape Shape(std::string_view size) { return *SectorShapeOf(*ParseSectorSize(size)); }

class LargeCircuit : public testing::TestWithParam<std::string> {};

TEST_P(LargeCircuit, RowsAreTheReferences) {
  PoRepShape one = Shape("32GiB").porep, two = one;
  one.challenges = 1;
  two.challenges = 2;
  const std::map<std::string, PoRepShape> porep = {
      {"porep-32GiB-1challenge", one},
      {"porep-32GiB-2challenge", two},
      {"test-porep-bin2-l2-c1-n8", {{8, 2, 0, 0}, 2, 1, 1}},
      {"test-porep-8-l2-c1-n8", {{8, 8, 0, 0}, 2, 1, 1}},
      {"test-porep-8-4-l2-c1", {{32, 8, 4, 0}, 2, 1, 1}},
      {"porep-2KiB", Shape("2KiB").porep},
      {"porep-16KiB", Shape("16KiB").porep},
      {"porep-8MiB", Shape("8MiB").porep},
      {"porep-512MiB", Shape("512MiB").porep},
  };
  const std::map<std::string, UpdateShape> update = {
      {"update-2KiB", *Shape("2KiB").update},
      {"update-32KiB", *Shape("32KiB").update},
      {"update-8MiB", *Shape("8MiB").update},
  };
  bool compared = false;
  for (const Json& line : ReadLines("circuits.jsonl")) {
    if (line["name"] != GetParam()) continue;
    if (auto it = porep.find(GetParam()); it != porep.end())
      ExpectShape(line, [&](ShapeSystem& cs) { SynthesisePoRep(cs, it->second); });
    if (auto it = update.find(GetParam()); it != update.end())
      ExpectShape(line, [&](ShapeSystem& cs) { SynthesiseUpdate(cs, it->second); });
    compared = true;
  }
  EXPECT_TRUE(compared);
}

INSTANTIATE_TEST_SUITE_P(All, LargeCircuit,
                         testing::Values("test-porep-bin2-l2-c1-n8", "test-porep-8-l2-c1-n8", "test-porep-8-4-l2-c1", "porep-2KiB",
                                         "porep-16KiB", "porep-8MiB", "porep-512MiB", "porep-32GiB-1challenge",
                                         "porep-32GiB-2challenge", "update-2KiB", "update-32KiB", "update-8MiB"));

}  // namespace
}  // namespace proofline::filecoin
