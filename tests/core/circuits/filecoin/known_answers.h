// The known answers of tests/data/filecoin, one JSON object a line.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/circuits/filecoin/r1cs_digest.h"

namespace proofline::filecoin {

using Json = nlohmann::json;

inline std::vector<Json> ReadLines(const std::string& name) {
  std::ifstream file(PROOFLINE_TEST_DATA + name);
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  EXPECT_FALSE(lines.empty()) << name;
  return lines;
}

inline std::vector<uint8_t> FromHex(const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}
inline FrCanonical FrFromHex(const std::string& hex) {
  FrCanonical out{};
  const std::vector<uint8_t> bytes = FromHex(hex);
  std::copy_n(bytes.begin(), out.size(), out.begin());
  return out;
}

// Synthesises twice, for the counts and for the digest, and compares everything that `expected` says.
template <class F>
void ExpectShape(const Json& expected, const F& synthesise) {
  TotalsSink sink;
  ShapeSystem counting(sink);
  synthesise(counting);
  const R1csTotals totals = sink.totals();
  EXPECT_EQ(counting.num_inputs(), expected["num_inputs"]);
  EXPECT_EQ(counting.num_aux(), expected["num_aux"]);
  EXPECT_EQ(totals.rows, expected["num_constraints"]);
  const std::vector<uint64_t> nnz = expected.contains("nnz") ? expected["nnz"].get<std::vector<uint64_t>>()
                                                             : std::vector<uint64_t>{expected["nnz_a"], expected["nnz_b"], expected["nnz_c"]};
  EXPECT_EQ((std::vector<uint64_t>{totals.nnz_a, totals.nnz_b, totals.nnz_c}), nnz);
  EXPECT_EQ(totals.a_aux, expected["a_aux_density"]);
  EXPECT_EQ(totals.b_inputs, expected["b_input_density"]);
  EXPECT_EQ(totals.b_aux, expected["b_aux_density"]);

  R1csDigest digest(counting.num_inputs(), counting.num_aux(), totals.rows);
  ShapeSystem hashing(digest);
  synthesise(hashing);
  EXPECT_EQ(DigestHex(digest.Finish()), expected["r1cs_digest"]);
}

}  // namespace proofline::filecoin
