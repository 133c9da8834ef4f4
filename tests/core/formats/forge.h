// Takes a valid section file apart and puts a damaged one together. Shares no code with the readers under test.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/base/text.h"
#include "tests/core/formats/sample.h"

namespace proofline::testing {

template <class T>
T Get(const Bytes& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}
template <class T>
void Put(Bytes& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}
inline void PutBytes(Bytes& bytes, size_t at, ByteSpan value) { std::memcpy(bytes.data() + at, value.data(), value.size()); }

struct Forge {
  struct Part {
    uint32_t type;
    Bytes content;
  };
  Bytes head;  // magic and version
  std::vector<Part> parts;
  Bytes tail;  // after the last section

  static Forge Of(const Bytes& file) {
    Forge forge;
    forge.head.assign(file.begin(), file.begin() + 8);
    uint32_t count = Get<uint32_t>(file, 8);
    size_t at = 12;
    for (uint32_t i = 0; i < count; ++i) {
      size_t length = Get<uint64_t>(file, at + 4);
      forge.parts.push_back({Get<uint32_t>(file, at), Bytes(file.begin() + at + 12, file.begin() + at + 12 + length)});
      at += 12 + length;
    }
    return forge;
  }
  Bytes& operator[](uint32_t type) {
    for (Part& part : parts)
      if (part.type == type) return part.content;
    ADD_FAILURE() << "no section " << type;
    return parts.front().content;
  }
  void Remove(uint32_t type) {
    std::erase_if(parts, [type](const Part& part) { return part.type == type; });
  }
  void Repeat(uint32_t type) { parts.push_back({type, (*this)[type]}); }
  void Add(uint32_t type, Bytes content) { parts.push_back({type, std::move(content)}); }
  Bytes Build() const {
    Bytes out = head;
    Append(out, static_cast<uint32_t>(parts.size()));
    for (const Part& part : parts) {
      Append(out, part.type);
      Append(out, static_cast<uint64_t>(part.content.size()));
      out.insert(out.end(), part.content.begin(), part.content.end());
    }
    out.insert(out.end(), tail.begin(), tail.end());
    out.shrink_to_fit();  // the address sanitizer then sees a read past the end
    return out;
  }
  template <class T>
  static void Append(Bytes& out, T value) {
    const auto* p = reinterpret_cast<const uint8_t*>(&value);
    out.insert(out.end(), p, p + sizeof(T));
  }
};

// Where the length field of the n-th section (from 0) of a built file is.
inline size_t LengthFieldAt(const Bytes& file, size_t n) {
  size_t at = 12;
  while (n-- > 0) at += 12 + Get<uint64_t>(file, at + 4);
  return at + 4;
}

// The failure is a refusal of the input (exit 1) whose one-line fact holds every one of `words`.
inline void ExpectRefused(const Status& status, const std::vector<std::string>& words, std::string_view what) {
  ASSERT_FALSE(status.ok()) << what;
  EXPECT_EQ(ExitCodeFor(status.code()), 1) << what << ": " << status.ToString();
  for (const std::string& word : words)
    EXPECT_NE(status.error().fact.find(word), std::string::npos) << what << ": \"" << word << "\" is not in: " << status.error().fact;
}

// Calls `read` with the file cut at each length, and with `flips` seeded single-byte changes; `read` returns true if the reader took it.
template <class Read>
void ExpectEveryCutRefused(const Bytes& file, Read read) {
  for (size_t length = 0; length < file.size(); ++length) {
    Bytes cut(file.begin(), file.begin() + length);
    cut.shrink_to_fit();
    Status status = read(cut);
    ASSERT_FALSE(status.ok()) << "cut at " << length;
    ASSERT_EQ(ExitCodeFor(status.code()), 1) << status.ToString();
    ASSERT_FALSE(status.error().fact.empty());
  }
}
template <class Read>
void ExpectEveryFlipHandled(const Bytes& file, size_t flips, uint64_t seed, Read read) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < flips; ++i) {
    Bytes changed = file;
    // Half of the changes go to the first bytes, where the numbers are.
    size_t limit = i % 2 ? changed.size() : std::min<size_t>(changed.size(), 200);
    for (size_t n = 1 + random() % 3; n-- > 0;) changed[random() % limit] = static_cast<uint8_t>(random());
    Status status = read(changed);
    if (status.ok()) continue;
    ASSERT_EQ(ExitCodeFor(status.code()), 1) << status.ToString();
  }
}

}  // namespace proofline::testing
