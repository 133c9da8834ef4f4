#include "cli/duration.h"

#include <gtest/gtest.h>

namespace proofline::cli {
namespace {

using namespace std::chrono_literals;

TEST(Duration, Parses) {
  const std::pair<const char*, std::chrono::milliseconds> cases[] = {{"500ms", 500ms}, {"30s", 30s},   {"2m", 2min},
                                                                     {"1h", 1h},       {"1.5s", 1500ms}, {"0s", 0ms}, {"720h", 720h}};
  for (const auto& [text, want] : cases) {
    const auto got = ParseDuration(text, "--timeout");
    ASSERT_TRUE(got.ok()) << text;
    EXPECT_EQ(*got, want) << text;
  }
}

TEST(Duration, Refuses) {
  for (const char* text : {"", "30", "s", "-1s", "-0s", "1 s", "1sec", "nans", "infs", "1e3s", "0x10s", "721h", "99999999999999999999h", "1s1", "+1s"}) {
    const auto got = ParseDuration(text, "--timeout");
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.status().code(), ErrorCode::kUsage);
    EXPECT_NE(got.status().error().fact.find("--timeout"), std::string::npos);
  }
}

TEST(Duration, Formats) {
  EXPECT_EQ(FormatNs(0), "0.0 ms");
  EXPECT_EQ(FormatNs(12'345'678), "12.3 ms");
  EXPECT_EQ(FormatNs(999'960'000), "1.00 s");
  EXPECT_EQ(FormatNs(1'240'000'000), "1.24 s");
  EXPECT_EQ(FormatNs(125'000'000'000), "2 m 05 s");
}

}  // namespace
}  // namespace proofline::cli
