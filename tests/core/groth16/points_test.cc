// CheckPoints finds the one bad point of a key, wherever it is, and says where.
#include "core/groth16/points.h"

#include <gtest/gtest.h>

#include "core/circuits/circuit.h"
#include "core/curve/curve.h"
#include "tests/core/groth16/key_in_memory.h"

namespace proofline {
namespace {

constexpr std::pair<KeySink::Section, const char*> kQueries[] = {{KeySink::kIc, "section 3 (IC)"}, {KeySink::kA, "section 5 (A)"},
                                                                {KeySink::kB1, "section 6 (B1)"},  {KeySink::kB2, "section 7 (B2)"},
                                                                {KeySink::kC, "section 8 (C)"},    {KeySink::kH, "section 9 (H)"}};

class PointsTest : public ::testing::TestWithParam<CurveId> {
 protected:
  void SetUp() override {
    auto circuit = MakeChainCircuit(GetParam(), {.steps = 1, .rounds = 2, .seed = "points"});
    ASSERT_TRUE(GenerateKey(circuit->view(), "points", key_).ok());
  }
  const Backend& backend() const { return GetBackend(GetParam()); }
  size_t PointBytes(KeySink::Section section) const { return (section == KeySink::kB2 ? 4 : 2) * FqBytes(GetParam()); }

  KeyInMemory key_;
};

INSTANTIATE_TEST_SUITE_P(Curves, PointsTest, ::testing::Values(CurveId::kBn254, CurveId::kBls12381));

TEST_P(PointsTest, OneBadPointIsFoundAndNamed) {
  for (auto what : {Backend::PointCheck::kOnCurve, Backend::PointCheck::kSubgroup}) {
    ASSERT_TRUE(backend().CheckPoints(key_.view(), what).ok());
    for (const auto& [section, name] : kQueries) {
      auto& bytes = key_.section(section);
      const size_t count = bytes.size() / PointBytes(section);
      for (size_t index : {size_t{0}, count / 2, count - 1}) {
        uint8_t* point = &bytes[index * PointBytes(section)];
        const std::vector<uint8_t> good(point, point + PointBytes(section));
        const std::string where = std::string(name) + ": point " + std::to_string(index) + " of " + std::to_string(count) + " ";
        auto expect = [&](std::string_view text) {
          Status status = backend().CheckPoints(key_.view(), what);
          ASSERT_EQ(status.code(), ErrorCode::kInvalidFile);
          EXPECT_TRUE(status.error().fact.starts_with(where)) << status.ToString();
          EXPECT_NE(status.error().fact.find(text), std::string::npos) << status.ToString();
        };
        point[0] ^= 1;
        expect("not on the curve");
        std::copy(good.begin(), good.end(), point);
        std::fill(point + PointBytes(section) - FqBytes(GetParam()), point + PointBytes(section), uint8_t{0xff});
        expect("below the field order");
        // Infinity is a point.
        std::fill(point, point + PointBytes(section), uint8_t{0});
        EXPECT_TRUE(backend().CheckPoints(key_.view(), what).ok());
        std::copy(good.begin(), good.end(), point);
      }
    }
  }
}

TEST_P(PointsTest, TheFirstOfSeveralIsNamed) {
  auto& bytes = key_.section(KeySink::kA);
  for (size_t index = 5; index < bytes.size() / PointBytes(KeySink::kA); ++index) bytes[index * PointBytes(KeySink::kA)] ^= 1;
  Status status = backend().CheckPoints(key_.view(), Backend::PointCheck::kOnCurve);
  EXPECT_NE(status.error().fact.find("point 5 of"), std::string::npos) << status.ToString();
}

TEST_P(PointsTest, HeaderPointsAreNamedAndMustNotBeInfinity) {
  const size_t g1 = 2 * FqBytes(GetParam());
  const std::pair<size_t, const char*> points[] = {{0, "alpha1"},      {g1, "beta1"},      {2 * g1, "beta2"},
                                                   {4 * g1, "gamma2"}, {6 * g1, "delta1"}, {7 * g1, "delta2"}};
  auto& bytes = key_.section(KeySink::kHeaderPoints);
  for (const auto& [offset, name] : points) {
    const std::vector<uint8_t> good = bytes;
    bytes[offset] ^= 1;
    for (Status status : {backend().CheckPoints(key_.view(), Backend::PointCheck::kOnCurve),
                          backend().ExtractVerificationKey(key_.view()).status()}) {
      EXPECT_EQ(status.code(), ErrorCode::kInvalidFile);
      EXPECT_NE(status.ToString().find(std::string("section 2 (header): ") + name), std::string::npos) << status.ToString();
    }
    bytes = good;
    const size_t length = std::string_view(name).ends_with('2') ? 2 * g1 : g1;
    std::fill(bytes.begin() + offset, bytes.begin() + offset + length, uint8_t{0});
    Status status = backend().CheckPoints(key_.view(), Backend::PointCheck::kOnCurve);
    EXPECT_NE(status.ToString().find("infinity"), std::string::npos) << status.ToString();
    bytes = good;
  }
}

}  // namespace
}  // namespace proofline
