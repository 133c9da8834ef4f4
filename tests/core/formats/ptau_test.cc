#include "core/formats/ptau.h"

#include "tests/core/formats/forge.h"

namespace proofline {
namespace {

using namespace testing;

Status Read(const Bytes& file) { return ReadPtauHeader(file, "P.ptau").status(); }

TEST(Ptau, HeaderIsRead) {
  for (CurveId curve : kCurves) {
    Bytes file = ReadAll(DataPath("ptau/power1." + std::string(CurveJsonName(curve)) + ".ptau"));
    auto header = ReadPtauHeader(file, "P.ptau");
    ASSERT_TRUE(header.ok()) << header.status().ToString();
    EXPECT_EQ(header->curve, curve);
    EXPECT_EQ(header->power, 1u);
    EXPECT_EQ(header->ceremony_power, 1u);
    ExpectEveryCutRefused(file, Read);
    ExpectEveryFlipHandled(file, 1000, 21, Read);
    Forge forge = Forge::Of(file);
    forge[1][4] ^= 1;
    ExpectRefused(Read(forge.Build()), {"P.ptau", "section 1", "prime is", "expected"}, "prime");
    forge[1].push_back(0);
    ExpectRefused(Read(forge.Build()), {"P.ptau", "section 1", "length is", "expected"}, "length");
    Put<uint32_t>(forge[1], 0, 0xffffffff);
    ExpectRefused(Read(forge.Build()), {"P.ptau", "section 1", "n8 is 4294967295"}, "n8");
    forge[1].clear();
    ExpectRefused(Read(forge.Build()), {"P.ptau", "section 1", "length is 0"}, "empty");
  }
}

}  // namespace
}  // namespace proofline
