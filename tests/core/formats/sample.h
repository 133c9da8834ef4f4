// The committed sample files, read whole.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "core/field/moduli.h"

namespace proofline::testing {

using Bytes = std::vector<uint8_t>;

inline constexpr CurveId kCurves[] = {CurveId::kBn254, CurveId::kBls12381};
inline constexpr const char* kCircuits[] = {"multiplier", "nopublic", "manypublic"};

inline std::string DataPath(const std::string& relative) { return std::string(PROOFLINE_TEST_DATA) + "/" + relative; }
inline std::string SamplePath(CurveId curve, const std::string& file) {
  return DataPath("samples/" + std::string(CurveJsonName(curve)) + "/" + file);
}

inline Bytes ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}
inline Bytes Sample(CurveId curve, const std::string& file) { return ReadAll(SamplePath(curve, file)); }
inline std::string Text(const Bytes& bytes) { return std::string(bytes.begin(), bytes.end()); }

}  // namespace proofline::testing
