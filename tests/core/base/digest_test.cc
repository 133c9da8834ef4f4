// Known answers: FIPS 180-4 examples (SHA-256), RFC 7693 appendix B (BLAKE2s) and RFC 4231 (HMAC-SHA-256).
#include "core/base/digest.h"

#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace proofline {
namespace {

ByteSpan Bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }
std::string Hmac(ByteSpan key, ByteSpan data) {
  HmacSha256 mac(key);
  mac.Update(data);
  return DigestHex(mac.Finish());
}

TEST(Sha256, Fips180Examples) {
  EXPECT_EQ(DigestHex(Sha256Of({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(DigestHex(Sha256Of(Bytes("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(DigestHex(Sha256Of(Bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, PiecesAreOneMessage) {
  Sha256 hash;
  hash.Update(Bytes("a"));
  hash.Update({});
  hash.Update(Bytes("bc"));
  EXPECT_EQ(hash.Finish(), Sha256Of(Bytes("abc")));
}

TEST(Blake2s256, Rfc7693) {
  Blake2s256 hash;
  hash.Update(Bytes("a"));
  hash.Update(Bytes("bc"));
  EXPECT_EQ(DigestHex(hash.Finish()), "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
}

TEST(HmacSha256, Rfc4231) {
  EXPECT_EQ(Hmac(std::vector<uint8_t>(20, 0x0b), Bytes("Hi There")), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(Hmac(Bytes("Jefe"), Bytes("what do ya want for nothing?")), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Hmac(std::vector<uint8_t>(131, 0xaa), Bytes("Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Digest, EqualComparesLengthAndBytes) {
  const Digest256 a = Sha256Of(Bytes("a")), b = Sha256Of(Bytes("b"));
  EXPECT_TRUE(DigestEqual(a, a));
  EXPECT_FALSE(DigestEqual(a, b));
  EXPECT_FALSE(DigestEqual(ByteSpan(a).first(31), a));
}

}  // namespace
}  // namespace proofline
