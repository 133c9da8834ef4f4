// The listening sockets of a stack, made before its programs so that they can start in any order and be restarted without losing
// a connection.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/paths.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline::cli {

// Bound and listening at the paths of `paths`, mode 0600, under the names the coordinator looks for in LISTEN_FDNAMES:
// "work" and "front" (stream, which libzmq adopts), "broker" (seqpacket). Files of a dead stack are replaced; a socket that
// somebody answers on is kConflict and stays.
Result<std::vector<std::pair<std::string, UniqueFd>>> BindStackSockets(const StackPaths& paths);

}  // namespace proofline::cli
