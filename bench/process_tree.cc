#include "bench/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

#include "core/base/unique_fd.h"

namespace proofline::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSamplePeriod = std::chrono::milliseconds(3);
constexpr auto kPollPeriod = std::chrono::microseconds(200);
constexpr auto kLeftoverPatience = std::chrono::seconds(1);
constexpr size_t kErrorsKept = 4096;

// The parent's pid from /proc/PID/stat: the second field after the name, which is in parentheses and may hold anything.
pid_t ParentOf(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  size_t close = line.rfind(')');
  if (close == std::string::npos || close + 4 >= line.size()) return 0;
  return static_cast<pid_t>(std::strtol(line.c_str() + close + 4, nullptr, 10));
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  DIR* proc = opendir("/proc");
  if (!proc) return pids;
  while (const dirent* entry = readdir(proc)) {
    char* end = nullptr;
    long pid = std::strtol(entry->d_name, &end, 10);
    if (*end == '\0' && pid > 0) pids.push_back(static_cast<pid_t>(pid));
  }
  closedir(proc);
  return pids;
}

std::vector<pid_t> DescendantsOf(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (pid_t pid : AllProcesses()) children.emplace(ParentOf(pid), pid);
  std::vector<pid_t> found;
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    auto [first, last] = children.equal_range(open.back());
    open.pop_back();
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      open.push_back(child->second);
    }
  }
  return found;
}

uint64_t PssBytes(pid_t pid, bool& incomplete) {
  std::FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/smaps_rollup").c_str(), "r");
  if (!file) {
    incomplete = incomplete || errno == EACCES || errno == EPERM;
    return 0;
  }
  char line[256];
  unsigned long long kib = 0;
  while (std::fgets(line, sizeof line, file)) {
    if (std::sscanf(line, "Pss: %llu", &kib) == 1) break;
  }
  std::fclose(file);
  return kib * 1024;
}

void SampleInto(ProcessRun& run) {
  uint64_t sum = 0;
  int count = 0;
  for (pid_t pid : DescendantsOf(getpid())) {
    uint64_t bytes = PssBytes(pid, run.memory_incomplete);
    sum += bytes;
    count += bytes > 0 ? 1 : 0;
  }
  if (sum > run.peak_pss_bytes) {
    run.peak_pss_bytes = sum;
    run.peak_processes = count;
  }
}

[[noreturn]] void ExecChild(const std::vector<std::string>& argv, int errors) {
  std::vector<char*> pointers;
  for (const auto& text : argv) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execv(pointers[0], pointers.data());
  std::fprintf(stderr, "cannot start %s: %s\n", pointers[0], std::strerror(errno));
  _exit(127);
}

// Waits for `child`; other descendants that end are reaped on the way.
int WaitFor(pid_t child, bool sample_memory, ProcessRun& run) {
  auto next_sample = Clock::now();
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(-1, &status, sample_memory ? WNOHANG : 0);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return 0;
    if (ended > 0 || !sample_memory) continue;
    if (Clock::now() >= next_sample) {
      SampleInto(run);
      next_sample = Clock::now() + kSamplePeriod;
    }
    std::this_thread::sleep_for(kPollPeriod);
  }
}

void EndLeftovers() {
  auto deadline = Clock::now() + kLeftoverPatience;
  bool killed = false;
  while (waitpid(-1, nullptr, WNOHANG) >= 0) {
    if (!killed && Clock::now() > deadline) {
      for (pid_t pid : DescendantsOf(getpid())) kill(pid, SIGKILL);
      killed = true;
    }
    std::this_thread::sleep_for(kPollPeriod);
  }
}

double CpuSecondsOfChildren() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string ReadBack(int fd) {
  std::string text(kErrorsKept, '\0');
  ssize_t got = pread(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

}  // namespace

Result<ProcessRun> RunProgram(const std::vector<std::string>& argv, bool sample_memory) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  char name[] = "/tmp/proofline-bench-XXXXXX";
  UniqueFd errors(mkostemp(name, O_CLOEXEC));
  if (!errors.valid()) return Status(ErrorCode::kIo, "cannot make a temporary file in /tmp", std::strerror(errno));
  unlink(name);

  ProcessRun run;
  const double cpu_before = CpuSecondsOfChildren();
  const auto started = Clock::now();
  pid_t child = fork();
  if (child < 0) return Status(ErrorCode::kResource, "cannot start a process", std::strerror(errno));
  if (child == 0) ExecChild(argv, errors.get());
  int status = WaitFor(child, sample_memory, run);
  run.wall_seconds = std::chrono::duration<double>(Clock::now() - started).count();
  run.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  EndLeftovers();
  run.cpu_seconds = CpuSecondsOfChildren() - cpu_before;
  run.errors = ReadBack(errors.get());
  return run;
}

}  // namespace proofline::bench
