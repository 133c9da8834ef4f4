#include "core/formats/key_cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "tests/core/formats/sample.h"

namespace proofline {
namespace {

class KeyCacheTest : public ::testing::Test {
 protected:
  KeyCacheTest() {
    char dir[] = "/tmp/plkeysXXXXXX";
    dir_ = mkdtemp(dir);
  }
  ~KeyCacheTest() override { std::filesystem::remove_all(dir_); }
  // A copy of a sample as circuit `id`.
  KeyReference Add(uint64_t id) {
    KeyReference reference{id, dir_ + "/" + std::to_string(id) + ".zkey", 0, 0};
    std::filesystem::copy_file(std::string(PROOFLINE_TEST_DATA) + "/samples/bn128/multiplier.zkey", reference.path,
                               std::filesystem::copy_options::overwrite_existing);
    Refresh(reference);
    return reference;
  }
  static void Refresh(KeyReference& reference) {
    auto file = MappedFile::Open(reference.path);
    ASSERT_TRUE(file.ok());
    reference.size_bytes = file->size_bytes();
    reference.mtime_ns = file->mtime_ns();
  }
  std::string dir_;
};

TEST_F(KeyCacheTest, KeepsWhatFitsLeastRecentlyUsedGoesFirst) {
  KeyReference a = Add(1), b = Add(2), c = Add(3);
  KeyCache cache(ZkeyUse::kAll, 2 * a.size_bytes);
  auto first = cache.Get(a);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  CachedKey* held = first->get();
  EXPECT_EQ(cache.Get(a)->get(), held);
  ASSERT_TRUE(cache.Get(b).ok());
  EXPECT_EQ(cache.Get(a)->get(), held);
  ASSERT_TRUE(cache.Get(c).ok());  // b goes
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache.Get(a)->get(), held);
  EXPECT_EQ(held->zkey.view.n_vars, 4u);
}

TEST_F(KeyCacheTest, OneKeyLargerThanTheBudgetStillWorks) {
  KeyReference a = Add(1), b = Add(2);
  KeyCache cache(ZkeyUse::kWithoutCoefficients, 1);
  EXPECT_TRUE(cache.Get(a).ok());
  EXPECT_TRUE(cache.Get(b).ok());
  EXPECT_EQ(cache.size(), 1u);
}

TEST_F(KeyCacheTest, ChangedFilesAreRefusedUntilAddedAgain) {
  KeyReference a = Add(1);
  KeyCache cache(ZkeyUse::kAll, 1 << 20);
  auto old = cache.Get(a);
  ASSERT_TRUE(old.ok());
  std::filesystem::last_write_time(a.path, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  Status changed = cache.Get(a).status();
  EXPECT_EQ(changed.code(), ErrorCode::kMismatch);
  EXPECT_NE(changed.ToString().find(a.path), std::string::npos);
  EXPECT_NE(changed.ToString().find(std::to_string(a.mtime_ns)), std::string::npos);
  Refresh(a);
  auto again = cache.Get(a);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_NE(again->get(), old->get());
  EXPECT_EQ((*old)->zkey.view.n_vars, 4u) << "still mapped for its holder";
  std::filesystem::remove(a.path);
  (void)cache.Get(Add(2));
  EXPECT_EQ(KeyCache(ZkeyUse::kAll, 1).Get(a).status().code(), ErrorCode::kNotFound);
}

TEST_F(KeyCacheTest, BadKeysAreNotKept) {
  KeyReference a = Add(1);
  std::filesystem::resize_file(a.path, a.size_bytes - 1);
  Refresh(a);
  KeyCache cache(ZkeyUse::kAll, 1 << 20);
  EXPECT_EQ(cache.Get(a).status().code(), ErrorCode::kInvalidFile);
  EXPECT_EQ(cache.size(), 0u);
}

}  // namespace
}  // namespace proofline
