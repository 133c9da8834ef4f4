#include "cli/notify.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace proofline::cli {
namespace {

Notification With(std::string_view text, int fds) {
  Notification n;
  n.assignments = ParseAssignments(text);
  for (int i = 0; i < fds; ++i) n.fds.emplace_back(memfd_create("t", MFD_CLOEXEC));
  return n;
}

TEST(ParseAssignments, TakesLinesWithANameOnly) {
  const auto got = ParseAssignments("READY=1\n\nSTATUS=a=b\n=x\nnothing\nEMPTY=");
  const std::vector<std::pair<std::string, std::string>> want{{"READY", "1"}, {"STATUS", "a=b"}, {"EMPTY", ""}};
  EXPECT_EQ(got, want);
}

TEST(FdStore, StoresRemovesAndRefuses) {
  FdStore store;
  Notification two = With("FDSTORE=1\nFDNAME=slot", 2);
  EXPECT_TRUE(store.Apply(two).ok());
  Notification unnamed = With("FDSTORE=1", 1);
  EXPECT_TRUE(store.Apply(unnamed).ok());
  ASSERT_EQ(store.entries().size(), 3u);
  EXPECT_EQ(store.entries()[2].first, "stored");
  Notification bad = With("FDSTORE=1\nFDNAME=a:b", 1);
  EXPECT_FALSE(store.Apply(bad).ok());
  Notification plain = With("READY=1", 1);
  EXPECT_TRUE(store.Apply(plain).ok());
  EXPECT_EQ(store.entries().size(), 3u);
  Notification remove = With("FDSTOREREMOVE=1\nFDNAME=slot", 0);
  EXPECT_TRUE(store.Apply(remove).ok());
  EXPECT_EQ(store.entries().size(), 1u);
}

TEST(FdStore, TheSameFileIsStoredOnce) {
  FdStore store;
  Notification first = With("FDSTORE=1\nFDNAME=slot", 1), again = With("FDSTORE=1\nFDNAME=slot", 0);
  again.fds.emplace_back(dup(first.fds[0].get()));
  EXPECT_TRUE(store.Apply(first).ok() && store.Apply(again).ok());
  EXPECT_EQ(store.entries().size(), 1u);
}

TEST(FdStore, IsBounded) {
  FdStore store;
  Status last;
  for (size_t i = 0; i <= FdStore::kMaxFds && last.ok(); ++i) {
    Notification one = With("FDSTORE=1\nFDNAME=slot", 1);
    last = store.Apply(one);
  }
  EXPECT_EQ(last.code(), ErrorCode::kResource);
  EXPECT_EQ(store.entries().size(), FdStore::kMaxFds);
}

}  // namespace
}  // namespace proofline::cli
