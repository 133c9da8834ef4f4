// parameters.json: which parameter files there are, and what each must hash to.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/status.h"

namespace proofline {

inline constexpr size_t kMaxManifestBytes = size_t{4} << 20;

// The first 16 bytes of a file's BLAKE2b-512.
using ParameterDigest = std::array<uint8_t, 16>;

struct ManifestEntry {
  std::string cid;  // of the file in IPFS; not checked
  ParameterDigest digest{};
  uint64_t sector_bytes = 0;
};

struct ParameterManifest {
  std::map<std::string, ManifestEntry, std::less<>> files;  // by file name, without folders
};

// An object of objects with cid, digest (32 lower-case hexadecimal digits) and sector_size; a name twice is refused.
Result<ParameterManifest> ParameterManifestFromJson(std::string_view text, std::string_view name);

// The whole BLAKE2b-512 of a file: about a second a gigabyte of one core. kCancelled once `stop` returns true.
Result<Digest512> Blake2bOfFile(const MappedFile& file, const std::function<bool()>& stop = {});
ParameterDigest ParameterDigestOf(const Digest512& whole);
std::string ParameterDigestHex(const ParameterDigest& digest);

// kNotFound if the manifest has no file of this name (the last part of a path), kMismatch with both digests if it is another.
Status CheckAgainstManifest(const ParameterManifest& manifest, std::string_view path, const ParameterDigest& digest);

}  // namespace proofline
