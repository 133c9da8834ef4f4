// Starts one program as a child that cannot outlive us.
#pragma once

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline::cli {

struct ChildSpec {
  std::string path;                                     // absolute
  std::vector<std::string> args;                        // without the program's name
  std::vector<std::string> env;                         // "NAME=value": added to ours, or replacing what we have under NAME
  std::vector<std::pair<std::string, int>> listen_fds;  // name and descriptor: LISTEN_FDS protocol, from descriptor 3 on; stay ours
  int stderr_fd = -1;                                   // stdout and stderr of the child; -1: our stderr
};

struct Child {
  pid_t pid = -1;
  UniqueFd pidfd;  // readable when the child has ended
};

// The child gets its own process group, an empty signal mask, default dispositions, /dev/null as stdin and only the descriptors
// named here. The kernel kills it (SIGKILL) when the calling THREAD ends, so call this from a thread that lives as long as the
// child should. An exec that fails is reported here and leaves no child.
Result<Child> SpawnChild(const ChildSpec& spec);

// SIGKILL to the child and to what it started, then waits for it. Does nothing for a child that is gone.
void KillAndReap(Child& child);

// The folder of the running program; the programs of a stack are beside each other.
Result<std::string> OwnProgramFolder();

}  // namespace proofline::cli
