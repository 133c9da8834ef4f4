#include "core/base/digest.h"

#include <cstdlib>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

namespace proofline {
namespace {

// The library refuses only for lack of memory or a broken installation; neither leaves anything sensible to do with a half-made digest.
void Must(bool ok) {
  if (!ok) std::abort();
}

struct MessageDigest {
  explicit MessageDigest(const EVP_MD* kind) { Must(context && EVP_DigestInit_ex(context, kind, nullptr) == 1); }
  ~MessageDigest() { EVP_MD_CTX_free(context); }
  void Update(ByteSpan bytes) { Must(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1); }
  Digest256 Finish() {
    Digest256 out;
    unsigned length = 0;
    Must(EVP_DigestFinal_ex(context, out.data(), &length) == 1 && length == out.size());
    return out;
  }

  EVP_MD_CTX* context = EVP_MD_CTX_new();
};

}  // namespace

struct Sha256::Impl {
  MessageDigest hash{EVP_sha256()};
};
Sha256::Sha256() : impl_(std::make_unique<Impl>()) {}
Sha256::~Sha256() = default;
void Sha256::Update(ByteSpan bytes) { impl_->hash.Update(bytes); }
Digest256 Sha256::Finish() { return impl_->hash.Finish(); }

struct Blake2s256::Impl {
  MessageDigest hash{EVP_blake2s256()};
};
Blake2s256::Blake2s256() : impl_(std::make_unique<Impl>()) {}
Blake2s256::~Blake2s256() = default;
void Blake2s256::Update(ByteSpan bytes) { impl_->hash.Update(bytes); }
Digest256 Blake2s256::Finish() { return impl_->hash.Finish(); }

struct HmacSha256::Impl {
  EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  EVP_MAC_CTX* context = mac ? EVP_MAC_CTX_new(mac) : nullptr;
  ~Impl() {
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
  }
};

HmacSha256::HmacSha256(ByteSpan key) : impl_(std::make_unique<Impl>()) {
  char name[] = "SHA256";
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0), OSSL_PARAM_construct_end()};
  // A null key would mean "keep the old one".
  static constexpr uint8_t kNothing = 0;
  Must(impl_->context && EVP_MAC_init(impl_->context, key.empty() ? &kNothing : key.data(), key.size(), params) == 1);
}
HmacSha256::~HmacSha256() = default;
void HmacSha256::Update(ByteSpan bytes) { Must(EVP_MAC_update(impl_->context, bytes.data(), bytes.size()) == 1); }
Digest256 HmacSha256::Finish() {
  Digest256 out;
  size_t length = 0;
  Must(EVP_MAC_final(impl_->context, out.data(), &length, out.size()) == 1 && length == out.size());
  return out;
}

struct Blake2b512::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Blake2b512::Blake2b512() : impl_(std::make_unique<Impl>()) { Must(impl_->context && EVP_DigestInit_ex(impl_->context, EVP_blake2b512(), nullptr) == 1); }
Blake2b512::~Blake2b512() = default;
void Blake2b512::Update(ByteSpan bytes) { Must(EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size()) == 1); }
Digest512 Blake2b512::Finish() {
  Digest512 out;
  unsigned length = 0;
  Must(EVP_DigestFinal_ex(impl_->context, out.data(), &length) == 1 && length == out.size());
  return out;
}

struct Blake2b256Keyed::Impl {
  EVP_MAC* mac = EVP_MAC_fetch(nullptr, "BLAKE2BMAC", nullptr);
  EVP_MAC_CTX* context = mac ? EVP_MAC_CTX_new(mac) : nullptr;
  ~Impl() {
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
  }
};

Blake2b256Keyed::Blake2b256Keyed(ByteSpan key) : impl_(std::make_unique<Impl>()) {
  size_t size = sizeof(Digest256);
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size), OSSL_PARAM_construct_end()};
  Must(impl_->context && EVP_MAC_init(impl_->context, key.data(), key.size(), params) == 1);
}
Blake2b256Keyed::~Blake2b256Keyed() = default;
void Blake2b256Keyed::Update(ByteSpan bytes) { Must(EVP_MAC_update(impl_->context, bytes.data(), bytes.size()) == 1); }
Digest256 Blake2b256Keyed::Finish() {
  Digest256 out;
  size_t length = 0;
  Must(EVP_MAC_final(impl_->context, out.data(), &length, out.size()) == 1 && length == out.size());
  return out;
}

Digest256 Sha256Of(ByteSpan bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

std::string DigestHex(const Digest256& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (uint8_t byte : digest) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

bool DigestEqual(ByteSpan a, ByteSpan b) { return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

}  // namespace proofline
