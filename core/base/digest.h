// SHA-256, HMAC-SHA-256 and BLAKE2, by OpenSSL.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace proofline {

using Digest256 = std::array<uint8_t, 32>;
using Digest512 = std::array<uint8_t, 64>;

// Takes any number of pieces; Finish once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void Update(ByteSpan bytes);
  Digest256 Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// RFC 7693 with 32 bytes of digest and no key.
class Blake2s256 {
 public:
  Blake2s256();
  ~Blake2s256();
  Blake2s256(const Blake2s256&) = delete;
  Blake2s256& operator=(const Blake2s256&) = delete;
  void Update(ByteSpan bytes);
  Digest256 Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// RFC 2104 over SHA-256. The key is wiped by the library when this goes.
class HmacSha256 {
 public:
  explicit HmacSha256(ByteSpan key);
  ~HmacSha256();
  HmacSha256(const HmacSha256&) = delete;
  HmacSha256& operator=(const HmacSha256&) = delete;
  void Update(ByteSpan bytes);
  Digest256 Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// RFC 7693 with 64 bytes of digest and no key.
class Blake2b512 {
 public:
  Blake2b512();
  ~Blake2b512();
  Blake2b512(const Blake2b512&) = delete;
  Blake2b512& operator=(const Blake2b512&) = delete;
  void Update(ByteSpan bytes);
  Digest512 Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// RFC 7693's BLAKE2b with 32 bytes of digest and a key of 1 to 64 bytes.
class Blake2b256Keyed {
 public:
  explicit Blake2b256Keyed(ByteSpan key);
  ~Blake2b256Keyed();
  Blake2b256Keyed(const Blake2b256Keyed&) = delete;
  Blake2b256Keyed& operator=(const Blake2b256Keyed&) = delete;
  void Update(ByteSpan bytes);
  Digest256 Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Digest256 Sha256Of(ByteSpan bytes);
// Lower case.
std::string DigestHex(const Digest256& digest);
// In time that does not depend on where they differ.
bool DigestEqual(ByteSpan a, ByteSpan b);

}  // namespace proofline
