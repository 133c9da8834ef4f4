#include "core/base/name_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/text.h"

namespace proofline {
namespace {

std::string TestName() { return StrCat("proofline-test-", getpid()); }

TEST(NameLock, OneHolderAtATime) {
  const std::string name = TestName();
  EXPECT_FALSE(IsNameHeld(name));
  auto first = HoldName(name);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_TRUE(IsNameHeld(name));
  EXPECT_TRUE(IsNameHeld(name)) << "asking takes nothing";
  EXPECT_EQ(HoldName(name).status().code(), ErrorCode::kConflict);
  EXPECT_FALSE(IsNameHeld(name + "x"));
  first->reset();
  EXPECT_FALSE(IsNameHeld(name));
  EXPECT_TRUE(HoldName(name).ok());
}

TEST(NameLock, TheHoldersDeathFreesIt) {
  const std::string name = TestName();
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto held = HoldName(name);
    char byte = held.ok() ? 1 : 0;
    (void)!write(ready[1], &byte, 1);
    close(done[1]);
    (void)!read(done[0], &byte, 1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 1);
  EXPECT_TRUE(IsNameHeld(name));
  close(done[1]);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(IsNameHeld(name));
}

}  // namespace
}  // namespace proofline
