// Points and values out of the JSON files of the samples (tests/data/samples), without the project's own readers.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/decimal.h"
#include "core/curve/curve.h"

namespace proofline {

inline nlohmann::json ReadSample(CurveId curve, const std::string& name) {
  std::string path = std::string(PROOFLINE_SAMPLES) + "/" + std::string(CurveJsonName(curve)) + "/" + name;
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  return nlohmann::json::parse(file);
}

template <class F>
F SampleField(const nlohmann::json& decimal) {
  std::array<uint8_t, F::kBytes> bytes{};
  EXPECT_TRUE(ParseDecimal(decimal.get<std::string>(), bytes)) << decimal;
  EXPECT_TRUE(F::IsReduced(bytes.data()));
  return F::LoadCanon(bytes.data());
}

template <class Curve>
typename Curve::Fq2 SampleFq2(const nlohmann::json& pair) {
  return {SampleField<typename Curve::Fq>(pair[0]), SampleField<typename Curve::Fq>(pair[1])};
}

// [x, y, "1"]
template <class Curve>
typename Curve::G1 SampleG1(const nlohmann::json& point) {
  return {SampleField<typename Curve::Fq>(point[0]), SampleField<typename Curve::Fq>(point[1])};
}

template <class Curve>
typename Curve::G2 SampleG2(const nlohmann::json& point) {
  return {SampleFq2<Curve>(point[0]), SampleFq2<Curve>(point[1])};
}

}  // namespace proofline
