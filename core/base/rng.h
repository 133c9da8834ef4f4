// Randomness: the kernel's generator for blinding scalars, and a stream from a seed for test keys and test data.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace proofline {

// Fills `out` from getrandom(2), which blocks only until the kernel's pool is ready once after boot. kIo if the kernel refuses;
// then `out` is wiped, so that nobody can go on with half of it.
Status FillRandom(MutableByteSpan out);

// A reproducible byte stream. Same seed and label give the same bytes on every machine and in every version:
//   key   = SHA-256("proofline seeded stream 1" || u32 length of label || label || seed)
//   bytes = ChaCha20 (RFC 8439 block function, 64-bit counter from 0, zero nonce) keystream under that key.
// Different labels of one seed are independent. Whoever knows the seed knows everything: for tests, benches and test keys only.
// One thread at a time.
class SeededStream {
 public:
  // kInternal if the cryptographic library has no SHA-256 or ChaCha20.
  static Result<SeededStream> Create(std::string_view seed, std::string_view label);
  ~SeededStream();
  SeededStream(SeededStream&&) noexcept;
  SeededStream& operator=(SeededStream&&) noexcept;

  // The next out.size() bytes. A failure (kInternal) wipes `out`.
  Status Fill(MutableByteSpan out);

 private:
  struct Cipher;
  explicit SeededStream(std::unique_ptr<Cipher> cipher);
  std::unique_ptr<Cipher> cipher_;
};

}  // namespace proofline
