// An input file in a form that other processes of ours can read as well, whatever the user named: a regular file, a pipe, /dev/stdin,
// a process substitution.
#pragma once

#include <string>

#include "core/base/file.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline::cli {

struct SharedInput {
  std::string name;  // as the user typed it, for messages
  std::string path;  // absolute; where a process of the same user opens it as long as this object lives
  UniqueFd fd;       // the file, or a memfd with what a stream delivered
  MappedFile file;   // over fd
};

// Fails as MappedFile::Open does.
Result<SharedInput> OpenSharedInput(const std::string& name, const MappedFile::Options& options);

}  // namespace proofline::cli
