#include "core/base/paths.h"

#include <cstdlib>
#include <filesystem>

namespace proofline {

namespace {
constexpr size_t kMaxSocketPath = 107;  // sun_path without its final 0, and ZeroMQ's own limit for ipc://

// systemd separates several directories by ':'; the first is ours.
std::string Env(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value ? value : "";
  return text.substr(0, text.find(':'));
}

// Where the systemd service (deploy/systemd) keeps them.
constexpr const char* kServiceStateDir = "/var/lib/proofline";
constexpr const char* kServiceRunDir = "/run/proofline";

std::string RunDirOf(const std::string& state_dir) { return state_dir == kServiceStateDir ? kServiceRunDir : state_dir + "/run"; }
}  // namespace

std::string AbsolutePath(std::string_view path) {
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(std::filesystem::path(path), ignored).lexically_normal();
  std::string text = absolute.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

Status CheckSocketPaths(const StackPaths& paths) {
  const std::string longest = paths.BrokerSocket();
  if (longest.size() <= kMaxSocketPath) return OkStatus();
  return Status(ErrorCode::kUsage,
                "the socket path " + longest + " has " + std::to_string(longest.size()) + " bytes, the system takes " +
                    std::to_string(kMaxSocketPath),
                {}, "choose a shorter directory with --state");
}

Result<StackPaths> ResolvePaths(std::string_view state_flag, std::string_view configured_state, std::string_view configured_run) {
  StackPaths paths;
  if (!state_flag.empty()) {
    paths.state_dir = AbsolutePath(state_flag);
    paths.run_dir = RunDirOf(paths.state_dir);
  } else if (Env("STATE_DIRECTORY").empty() && !configured_state.empty()) {
    paths.state_dir = AbsolutePath(configured_state);
    paths.run_dir = configured_run.empty() ? RunDirOf(paths.state_dir) : AbsolutePath(configured_run);
  } else {
    std::string state = Env("STATE_DIRECTORY");
    if (state.empty()) {
      const std::string home = Env("HOME");
      std::string base = Env("XDG_STATE_HOME");
      if (base.empty() && home.empty()) {
        return Status(ErrorCode::kUsage, "no state directory: neither XDG_STATE_HOME nor HOME is set", {},
                      "name one with --state DIR");
      }
      state = (base.empty() ? home + "/.local/state" : base) + "/proofline";
    }
    paths.state_dir = AbsolutePath(state);
    std::string run = Env("RUNTIME_DIRECTORY");
    if (run.empty() && !configured_run.empty()) run = AbsolutePath(configured_run);
    if (run.empty() && !Env("XDG_RUNTIME_DIR").empty()) run = Env("XDG_RUNTIME_DIR") + "/proofline";
    paths.run_dir = run.empty() ? RunDirOf(paths.state_dir) : AbsolutePath(run);
  }
  PL_RETURN_IF_ERROR(CheckSocketPaths(paths));
  return paths;
}

}  // namespace proofline
