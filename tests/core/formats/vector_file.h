// The vectors in tests/data/filecoin: files, and lines of JSON.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "core/groth16/types.h"

namespace proofline {

inline std::vector<uint8_t> ReadVector(const std::string& name) {
  std::ifstream in(std::string(PROOFLINE_TEST_DATA) + "/filecoin/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<nlohmann::json> ReadVectorLines(const std::string& name) {
  std::ifstream in(std::string(PROOFLINE_TEST_DATA) + "/filecoin/" + name);
  std::vector<nlohmann::json> out;
  for (std::string line; std::getline(in, line);) out.push_back(nlohmann::json::parse(line));
  return out;
}

inline nlohmann::json FindVector(const std::string& name, const std::string& key, const std::string& value) {
  for (nlohmann::json& line : ReadVectorLines(name))
    if (line.value(key, "") == value) return line;
  return {};
}

inline std::vector<uint8_t> FromHex(const std::string& hex) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) out.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return out;
}

inline std::string ToHex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (uint8_t b : bytes) {
    out += kDigits[b >> 4];
    out += kDigits[b & 15];
  }
  return out;
}

inline FrCanonical FrFromHex(const std::string& little_endian) {
  FrCanonical out{};
  const auto bytes = FromHex(little_endian);
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

inline std::vector<FrCanonical> FrsFromHex(const nlohmann::json& list) {
  std::vector<FrCanonical> out;
  for (const auto& item : list) out.push_back(FrFromHex(item.get<std::string>()));
  return out;
}

}  // namespace proofline
