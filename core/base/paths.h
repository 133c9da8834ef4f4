// Where a stack keeps its files and its sockets.
//
//   --state DIR given          files in DIR, sockets in DIR/run; the service's sockets, of /var/lib/proofline, are in /run/proofline
//   under systemd              $STATE_DIRECTORY, $RUNTIME_DIRECTORY (/var/lib/proofline, /run/proofline)
//   configuration file         its state_dir; its run_dir, else run/ in the state directory
//   else                       $XDG_STATE_HOME/proofline (or ~/.local/state/proofline),
//                              $XDG_RUNTIME_DIR/proofline (or run/ in the state directory)
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"

namespace proofline {

struct StackPaths {
  std::string state_dir;  // absolute
  std::string run_dir;    // absolute

  std::string JournalFile() const { return state_dir + "/journal.sqlite3"; }
  std::string LockFile() const { return state_dir + "/coordinator.lock"; }
  std::string SpoolDir() const { return state_dir + "/spool"; }
  std::string WorkSocket() const { return run_dir + "/work.sock"; }
  std::string FrontSocket() const { return run_dir + "/front.sock"; }
  std::string BrokerSocket() const { return run_dir + "/broker.sock"; }
};

// `state_flag` empty: the defaults above. Reads the environment; touches no file. kUsage when no directory can be named (no HOME)
// or when a socket's path would be longer than the kernel takes (107 bytes).
Result<StackPaths> ResolvePaths(std::string_view state_flag, std::string_view configured_state = {}, std::string_view configured_run = {});
// The check alone, for directories that come from a configuration file.
Status CheckSocketPaths(const StackPaths& paths);
// An absolute path without "." parts; relative ones are taken from the current directory. Does not resolve links.
std::string AbsolutePath(std::string_view path);

}  // namespace proofline
