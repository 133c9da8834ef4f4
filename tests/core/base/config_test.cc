#include "core/base/config.h"

#include <gtest/gtest.h>

namespace proofline {
namespace {

TEST(ConfigTest, AnEmptyFileGivesTheDefaults) {
  const auto config = ParseConfig("", "x.toml");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->slot_count, 0u);
  EXPECT_EQ(config->keep_results_s, 604800u);
  EXPECT_TRUE(config->huge_pages);
  EXPECT_EQ(config->log_level, LogLevel::kInfo);
}

TEST(ConfigTest, ReadsEverySetting) {
  const auto config = ParseConfig(R"(
state_dir = "/srv/p"
run_dir = "/run/p"
[slots]
count = 6
bytes = "512MiB"
result_bytes = 65536
huge_pages = false
[workers]
synth = 2
devices = ["cpu", "cuda:1"]
[results]
keep = "36h"
[log]
level = "debug"
)", "x.toml");
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->state_dir, "/srv/p");
  EXPECT_EQ(config->run_dir, "/run/p");
  EXPECT_EQ(config->slot_count, 6u);
  EXPECT_EQ(config->slot_bytes, uint64_t{512} << 20);
  EXPECT_EQ(config->slot_result_bytes, 65536u);
  EXPECT_FALSE(config->huge_pages);
  EXPECT_EQ(config->synth_workers, 2u);
  EXPECT_EQ(config->devices, (std::vector<std::string>{"cpu", "cuda:1"}));
  EXPECT_EQ(config->keep_results_s, 129600u);
  EXPECT_EQ(config->log_level, LogLevel::kDebug);
}

struct Refused {
  const char* text;
  const char* line;
};

TEST(ConfigTest, WhatIsWrongIsNamedWithItsLine) {
  for (const auto& [text, line] : std::initializer_list<Refused>{
           {"[slots]\ncuont = 3", "line 2"}, {"[slots]\ncount = 0", "line 2"}, {"[slots]\ncount = -1", "line 2"},
           {"[slots]\ncount = \"3\"", "line 2"}, {"[slots]\ncount = 5000", "line 2"}, {"\n\nslots = 3", "line 3"},
           {"[slots]\nbytes = \"12 monkeys\"", "line 2"}, {"[slots]\nbytes = 0", "line 2"},
           {"[slots]\nbytes = \"99999999999999GiB\"", "line 2"}, {"[workers]\ndevices = [1]", "line 2"},
           {"[results]\nkeep = \"soon\"", "line 2"}, {"[log]\nlevel = \"loud\"", "line 2"}, {"a = ", "line 1"},
           {"state_dir = 'x'\nstate_dir = 'y'", "line 2"}, {"[slots\n", "line 1"}}) {
    const auto config = ParseConfig(text, "x.toml");
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_EQ(config.status().code(), ErrorCode::kUsage);
    EXPECT_NE(config.status().error().fact.find(line), std::string::npos) << text << ": " << config.status().ToString();
    EXPECT_NE(config.status().error().fact.find("x.toml"), std::string::npos);
  }
}

TEST(ConfigTest, AMissingFileIsAnError) { EXPECT_EQ(LoadConfig("/no/such/file.toml").status().code(), ErrorCode::kIo); }

TEST(ConfigTest, Times) {
  EXPECT_EQ(*ParseLongDuration("7d"), 604800u);
  for (const char* text : {"", "7", "0s", "d", "-1s", "1 s", "1.5h", "1w", "18446744073709551616s", "18446744073709551615d"}) {
    EXPECT_FALSE(ParseLongDuration(text).ok()) << text;
  }
}

TEST(ConfigTest, LettersOfAllLanguagesInTextsAndComments) {
  const auto config = ParseConfig("# gr\u00f6\u00dfer \"\nstate_dir = \"/srv/\u00fc \\\" # \u00e9\"  # \u65e5\u672c\nrun_dir = '/run/\u00e9\\'", "x.toml");
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->state_dir, "/srv/\u00fc \" # \u00e9");
  EXPECT_EQ(config->run_dir, "/run/\u00e9\\");
}

// The library has undefined behaviour for these, so none may reach it.
TEST(ConfigTest, OtherLettersElsewhereAreRefusedWithTheirLine) {
  for (const char* text : {"\n\u00e9 = 1", "\n[sl\u00f6ts]", "\nstate_dir = \u00a0\"x\"", "\nstate_dir = \"x\" \u00e9", "\nstate_dir = \"x\\\"\" \u00e9", "\nstate_dir = 'x\\' \u00e9",
                           "\nslots = 5\"\u00e9\"", "\nslots = 5=\"\u00e9\"", "\nslots = 5[\"\u00e9", "\n\ufeff", "#\n\xff", "#\n~ = 1"}) {
    const auto config = ParseConfig(text, "x.toml");
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_NE(config.status().error().fact.find("line 2"), std::string::npos) << config.status().ToString();
  }
  const auto named = ParseConfig("\"\u00e9\" = 1", "x.toml");
  EXPECT_NE(named.status().error().fact.find("\u00e9"), std::string::npos) << named.status().ToString();
}

TEST(ConfigTest, TheSignThatStandsForOthersIsATextToo) {
  const auto config = ParseConfig("state_dir = \"~/a~b~7\"\nrun_dir = '~C3~~'", "x.toml");
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->state_dir, "~/a~b~7");
  EXPECT_EQ(config->run_dir, "~C3~~");
}

}  // namespace
}  // namespace proofline
