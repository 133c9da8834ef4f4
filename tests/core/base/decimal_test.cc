#include "core/base/decimal.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace proofline {
namespace {

TEST(Decimal, KnownValues) {
  struct Case {
    std::vector<uint8_t> bytes;
    const char* decimal;
  };
  std::vector<uint8_t> p25519(32, 0xff);  // 2^255 - 19, from RFC 7748
  p25519[0] = 0xed;
  p25519[31] = 0x7f;
  for (const Case& c : {Case{{}, "0"}, Case{{0, 0, 0}, "0"}, Case{{1}, "1"}, Case{{10, 0}, "10"}, Case{{0, 1}, "256"},
                        Case{{0x00, 0xca, 0x9a, 0x3b}, "1000000000"}, Case{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "18446744073709551615"},
                        Case{p25519, "57896044618658097711785492504343953926634992332820282019728792003956564819949"}}) {
    EXPECT_EQ(ToDecimal(c.bytes), c.decimal);
    std::vector<uint8_t> back(c.bytes.size());
    if (back.empty()) continue;
    EXPECT_TRUE(ParseDecimal(c.decimal, back));
    EXPECT_EQ(back, c.bytes);
  }
}

TEST(Decimal, BoundsOfTheWidth) {
  std::array<uint8_t, 1> byte;
  EXPECT_TRUE(ParseDecimal("255", byte));
  EXPECT_FALSE(ParseDecimal("256", byte));
  std::array<uint8_t, 64> widest;
  std::string largest = ToDecimal(std::vector<uint8_t>(64, 0xff));
  EXPECT_EQ(largest.size(), 155u);
  EXPECT_TRUE(ParseDecimal(largest, widest));
  largest[0] = '9';
  EXPECT_FALSE(ParseDecimal(largest, widest));
  EXPECT_FALSE(ParseDecimal(std::string(100000, '9'), widest));
}

TEST(Decimal, OnlyDigits) {
  std::array<uint8_t, 32> out;
  for (std::string_view text : {"", "-1", "+1", " 1", "1 ", "0x1", "1e1", "1.", "01", "00", "1\n", "a"}) EXPECT_FALSE(ParseDecimal(text, out)) << text;
  EXPECT_FALSE(ParseDecimal(std::string_view("1\0", 2), out));
}

TEST(Decimal, Hex) {
  std::vector<uint8_t> v = {0xef, 0xbe, 0x0d, 0x00};
  EXPECT_EQ(ToHex(v, 0), "dbeef");
  EXPECT_EQ(ToHex(v, 8), "000dbeef");
  EXPECT_EQ(ToHex(std::vector<uint8_t>(4), 0), "");
}

}  // namespace
}  // namespace proofline
