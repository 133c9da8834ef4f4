#include "core/base/rng.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace proofline {
namespace {

std::string Hex(ByteSpan bytes) {
  std::string out;
  char two[3];
  for (uint8_t b : bytes) {
    snprintf(two, sizeof two, "%02x", b);
    out += two;
  }
  return out;
}

// Computed with Python's hashlib and a ChaCha20 block function written from RFC 8439 and checked against its appendix A.1.
TEST(SeededStream, IsTheDocumentedDerivation) {
  auto stream = SeededStream::Create("seed", "label");
  ASSERT_TRUE(stream.ok());
  std::vector<uint8_t> head(80);
  ASSERT_TRUE(stream->Fill(head).ok());
  EXPECT_EQ(Hex(head),
            "bdc8d203371e902448dec1ad611549e26a14a79e25c09c5917975c5f010f66a06c9e3d212620177ef347b8a55caab37dd3b4aa57ea0fe1f4"
            "bc69ec89f59bd8cc39f8e239a40bf604fda2ea1c4643da1a");
}

TEST(SeededStream, LongFillsAndPiecewiseFillsAgree) {
  std::vector<uint8_t> whole(3000000), pieces(3000000);
  ASSERT_TRUE(SeededStream::Create("seed", "label")->Fill(whole).ok());
  auto stream = SeededStream::Create("seed", "label");
  size_t at = 0;
  for (size_t n = 1; at < pieces.size(); n = n * 3 + 1) {
    size_t take = std::min(n, pieces.size() - at);
    ASSERT_TRUE(stream->Fill(MutableByteSpan(pieces).subspan(at, take)).ok());
    at += take;
  }
  EXPECT_EQ(whole, pieces);
  uint8_t digest[32];
  EVP_Digest(whole.data(), whole.size(), digest, nullptr, EVP_sha256(), nullptr);
  EXPECT_EQ(Hex(digest), "bb3a3398cbd60747c25fb77b717d4235ea6077120961d0ec68e9218e4d1a86d3");
}

TEST(SeededStream, LabelAndSeedDoNotRunIntoEachOther) {
  std::set<std::string> seen;
  for (auto [seed, label] : {std::pair{"ab", "c"}, {"a", "bc"}, {"a", "cb"}, {"", "abc"}, {"abc", ""}}) {
    std::vector<uint8_t> out(32);
    ASSERT_TRUE(SeededStream::Create(seed, label)->Fill(out).ok());
    EXPECT_TRUE(seen.insert(Hex(out)).second);
  }
}

TEST(FillRandom, FillsEveryByteAndNeverTwiceTheSame) {
  std::vector<uint8_t> first(100000), second(100000);
  ASSERT_TRUE(FillRandom(first).ok());
  ASSERT_TRUE(FillRandom(second).ok());
  EXPECT_NE(first, second);
  // 100000 uniform bytes hold each of the 256 values about 390 times; below 240 or above 560 is more than 7 sigma away.
  std::vector<int> count(256);
  for (uint8_t b : first) ++count[b];
  for (int c : count) {
    EXPECT_GT(c, 240);
    EXPECT_LT(c, 560);
  }
  EXPECT_TRUE(FillRandom({}).ok());
}

}  // namespace
}  // namespace proofline
