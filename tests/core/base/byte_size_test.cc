#include "core/base/byte_size.h"

#include <gtest/gtest.h>

namespace proofline {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(ByteSize, UnitsAndFractions) {
  const std::pair<const char*, uint64_t> good[] = {{"16GiB", 16 * kGiB}, {"24GB", 24'000'000'000}, {"512MiB", kGiB / 2}, {"1B", 1}, {"0.5KiB", 512}, {"15.6GiB", 16'750'372'454},
                                                   {"0.000001MB", 1}, {"7kB", 7000}, {"1TiB", 1024 * kGiB}, {"8388607TiB", 8388607ull << 40}};
  for (const auto& [text, bytes] : good) {
    const auto size = ParseByteSize(text, "--vram");
    ASSERT_TRUE(size.ok()) << text;
    EXPECT_EQ(*size, bytes) << text;
  }
}

TEST(ByteSize, RefusesAllElse) {
  for (const char* text : {"", "16", "GiB", "16 GiB", " 16GiB", "16GiB ", "16Gib", "16gib", "16G", "-1GiB", "+1GiB", "1e3GiB", "0GiB", "0.5B", ".5GiB", "1.GiB", "1.1234567GiB", "1,5GiB",
                           "0x10GiB", "8388608TiB", "99999999999999999999B", "9999999999999999999B", "18446744073709551616GiB", "16GiBs", "1.2.3GiB"}) {
    const auto size = ParseByteSize(text, "--vram");
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_EQ(size.status().code(), ErrorCode::kUsage) << text;
    EXPECT_NE(size.status().error().fact.find("--vram"), std::string::npos);
  }
}

}  // namespace
}  // namespace proofline
