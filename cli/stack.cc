#include "cli/stack.h"

#include <algorithm>
#include <charconv>
#include <unistd.h>

#include "cli/listen.h"
#include "core/base/name_lock.h"
#include "core/base/text.h"

namespace proofline::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWatchdog{10000};
constexpr bool kHasCuda = PROOFLINE_HAS_CUDA;

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kError: return "error";
    case LogLevel::kOff: return "off";
  }
  return "info";
}

std::vector<std::string> CommonEnvironment(const StackOptions& options) {
  std::vector<std::string> env{"STATE_DIRECTORY=" + options.paths.state_dir, "RUNTIME_DIRECTORY=" + options.paths.run_dir};
  // A private stack reports through its one user; its processes' own words matter only when something is wrong.
  const LogLevel level = options.is_private ? LogLevel::kWarn : options.log_level;
  if (!getenv("PROOFLINE_LOG")) env.push_back(StrCat("PROOFLINE_LOG=", LevelName(level)));
  return env;
}

ProgramSpec Program(const StackOptions& options, const std::string& folder, const std::string& file, const std::string& name, std::vector<std::string> args) {
  ProgramSpec spec;
  spec.name = name;
  spec.child.path = folder + "/" + file;
  spec.child.args = std::move(args);
  spec.child.env = CommonEnvironment(options);
  spec.watchdog = kWatchdog;
  return spec;
}

std::vector<std::string> CoordinatorArgs(const StackOptions& options) {
  std::vector<std::string> args;
  if (!options.config.empty()) args.insert(args.end(), {"--config", options.config});
  if (options.is_private) {
    const ProvingKeyView& key = options.shape;
    args.insert(args.end(), {"--private", StrCat(key.n_vars, ",", key.n_public, ",", key.log2_domain)});
  }
  args.insert(args.end(), {"--synth", StrCat(options.synth_count), "--owners", StrCat(options.devices.size())});
  return args;
}

}  // namespace

Result<std::unique_ptr<Supervisor>> StartStack(StackOptions options) {
  for (const std::string& path : {options.paths.state_dir, options.paths.run_dir})
    if (path.find(':') != std::string::npos)
      return Status(ErrorCode::kUsage, StrCat(path, ": a stack's directory cannot have ':' in its name"), "", "choose another directory with --state");
  PL_ASSIGN_OR_RETURN(const std::string folder, OwnProgramFolder());
  SupervisorOptions supervisor;
  supervisor.notify_path = options.paths.run_dir + "/notify";
  unlink(supervisor.notify_path.c_str());
  PL_ASSIGN_OR_RETURN(supervisor.sockets, BindStackSockets(options.paths));
  ProgramSpec coordinator = Program(options, folder, "proofline-coordinator", "coordinator", CoordinatorArgs(options));
  coordinator.stores_fds = true;
  // It has no journal to read; its user gives up after half a minute.
  if (options.is_private) coordinator.start_limit = kWatchdog;
  supervisor.programs.push_back(std::move(coordinator));
  for (uint32_t i = 0; i < options.synth_count; ++i)
    supervisor.programs.push_back(Program(options, folder, "proofline-synth-worker", StrCat("synth-worker ", i), {"--ordinal", StrCat(i)}));
  for (size_t i = 0; i < options.devices.size(); ++i)
    supervisor.programs.push_back(Program(options, folder, "proofline-gpu-worker", StrCat("gpu-worker ", i, " (", options.devices[i], ")"), {"--ordinal", StrCat(i), "--device", options.devices[i]}));
  supervisor.output = options.output;
  supervisor.output_file = std::move(options.output_file);
  supervisor.notice = options.notice;
  if (!options.is_private) supervisor.early_deaths_allowed = 20;
  return Supervisor::Start(std::move(supervisor));
}

Result<std::string> ResolveDevice(const std::string& wanted) {
  if (wanted == "cpu") return wanted;
  const auto is_there = [](uint32_t number) { return access(StrCat("/dev/nvidia", number).c_str(), F_OK) == 0; };
  if (wanted.empty()) {
    for (uint32_t number = 0; kHasCuda && is_there(number); ++number)
      if (const std::string device = StrCat("cuda:", number); !IsNameHeld(DeviceLockName(device))) return device;
    return std::string("cpu");
  }
  uint32_t number = 0;
  const std::string prefix = "cuda:";
  const bool is_cuda = wanted.rfind(prefix, 0) == 0;
  const char* begin = wanted.data() + std::min(prefix.size(), wanted.size());
  const auto [end, error] = std::from_chars(begin, wanted.data() + wanted.size(), number);
  if (!is_cuda || error != std::errc() || end != wanted.data() + wanted.size())
    return Status(ErrorCode::kUsage, StrCat("--device: \"", wanted, "\" is no device"), "", "cpu, or cuda:0, cuda:1, ...");
  if (!is_there(number))
    return Status(ErrorCode::kUnavailable, StrCat("--device ", wanted, ": this machine has no such CUDA device"), StrCat("/dev/nvidia", number, " does not exist"), "use --device cpu, or load the driver");
  if (!kHasCuda)
    return Status(ErrorCode::kUnsupported, StrCat("--device ", wanted, ": this build proves on the CPU only"), "", "use --device cpu, or build where a CUDA compiler is found");
  return StrCat(prefix, number);
}

}  // namespace proofline::cli
