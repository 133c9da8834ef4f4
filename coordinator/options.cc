#include "coordinator/options.h"

#include <charconv>
#include <functional>
#include <map>

#include "core/base/byte_size.h"
#include "core/base/text.h"

namespace proofline::coordinator {

namespace {

Result<uint32_t> ParseCount(const std::string& text, const std::string& what, uint32_t least, uint32_t most) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return value;
  return Status(ErrorCode::kUsage, StrCat(what, ": \"", text, "\" is no number from ", least, " to ", most));
}

Result<CircuitShape> ParseShape(const std::string& text) {
  const size_t first = text.find(','), second = first == std::string::npos ? first : text.find(',', first + 1);
  if (second == std::string::npos) return Status(ErrorCode::kUsage, "--private: expected N_VARS,N_PUBLIC,LOG2_DOMAIN");
  CircuitShape shape;
  PL_ASSIGN_OR_RETURN(shape.n_vars, ParseCount(text.substr(0, first), "--private N_VARS", 1, 1u << 30));
  PL_ASSIGN_OR_RETURN(shape.n_public, ParseCount(text.substr(first + 1, second - first - 1), "--private N_PUBLIC", 0, 1u << 30));
  PL_ASSIGN_OR_RETURN(shape.log2_domain, ParseCount(text.substr(second + 1), "--private LOG2_DOMAIN", 0, 30));
  return shape;
}

// The options that were given; those with a value each once.
struct Given {
  std::map<std::string, std::string> values;
  bool Has(const std::string& name) const { return values.contains(name); }
  Status Count(const std::string& name, uint32_t most, uint32_t& out) const {
    if (!Has(name)) return OkStatus();
    PL_ASSIGN_OR_RETURN(out, ParseCount(values.at(name), name, 1, most));
    return OkStatus();
  }
  Status Bytes(const std::string& name, uint64_t& out) const {
    if (!Has(name)) return OkStatus();
    PL_ASSIGN_OR_RETURN(out, ParseByteSize(values.at(name), name));
    return OkStatus();
  }
  std::string Text(const std::string& name) const { return Has(name) ? values.at(name) : std::string(); }
};

Result<Given> Collect(const std::vector<std::string>& args) {
  static const std::vector<std::string> kKnown{"--state", "--config", "--synth", "--owners", "--slot-count", "--slot-bytes", "--result-bytes",
                                               "--private", "--heartbeat-ms", "--suspect-ms", "--log-level"};
  Given given;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--help" || args[i] == "--version") {
      given.values[args[i]];
      continue;
    }
    if (std::find(kKnown.begin(), kKnown.end(), args[i]) == kKnown.end()) {
      return Status(ErrorCode::kUsage, StrCat("unknown option \"", args[i], "\""), {}, kUsage);
    }
    if (i + 1 == args.size()) return Status(ErrorCode::kUsage, StrCat(args[i], " needs a value"), {}, kUsage);
    if (!given.values.emplace(args[i], args[i + 1]).second) return Status(ErrorCode::kUsage, StrCat(args[i], " was given twice"));
    ++i;
  }
  return given;
}

}  // namespace

Result<Options> ParseOptions(const std::vector<std::string>& args) {
  PL_ASSIGN_OR_RETURN(const Given given, Collect(args));
  Options o;
  o.help = given.Has("--help");
  o.version = given.Has("--version");
  if (o.help || o.version) return o;
  if (given.Has("--config")) {
    PL_ASSIGN_OR_RETURN(o.config, LoadConfig(given.Text("--config")));
  }
  PL_ASSIGN_OR_RETURN(o.paths, ResolvePaths(given.Text("--state"), o.config.state_dir, o.config.run_dir));
  if (o.config.synth_workers != 0) o.synth_workers = o.config.synth_workers;
  if (!o.config.devices.empty()) o.owners = static_cast<uint32_t>(o.config.devices.size());
  PL_RETURN_IF_ERROR(given.Count("--synth", 1024, o.synth_workers));
  PL_RETURN_IF_ERROR(given.Count("--owners", 256, o.owners));
  PL_RETURN_IF_ERROR(given.Count("--slot-count", 4096, o.config.slot_count));
  PL_RETURN_IF_ERROR(given.Bytes("--slot-bytes", o.config.slot_bytes));
  PL_RETURN_IF_ERROR(given.Bytes("--result-bytes", o.config.slot_result_bytes));
  PL_RETURN_IF_ERROR(given.Count("--heartbeat-ms", 60'000, o.heartbeat_ms));
  PL_RETURN_IF_ERROR(given.Count("--suspect-ms", 3'600'000, o.suspect_ms));
  if (given.Has("--log-level")) {
    PL_ASSIGN_OR_RETURN(o.config.log_level, ParseLogLevel(given.Text("--log-level")));
  }
  if (given.Has("--private")) {
    PL_ASSIGN_OR_RETURN(o.private_shape, ParseShape(given.Text("--private")));
  }
  return o;
}

}  // namespace proofline::coordinator
