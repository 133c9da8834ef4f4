#include "core/formats/key_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>

#include "core/base/text.h"

namespace proofline {

namespace {

Status Changed(const KeyReference& reference, const std::string& found) {
  return Status(ErrorCode::kMismatch, StrCat(reference.path, ": the key is not the one that was added as this circuit"),
                StrCat("found ", found, "; expected ", reference.size_bytes, " bytes last modified at ",
                       reference.mtime_ns, " ns"),
                "add the circuit again");
}

Status CheckUnchanged(const KeyReference& reference, const MappedFile& file) {
  if (file.size_bytes() != reference.size_bytes || file.mtime_ns() != reference.mtime_ns)
    return Changed(reference, StrCat(file.size_bytes(), " bytes last modified at ", file.mtime_ns(), " ns"));
  if (Status s = file.CheckUnchanged(); !s.ok())
    return Changed(reference, "a file that has changed while it was mapped");
  return OkStatus();
}

// What the name stands for now: a file that was replaced leaves the mapped one as it was.
Status CheckNamed(const KeyReference& reference) {
  struct stat st {};
  if (stat(reference.path.c_str(), &st) != 0) return OkStatus();  // opening it says why
  int64_t mtime_ns = int64_t{st.st_mtim.tv_sec} * 1000000000 + st.st_mtim.tv_nsec;
  if (static_cast<uint64_t>(st.st_size) == reference.size_bytes && mtime_ns == reference.mtime_ns) return OkStatus();
  return Changed(reference, StrCat(st.st_size, " bytes last modified at ", mtime_ns, " ns"));
}

}  // namespace

uint64_t CachedKey::NextId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Result<std::shared_ptr<CachedKey>> KeyCache::Get(const KeyReference& reference) {
  PL_RETURN_IF_ERROR(CheckNamed(reference));
  auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return e.reference.circuit == reference.circuit && e.reference.path == reference.path;
  });
  if (it != entries_.end()) {
    if (Status s = CheckUnchanged(reference, it->key->file); s.ok()) {
      entries_.splice(entries_.begin(), entries_, it);
      return entries_.front().key;
    }
    entries_.erase(it);  // perhaps the circuit was added again with the new file
  }
  auto key = std::make_shared<CachedKey>();
  PL_ASSIGN_OR_RETURN(key->file, MappedFile::Open(reference.path));
  PL_RETURN_IF_ERROR(CheckUnchanged(reference, key->file));
  PL_ASSIGN_OR_RETURN(key->zkey, ReadZkey(key->file.bytes(), reference.path, use_));
  entries_.push_front({reference, std::move(key)});
  Trim();
  return entries_.front().key;
}

void KeyCache::Trim() {
  uint64_t total = 0;
  for (auto it = entries_.begin(); it != entries_.end();) {
    total += it->reference.size_bytes;
    // The newest stays, however large: it is about to be used.
    it = total > budget_bytes_ && it != entries_.begin() ? entries_.erase(it) : std::next(it);
  }
}

}  // namespace proofline
