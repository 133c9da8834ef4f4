// Complete circuits of up to some hundred thousand rows against the digests of the reference; the larger ones are in large_circuit_test.cc.
#include <map>

#include "tests/core/circuits/filecoin/known_answers.h"
#include "tests/core/circuits/filecoin/synthesise.h"

namespace proofline::filecoin {
namespace {

SectorShape Shape(std::string_view size) { return *SectorShapeOf(*ParseSectorSize(size)); }

TEST(FilecoinCircuits, PoStRowsAreTheReferences) {
  PoStShape window_1 = Shape("32GiB").window, window_2 = window_1;
  window_1.sectors = 1;
  window_2.sectors = 2;
  const std::map<std::string, PoStShape> shapes = {
      {"winning-2KiB", Shape("2KiB").winning},
      {"winning-8MiB", Shape("8MiB").winning},
      {"winning-32GiB", Shape("32GiB").winning},
      {"window-2KiB", Shape("2KiB").window},
      {"window-512MiB", Shape("512MiB").window},
      {"window-32GiB-1sector", window_1},
      {"window-32GiB-2sector", window_2},
      {"test-post-8-5ch-3s", {{64, 8, 0, 0}, 3, 5}},
      {"test-post-8-4-5ch-3s", {{256, 8, 4, 0}, 3, 5}},
  };
  size_t compared = 0;
  for (const Json& line : ReadLines("circuits.jsonl")) {
    const std::string name = line["name"];
    auto it = shapes.find(name);
    if (it == shapes.end()) continue;
    SCOPED_TRACE(name);
    ExpectShape(line, [&](ShapeSystem& cs) { SynthesisePoSt(cs, it->second); });
    ++compared;
  }
  EXPECT_EQ(compared, shapes.size());
}

TEST(FilecoinShapes, EverySize) {
  for (uint64_t size : SectorSizes()) {
    Result<SectorShape> shape = SectorShapeOf(size);
    ASSERT_TRUE(shape.ok());
    uint64_t leaves = 1;
    for (uint32_t arity : shape->porep.tree.levels()) leaves *= arity;
    EXPECT_EQ(leaves, shape->nodes()) << size;
    EXPECT_EQ(*ParseSectorSize(SectorSizeName(size)), size);
    EXPECT_EQ(shape->update.has_value(), size != uint64_t{1} << 30);
  }
  EXPECT_EQ(Shape("32 GiB").update->digests(), 10u);
  EXPECT_EQ(SectorShapeOf(4096 + 32).status().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(ParseSectorSize("32 GB").status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ParseSectorSize("").status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ParseSectorSize("18446744073709551615GiB").status().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace proofline::filecoin
