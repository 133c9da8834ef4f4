// Which key files have had every point checked for its subgroup, so that hours of work on a large file are done once. A record is an empty
// file named by the checked file's whole BLAKE2b-512, in a folder of the user's: a changed file has another name here.
#pragma once

#include <string>

#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/status.h"

namespace proofline {

class PointCheckRecords {
 public:
  // The folder is made (0700) when the first record is. A folder that is not the user's own, or that others may write, holds no records.
  explicit PointCheckRecords(std::string folder) : folder_(std::move(folder)) {}
  // $XDG_CACHE_HOME/proofline/checked-keys, or ~/.cache/...; no records where there is neither.
  static PointCheckRecords OfUser();

  bool Has(const Digest512& file) const;
  // A record that cannot be made is a check to be done again, not a failure: kIo says why, for a log line.
  Status Add(const Digest512& file) const;

 private:
  bool FolderIsOurs() const;
  std::string PathOf(const Digest512& file) const;

  std::string folder_;
};

}  // namespace proofline
