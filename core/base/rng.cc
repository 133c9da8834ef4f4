#include "core/base/rng.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/base/secret.h"

namespace proofline {

struct SeededStream::Cipher {
  EVP_CIPHER_CTX* context = nullptr;
  ~Cipher() { EVP_CIPHER_CTX_free(context); }
};

SeededStream::SeededStream(std::unique_ptr<Cipher> cipher) : cipher_(std::move(cipher)) {}
SeededStream::~SeededStream() = default;
SeededStream::SeededStream(SeededStream&&) noexcept = default;
SeededStream& SeededStream::operator=(SeededStream&&) noexcept = default;

namespace {

bool DeriveKey(std::string_view seed, std::string_view label, Secret<std::array<uint8_t, 32>>& key) {
  static constexpr std::string_view kDomain = "proofline seeded stream 1";
  uint32_t label_bytes = static_cast<uint32_t>(label.size());
  EVP_MD_CTX* md = EVP_MD_CTX_new();
  bool ok = md && EVP_DigestInit_ex(md, EVP_sha256(), nullptr) == 1 &&
            EVP_DigestUpdate(md, kDomain.data(), kDomain.size()) == 1 &&
            EVP_DigestUpdate(md, &label_bytes, sizeof label_bytes) == 1 &&
            EVP_DigestUpdate(md, label.data(), label.size()) == 1 &&
            EVP_DigestUpdate(md, seed.data(), seed.size()) == 1 &&
            EVP_DigestFinal_ex(md, key.get().data(), nullptr) == 1;
  EVP_MD_CTX_free(md);
  return ok;
}

}  // namespace

Result<SeededStream> SeededStream::Create(std::string_view seed, std::string_view label) {
  Secret<std::array<uint8_t, 32>> key;
  // OpenSSL's 16-byte "IV": a 64-bit little-endian counter, then the nonce.
  const std::array<uint8_t, 16> zero_iv{};
  auto cipher = std::make_unique<Cipher>();
  cipher->context = EVP_CIPHER_CTX_new();
  if (!cipher->context || !DeriveKey(seed, label, key) ||
      EVP_EncryptInit_ex(cipher->context, EVP_chacha20(), nullptr, key.get().data(), zero_iv.data()) != 1)
    return Status(ErrorCode::kInternal, "the cryptographic library has no SHA-256 or ChaCha20", "",
                  "check the OpenSSL configuration (OPENSSL_CONF) of this machine");
  return SeededStream(std::move(cipher));
}

Status SeededStream::Fill(MutableByteSpan out) {
  constexpr size_t kChunk = size_t{1} << 20;
  std::fill(out.begin(), out.end(), uint8_t{0});
  for (size_t at = 0; at < out.size(); at += kChunk) {
    int bytes = static_cast<int>(std::min(kChunk, out.size() - at));
    int written = 0;
    if (EVP_EncryptUpdate(cipher_->context, out.data() + at, &written, out.data() + at, bytes) != 1 || written != bytes) {
      Wipe(out.data(), out.size());
      return Status(ErrorCode::kInternal, "the ChaCha20 stream failed");
    }
  }
  return OkStatus();
}

}  // namespace proofline
