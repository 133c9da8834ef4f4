#include "core/wire/worker_options.h"

#include <getopt.h>

#include <charconv>
#include <cstring>

#include "core/base/config.h"
#include "core/base/text.h"

namespace proofline::wire {

namespace {
constexpr uint32_t kMaxNumber = 4096;

Result<uint32_t> ParseNumber(const char* name, const char* text) {
  uint32_t value = 0;
  const char* end = text + strlen(text);
  auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || value > kMaxNumber)
    return Status(ErrorCode::kUsage, StrCat("--", name, ": \"", text, "\" is no number up to ", kMaxNumber));
  return value;
}

Status Set(WorkerOptions& out, std::string& config_file, int which, const char* name, const char* value) {
  if (which == 'r') {
    out.paths.run_dir = AbsolutePath(value);
    return OkStatus();
  }
  if (which == 'd') {
    out.device = value;
    return OkStatus();
  }
  if (which == 'c') {
    config_file = value;
    return OkStatus();
  }
  PL_ASSIGN_OR_RETURN(uint32_t number, ParseNumber(name, value));
  if (which == 'o') out.ordinal = number;
  if (which == 'n') out.node = number;
  if (which == 't') out.threads = number;
  return OkStatus();
}

Status ReadConfig(const std::string& file, Role role, WorkerOptions& out) {
  StackConfig config;
  if (!file.empty()) {
    PL_ASSIGN_OR_RETURN(config, LoadConfig(file));
  }
  if (out.paths.run_dir.empty()) {
    PL_ASSIGN_OR_RETURN(out.paths, ResolvePaths("", config.state_dir, config.run_dir));
  }
  if (role != ROLE_GPU || !out.device.empty()) return OkStatus();
  out.device = "cpu";
  if (file.empty()) return OkStatus();
  if (out.ordinal >= config.devices.size())
    return Status(ErrorCode::kUsage, StrCat(file, " names ", config.devices.size(), " devices, there is no number ", out.ordinal), "",
                  "add it to [workers] devices, or start no owner for it");
  out.device = config.devices[out.ordinal];
  return OkStatus();
}
}  // namespace

Result<WorkerOptions> ParseWorkerOptions(int argc, char** argv, Role role) {
  static const option kOptions[] = {
      {"run-dir", required_argument, nullptr, 'r'}, {"ordinal", required_argument, nullptr, 'o'},
      {"node", required_argument, nullptr, 'n'},    {"threads", required_argument, nullptr, 't'},
      {"device", required_argument, nullptr, 'd'},  {"config", required_argument, nullptr, 'c'},
      {nullptr, 0, nullptr, 0}};
  WorkerOptions out;
  out.device.clear();
  std::string config_file;
  opterr = 0;
  for (int index = 0, c; (c = getopt_long(argc, argv, "+", kOptions, &index)) != -1;) {
    if (c == '?' || (c == 'd' && role != ROLE_GPU))
      return Status(ErrorCode::kUsage, StrCat("unknown or incomplete argument ", argv[optind - 1]));
    PL_RETURN_IF_ERROR(Set(out, config_file, c, kOptions[index].name, optarg));
  }
  if (optind < argc) return Status(ErrorCode::kUsage, StrCat("unexpected argument ", argv[optind]));
  PL_RETURN_IF_ERROR(ReadConfig(config_file, role, out));
  PL_RETURN_IF_ERROR(CheckSocketPaths(out.paths));
  return out;
}

WorkerConfig ConfigOf(const WorkerOptions& options, Role role, std::string build) {
  WorkerConfig config;
  config.work_path = options.paths.WorkSocket();
  config.broker_path = options.paths.BrokerSocket();
  config.role = role;
  config.ordinal = options.ordinal;
  config.node = options.node.value_or(0);
  if (role == ROLE_GPU) config.device = options.device;
  config.build = std::move(build);
  return config;
}

}  // namespace proofline::wire
