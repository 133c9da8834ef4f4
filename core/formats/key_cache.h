// Keys as a worker keeps them: mapped files that have been checked once, by circuit number, least recently used ones
// unmapped when their mappings exceed a budget.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "core/base/file.h"
#include "core/formats/zkey.h"

namespace proofline {

// Where a circuit's key is, and how it looked when the circuit was added.
struct KeyReference {
  uint64_t circuit = 0;
  std::string path;
  uint64_t size_bytes = 0;
  int64_t mtime_ns = 0;
};

struct CachedKey {
  const uint64_t id = NextId();  // of no other key of this process, ever; not 0
  MappedFile file;
  Zkey zkey;
  std::optional<VerificationKey> verification_key;  // the holder's to fill
  bool points_on_curve = false;                     // set by the holder once Backend::CheckPoints has passed

 private:
  static uint64_t NextId();
};

// One thread at a time. Entries stay valid while somebody holds their pointer.
class KeyCache {
 public:
  KeyCache(ZkeyUse use, uint64_t budget_bytes) : use_(use), budget_bytes_(budget_bytes) {}

  // Maps and checks the key unless it is there already. kMismatch, with what was found and expected, when the file has
  // changed since the circuit was added or since it was mapped; else the errors of MappedFile::Open and ReadZkey.
  Result<std::shared_ptr<CachedKey>> Get(const KeyReference& reference);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    KeyReference reference;
    std::shared_ptr<CachedKey> key;
  };
  void Trim();

  ZkeyUse use_;
  uint64_t budget_bytes_;
  std::list<Entry> entries_;  // most recently used first
};

}  // namespace proofline
