#include "bench/compare.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "bench/process_tree.h"

namespace proofline::bench {
namespace {

namespace fs = std::filesystem;

struct Figures {
  std::vector<double> wall;
  std::vector<double> cpu;
  uint64_t peak_bytes = 0;  // the largest of the memory runs
  int peak_processes = 0;
  bool memory_incomplete = false;
};

struct Contender {
  std::string name;
  std::vector<std::string> argv;
  std::string proof;
  std::string publics;
  Figures figures;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Smallest(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

double MiB(uint64_t bytes) { return static_cast<double>(bytes) / (1024 * 1024); }

// A folder of our own under /tmp, removed with all in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/proofline-compare-XXXXXX";
    if (mkdtemp(name)) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Status RunOnce(Contender& contender, bool sample_memory, bool counted) {
  std::error_code ignored;
  fs::remove(contender.proof, ignored);
  fs::remove(contender.publics, ignored);
  PL_ASSIGN_OR_RETURN(ProcessRun run, RunProgram(contender.argv, sample_memory));
  if (run.exit_code != 0 || !fs::exists(contender.proof))
    return Status(ErrorCode::kInvalidArgument, contender.name + " exited " + std::to_string(run.exit_code) + " or wrote no proof", run.errors);
  if (!counted) return OkStatus();
  Figures& figures = contender.figures;
  if (sample_memory) {
    if (run.peak_pss_bytes > figures.peak_bytes) {
      figures.peak_bytes = run.peak_pss_bytes;
      figures.peak_processes = run.peak_processes;
    }
    figures.memory_incomplete = figures.memory_incomplete || run.memory_incomplete;
  } else {
    figures.wall.push_back(run.wall_seconds);
    figures.cpu.push_back(run.cpu_seconds);
  }
  return OkStatus();
}

Status VerifyProof(const CompareOptions& options, const Contender& contender) {
  if (options.vkey.empty()) return OkStatus();
  PL_ASSIGN_OR_RETURN(ProcessRun run, RunProgram({options.proofline, "verify", options.vkey, contender.publics, contender.proof}, false));
  if (run.exit_code != 0) return Status(ErrorCode::kInvalidProof, "the proof of " + contender.name + " does not verify", run.errors);
  return OkStatus();
}

// Pairs, and the order turned round in each: a machine that slows down or speeds up meanwhile touches both alike.
Status RunPairs(std::vector<Contender>& contenders, int pairs, bool sample_memory, bool counted) {
  for (int pair = 0; pair < pairs; ++pair) {
    for (auto& contender : contenders) PL_RETURN_IF_ERROR(RunOnce(contender, sample_memory, counted));
    std::reverse(contenders.begin(), contenders.end());
  }
  return OkStatus();
}

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

nlohmann::ordered_json ToJson(const Figures& figures) {
  nlohmann::ordered_json json{{"wall_min_s", Smallest(figures.wall)},
                              {"wall_median_s", Median(figures.wall)},
                              {"cpu_median_s", Median(figures.cpu)}};
  if (figures.peak_bytes > 0) json["peak_pss_mib"] = MiB(figures.peak_bytes);
  if (figures.memory_incomplete) json["memory_incomplete"] = true;
  return json;
}

Status AppendResult(const CompareOptions& options, const std::string& label, const Figures& ours, const Figures& theirs) {
  if (options.results.empty()) return OkStatus();
  char day[32];
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%SZ", &utc);
  utsname kernel{};
  uname(&kernel);
  nlohmann::ordered_json line{{"bench", "compare"},
                              {"time", day},
                              {"circuit", label},
                              {"key_bytes", fs::file_size(options.key)},
                              {"processor", ProcessorName()},
                              {"cores", std::thread::hardware_concurrency()},
                              {"kernel", kernel.release},
                              {"runs", ours.wall.size()},
                              {"proofline", ToJson(ours)},
                              {"rapidsnark", ToJson(theirs)},
                              {"wall_ratio", Median(theirs.wall) / Median(ours.wall)}};
  std::ofstream file(options.results, std::ios::app);
  file << line.dump() << '\n';
  file.flush();
  if (!file) return Status(ErrorCode::kIo, "cannot append to " + options.results, std::strerror(errno));
  return OkStatus();
}

void PrintRow(const char* name, const Figures& figures) {
  std::printf("%-12s %10.3f %10.3f %10.3f", name, Smallest(figures.wall), Median(figures.wall), Median(figures.cpu));
  if (figures.peak_bytes > 0) std::printf(" %9.1f%s %5d", MiB(figures.peak_bytes), figures.memory_incomplete ? "+" : " ", figures.peak_processes);
  std::printf("\n");
}

// The project's own goal for memory: 1.5 times rapidsnark's and 48 MiB.
void PrintTable(const std::string& label, const Figures& ours, const Figures& theirs) {
  std::printf("%s: %zu pairs, whole process\n", label.c_str(), ours.wall.size());
  std::printf("%-12s %10s %10s %10s %10s %5s\n", "", "min s", "median s", "cpu s", "peak MiB", "procs");
  PrintRow("proofline", ours);
  PrintRow("rapidsnark", theirs);
  std::printf("rapidsnark's median time is %.2f of proofline's", Median(theirs.wall) / Median(ours.wall));
  if (theirs.peak_bytes > 0 && ours.peak_bytes > 0)
    std::printf("; memory bound (1.5 x rapidsnark + 48 MiB): %.1f MiB, %s", 1.5 * MiB(theirs.peak_bytes) + 48,
                MiB(ours.peak_bytes) <= 1.5 * MiB(theirs.peak_bytes) + 48 ? "kept" : "exceeded");
  std::printf("\n");
  if (ours.memory_incomplete || theirs.memory_incomplete)
    std::printf("+ more than this: a process does not let its memory map be read. Run the comparison as root.\n");
}

Contender MakeContender(const std::string& name, std::vector<std::string> program, const CompareOptions& options, const std::string& folder) {
  Contender contender;
  contender.name = name;
  contender.proof = folder + "/" + name + ".proof.json";
  contender.publics = folder + "/" + name + ".public.json";
  contender.argv = std::move(program);
  for (const auto& argument : {options.key, options.witness, contender.proof, contender.publics}) contender.argv.push_back(argument);
  return contender;
}

const Figures& FiguresOf(const std::vector<Contender>& contenders, const std::string& name) {
  return std::find_if(contenders.begin(), contenders.end(), [&](const Contender& c) { return c.name == name; })->figures;
}

}  // namespace

Status RunCompare(const CompareOptions& options) {
  if (options.runs < 1 || options.memory_runs < 0) return Status(ErrorCode::kUsage, "at least one run is needed");
  for (const auto& file : {options.rapidsnark, options.proofline, options.key, options.witness}) {
    if (access(file.c_str(), R_OK) != 0) return Status(ErrorCode::kNotFound, "cannot read " + file, std::strerror(errno));
  }
  TemporaryFolder folder;
  if (folder.path().empty()) return Status(ErrorCode::kIo, "cannot make a folder in /tmp", std::strerror(errno));
  std::vector<Contender> contenders = {MakeContender("proofline", {options.proofline, "prove"}, options, folder.path()),
                                       MakeContender("rapidsnark", {options.rapidsnark}, options, folder.path())};
  PL_RETURN_IF_ERROR(RunPairs(contenders, 1, false, false));
  for (const auto& contender : contenders) PL_RETURN_IF_ERROR(VerifyProof(options, contender));
  PL_RETURN_IF_ERROR(RunPairs(contenders, options.runs, false, true));
  PL_RETURN_IF_ERROR(RunPairs(contenders, options.memory_runs, true, true));
  const std::string label = options.label.empty() ? fs::path(options.key).filename().string() : options.label;
  const Figures& ours = FiguresOf(contenders, "proofline");
  const Figures& theirs = FiguresOf(contenders, "rapidsnark");
  PrintTable(label, ours, theirs);
  return AppendResult(options, label, ours, theirs);
}

}  // namespace proofline::bench
