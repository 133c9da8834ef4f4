#include "core/base/log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "core/base/event.h"

namespace proofline {
namespace {

using nlohmann::json;

std::vector<json> CaptureLines(const std::function<void()>& body) {
  testing::internal::CaptureStderr();
  body();
  std::istringstream text(testing::internal::GetCapturedStderr());
  std::vector<json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST(LogTest, LinesAreJsonWhateverTheText) {
  InitLog("tester", LogLevel::kInfo);
  std::string all_bytes;
  for (int c = 0; c < 256; ++c) all_bytes += static_cast<char>(c);
  const auto lines = CaptureLines([&] {
    LogWarn("quote \" backslash \\ newline \n tab \t", {{"raw", all_bytes}, {"n", -3}, {"u", uint64_t{1} << 63}, {"b", true}, {"d", 0.5}});
    LogDebug("not written at level info");
    LogStatus(LogLevel::kError, "refused", Status(ErrorCode::kIo, "fact", "detail", "remedy"));
  });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["msg"], "quote \" backslash \\ newline \n tab \t");
  EXPECT_EQ(lines[0]["role"], "tester");
  EXPECT_EQ(lines[0]["level"], "warn");
  EXPECT_EQ(lines[0]["n"], -3);
  EXPECT_EQ(lines[0]["u"], uint64_t{1} << 63);
  EXPECT_EQ(lines[0]["b"], true);
  EXPECT_EQ(lines[0]["d"], 0.5);
  EXPECT_EQ(lines[1]["error"], "io");
  EXPECT_EQ(lines[1]["remedy"], "remedy");
}

TEST(LogTest, AHugeTextIsCutBelowThePipeLimit) {
  InitLog("tester", LogLevel::kInfo);
  testing::internal::CaptureStderr();
  LogInfo(std::string(1 << 20, 'x'));
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_LT(text.size(), 4096u);
  EXPECT_EQ(json::parse(text)["level"], "info");
}

TEST(LogTest, LinesOfSeveralThreadsDoNotMix) {
  InitLog("tester", LogLevel::kInfo);
  const auto lines = CaptureLines([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([t] {
        for (uint32_t i = 0; i < 100; ++i) EmitEvent(Event{.name = "tick", .job = t, .partition = i, .extra = {}});
      });
    }
    for (auto& thread : threads) thread.join();
  });
  EXPECT_EQ(lines.size(), 400u);
}

TEST(LogTest, LevelsParse) {
  EXPECT_EQ(*ParseLogLevel("warn"), LogLevel::kWarn);
  EXPECT_EQ(ParseLogLevel("loud").status().code(), ErrorCode::kUsage);
  InitLog("tester", LogLevel::kOff);
  EXPECT_FALSE(LogEnabled(LogLevel::kError));
  InitLog("tester", LogLevel::kInfo);
}

}  // namespace
}  // namespace proofline
