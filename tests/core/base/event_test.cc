#include "core/base/event.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/clock.h"

namespace proofline {
namespace {

using nlohmann::json;

TEST(EventTest, WritesEveryFieldOfTheSchema) {
  Event event{.name = "leased", .job = 7, .partition = 0, .attempt = 2, .stage = "gpu", .outcome = "failed",
              .queue_wait_ns = 12345, .work_ns = 678, .code = ErrorCode::kCrashed, .text = "owner\ndied", .extra = {}};
  event.extra.emplace_back("slot", 3u);
  const json line = json::parse(FormatEvent(event, {1'700'000'000'123, 99, {"coordinator", 42, 5}}));
  EXPECT_EQ(line["ts"], "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(line["mono_ns"], 99);
  EXPECT_EQ(line["event"], "leased");
  EXPECT_EQ(line["role"], "coordinator");
  EXPECT_EQ(line["pid"], 42);
  EXPECT_EQ(line["instance"], 5);
  EXPECT_EQ(line["job"], 7);
  EXPECT_EQ(line["partition"], 0);
  EXPECT_EQ(line["attempt"], 2);
  EXPECT_EQ(line["stage"], "gpu");
  EXPECT_EQ(line["outcome"], "failed");
  EXPECT_EQ(line["queue_wait_ns"], 12345);
  EXPECT_EQ(line["work_ns"], 678);
  EXPECT_EQ(line["error"], "crashed");
  EXPECT_EQ(line["text"], "owner\ndied");
  EXPECT_EQ(line["slot"], 3);
}

TEST(EventTest, LeavesOutWhatDoesNotApply) {
  const json line = json::parse(FormatEvent(Event{.name = "ready", .extra = {}}, {0, 1, {"coordinator", 1, 0}}));
  EXPECT_EQ(line.size(), 5u);
  EXPECT_EQ(line["ts"], "1970-01-01T00:00:00.000Z");
  EXPECT_FALSE(line.contains("job"));
}

// RFC 3339 section 5.8 gives this moment as its first example.
TEST(ClockTest, FormatsTheExampleOfRfc3339) {
  EXPECT_EQ(FormatRfc3339(482196050520), "1985-04-12T23:20:50.520Z");
  EXPECT_EQ(FormatRfc3339(-1), "1969-12-31T23:59:59.999Z");
}

TEST(ClockTest, MonotonicNeverGoesBack) {
  uint64_t last = MonotonicNs();
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = MonotonicNs();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace proofline
