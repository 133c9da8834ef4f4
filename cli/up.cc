// proofline up: a whole stack in the foreground.
#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output_paths.h"
#include "cli/stack.h"
#include "core/base/config.h"
#include "core/base/process.h"
#include "core/base/text.h"

namespace proofline::cli {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kReadyLimit{120000}, kStopGrace{10000};
constexpr uint32_t kMostWorkers = 256;

struct UpOptions {
  std::string state, config, log;
  uint32_t synth = 0;  // 0: from the configuration, else 1
  bool synth_given = false;
  std::vector<std::string> devices;
};

Status MakePrivateFolder(const std::string& path) {
  std::error_code error;
  const mode_t before = umask(0077);
  std::filesystem::create_directories(path, error);
  umask(before);
  if (!error && access(path.c_str(), W_OK | X_OK) == 0) return OkStatus();
  return Status(ErrorCode::kInvalidArgument, StrCat(path, ": cannot be used as a stack's directory: ", error ? error.message() : strerror(errno)), "", "choose another one with --state");
}

// One supervisor for each state directory. The file says who it is; the lock, which dies with its holder, is what counts.
Result<UniqueFd> LockState(const StackPaths& paths) {
  const std::string path = paths.state_dir + "/supervisor.lock";
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return Status(ErrorCode::kIo, StrCat(path, ": cannot be opened: ", strerror(errno)));
  if (flock(fd.get(), LOCK_EX | LOCK_NB) < 0) {
    char holder[32] = {};
    const ssize_t n = pread(fd.get(), holder, sizeof holder - 1, 0);
    std::string_view pid(holder, n > 0 ? static_cast<size_t>(n) : 0);
    pid = pid.substr(0, pid.find('\n'));
    return Status(ErrorCode::kConflict, StrCat("a stack is already running on ", paths.state_dir, pid.empty() ? "" : ": process ", pid), StrCat("it holds ", path),
                  "use that stack, end it, or choose another directory with --state");
  }
  const std::string own = StrCat(getpid(), "\n");
  if (ftruncate(fd.get(), 0) < 0 || pwrite(fd.get(), own.data(), own.size(), 0) < 0) return Status(ErrorCode::kResource, StrCat(path, ": cannot be written: ", strerror(errno)));
  return fd;
}

void RemoveSockets(const StackPaths& paths) {
  for (const std::string& path : {paths.WorkSocket(), paths.FrontSocket(), paths.BrokerSocket(), paths.run_dir + "/notify"}) unlink(path.c_str());
}

// Waits on the two descriptors; true if the supervisor's became readable.
enum class Woken { kInterrupt, kFailure, kReady, kTimeout };
Woken WaitFor(const InterruptGuard& interrupt, const Supervisor& supervisor, int ready_fd, int timeout_ms) {
  pollfd fds[] = {{interrupt.fd(), POLLIN, 0}, {supervisor.failure_fd(), POLLIN, 0}, {ready_fd, POLLIN, 0}};
  for (;;) {
    const int n = poll(fds, 3, timeout_ms);
    if (n < 0 && errno == EINTR) continue;
    if (fds[0].revents) return Woken::kInterrupt;
    if (fds[1].revents) return Woken::kFailure;
    return fds[2].revents ? Woken::kReady : Woken::kTimeout;
  }
}

Status Serve(StackOptions options, const InterruptGuard& interrupt) {
  const StackPaths paths = options.paths;
  std::string devices;
  for (const std::string& device : options.devices) devices += " " + device;
  const uint32_t synth = options.synth_count;
  PL_RETURN_IF_ERROR(RaiseFileLimit());
  PL_ASSIGN_OR_RETURN(const auto supervisor, StartStack(std::move(options)));
  Woken woken = WaitFor(interrupt, *supervisor, supervisor->ready_fd(), static_cast<int>(kReadyLimit.count()));
  if (woken == Woken::kTimeout) return supervisor->WaitReady(milliseconds(0));
  if (woken == Woken::kReady) {
    std::printf("ready: state %s, sockets %s, %u synthesis worker%s, device%s\n", paths.state_dir.c_str(), paths.run_dir.c_str(), synth, synth == 1 ? "" : "s", devices.c_str());
    std::fflush(stdout);
    woken = WaitFor(interrupt, *supervisor, -1, -1);
  }
  supervisor->Stop(kStopGrace);
  if (woken == Woken::kFailure) return supervisor->failure();
  InterruptGuard::Forget();  // this is how `up` is meant to end
  return OkStatus();
}

// Command line over configuration over defaults.
Result<StackOptions> ChooseStack(const UpOptions& options) {
  if (options.synth_given && (options.synth == 0 || options.synth > kMostWorkers))
    return Status(ErrorCode::kUsage, StrCat("--synth: ", options.synth, " is not between 1 and ", kMostWorkers));
  StackOptions stack;
  StackConfig config;
  if (!options.config.empty()) {
    PL_ASSIGN_OR_RETURN(config, LoadConfig(options.config));
    stack.config = AbsolutePath(options.config);
    stack.log_level = config.log_level;
  }
  PL_ASSIGN_OR_RETURN(stack.paths, ResolvePaths(options.state, config.state_dir, config.run_dir));
  stack.synth_count = options.synth_given ? options.synth : std::max(config.synth_workers, 1u);
  std::vector<std::string> wanted = options.devices.empty() ? config.devices : options.devices;
  if (wanted.empty()) wanted.emplace_back();
  for (const std::string& one : wanted) {
    PL_ASSIGN_OR_RETURN(std::string device, ResolveDevice(one));
    stack.devices.push_back(std::move(device));
  }
  return stack;
}

Status Up(const UpOptions& options) {
  PL_ASSIGN_OR_RETURN(StackOptions stack, ChooseStack(options));
  PL_RETURN_IF_ERROR(MakePrivateFolder(stack.paths.state_dir));
  PL_RETURN_IF_ERROR(MakePrivateFolder(stack.paths.run_dir));
  PL_ASSIGN_OR_RETURN(const UniqueFd lock, LockState(stack.paths));
  if (!options.log.empty()) {
    PL_RETURN_IF_ERROR(CheckOutputPaths({options.log}, {options.config}));
    stack.output = SupervisorOptions::Output::kFile;
    stack.output_file.reset(open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!stack.output_file) return Status(ErrorCode::kInvalidArgument, StrCat("--log ", options.log, ": ", strerror(errno)));
  }
  stack.notice = [](const std::string& text) { Warn(text); };
  InterruptGuard interrupt;
  const StackPaths paths = stack.paths;
  Status served = Serve(std::move(stack), interrupt);
  if (served.ok() || served.code() != ErrorCode::kConflict) RemoveSockets(paths);
  return served;
}

}  // namespace

void AddUp(CLI::App& app, Command& command) {
  auto options = std::make_shared<UpOptions>();
  CLI::App* sub = app.add_subcommand("up", "run a whole stack in the foreground: coordinator, synthesis workers, one owner for each device");
  sub->add_option("--state", options->state, "where the stack keeps its files (default $XDG_STATE_HOME/proofline); its sockets are in DIR/run")->type_name("DIR");
  sub->add_option("--config", options->config, "a TOML file (deploy/proofline.toml shows every setting)")->type_name("FILE");
  CLI::Option* synth = sub->add_option("--synth", options->synth, "synthesis workers (default 1)")->type_name("N");
  sub->add_option("--device", options->devices, "cpu or cuda:N; repeat it for several (default: the first CUDA device, else cpu)")->allow_extra_args(false)->type_name("DEVICE");
  sub->add_option("--log", options->log, "append the log to this file instead of stderr")->type_name("FILE");
  sub->callback([options, synth, &command] {
    options->synth_given = synth->count() > 0;
    command.run = [options] { return Up(*options); };
  });
}

}  // namespace proofline::cli
