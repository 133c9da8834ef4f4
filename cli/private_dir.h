// The run directory of a private stack: fresh, 0700, and gone afterwards however we end.
#pragma once

#include <string>
#include <sys/types.h>

#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline::cli {

// Under $XDG_RUNTIME_DIR, $TMPDIR or /tmp: the first that exists, can be written and leaves room for a socket's path.
// A janitor process (forked here, so make this before any thread) removes the directory if we are killed; a lock in the directory
// tells a later run that even the janitor was killed, and that run removes it.
class PrivateDir {
 public:
  static Result<PrivateDir> Make();
  ~PrivateDir();  // removes it
  PrivateDir(PrivateDir&& other) noexcept;
  PrivateDir& operator=(PrivateDir&&) = delete;

  const std::string& path() const { return path_; }

 private:
  PrivateDir() = default;
  std::string path_;
  UniqueFd lock_;       // flock on the directory
  UniqueFd life_line_;  // its closing wakes the janitor
  pid_t janitor_ = -1;
};

// Removes the private directories in `parent` that belong to us and that nobody holds. Returns how many.
int SweepStaleDirs(const std::string& parent);

}  // namespace proofline::cli
