#include "tests/e2e/harness.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace proofline::e2e {
namespace fs = std::filesystem;

std::ostream& operator<<(std::ostream& os, const Finished& f) {
  os << (f.signal ? "signal " + std::to_string(f.signal) : "exit " + std::to_string(f.exit_code)) << "\n--- stdout\n" << f.out << "--- stderr\n" << f.err << "---\n";
  return os;
}

Process::Process(const Spec& spec) : start_(std::chrono::steady_clock::now()) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) std::abort();
  std::vector<std::string> strings{spec.program};
  strings.insert(strings.end(), spec.args.begin(), spec.args.end());
  const size_t argc = strings.size();
  for (char** e = environ; *e; ++e)
    if (!spec.env.count(std::string(*e).substr(0, std::string(*e).find('=')))) strings.emplace_back(*e);
  for (const auto& [name, value] : spec.env) strings.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (size_t i = 0; i < strings.size(); ++i) (i < argc ? argv : envp).push_back(strings[i].data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    const int in = open(spec.stdin_file.c_str(), O_RDONLY);
    const int to = spec.stdout_file.empty() ? out[1] : open(spec.stdout_file.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(in, 0);
    dup2(to, 1);
    dup2(err[1], 2);
    for (int s = 1; s < NSIG; ++s) signal(s, SIG_DFL);
    execvpe(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  out_fd_ = out[0];
  err_fd_ = err[0];
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (out_fd_ >= 0) close(out_fd_);
  if (err_fd_ >= 0) close(err_fd_);
}

bool SendSignal(pid_t pid, int number) {
  // kill(-1) and kill(0) would reach processes that are none of ours.
  if (pid <= 1) {
    ADD_FAILURE() << "no process to send signal " << number << " to: pid " << pid;
    return false;
  }
  return kill(pid, number) == 0;
}

void Process::Signal(int number) const { SendSignal(pid_, number); }

bool Process::Pump(int timeout_ms) {
  if (out_fd_ < 0 && err_fd_ < 0) return false;
  pollfd fds[] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}};
  if (poll(fds, 2, timeout_ms) <= 0) return true;
  for (int i = 0; i < 2; ++i) {
    if (!fds[i].revents) continue;
    char buffer[4096];
    const ssize_t n = read(fds[i].fd, buffer, sizeof buffer);
    if (n > 0) {
      (i ? result_.err : result_.out).append(buffer, static_cast<size_t>(n));
    } else {
      int& fd = i ? err_fd_ : out_fd_;
      close(fd);
      fd = -1;
    }
  }
  return out_fd_ >= 0 || err_fd_ >= 0;
}

Finished Process::Wait(std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  bool ended = false;
  if (pid_ <= 0) {
    ADD_FAILURE() << "waited for already";
    return result_;
  }
  while (!ended) {
    Pump(20);
    ended = waitpid(pid_, &status, WNOHANG) == pid_;
    if (!ended && std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "no end after " << limit.count() << " s\n" << result_;
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      ended = true;
    }
  }
  result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  pid_ = -1;
  // What is still in the pipes; somebody who inherited them must not hold us up.
  for (int i = 0; i < 1000 && Pump(0); ++i) {
    pollfd fds[] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}};
    if (poll(fds, 2, 0) == 0) break;
  }
  if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  return result_;
}

bool Process::WaitForLine(const std::string& text, std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (result_.out.find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() > deadline || !Pump(50)) return false;
  }
  return true;
}

void E2eTest::SetUp() {
  char name[] = "/tmp/pl-e2e-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  dir_ = name;
  fs::create_directory(Path("rt"));
}

void E2eTest::TearDown() {
  ExpectNothingLeft();
  for (pid_t pid : OurProcesses()) SendSignal(pid, SIGKILL);
  fs::remove_all(dir_);
}

std::map<std::string, std::string> E2eTest::Env() const {
  return {{"XDG_RUNTIME_DIR", Path("rt")}, {"XDG_STATE_HOME", Path("state")}, {"HOME", dir_}, {"TMPDIR", dir_}, {"PROOFLINE", PROOFLINE_PROGRAM}};
}

Process::Spec E2eTest::Spec(std::vector<std::string> args) const {
  Process::Spec spec;
  spec.program = PROOFLINE_PROGRAM;
  spec.args = std::move(args);
  spec.env = Env();
  return spec;
}

Finished E2eTest::Shell(const std::string& script) const {
  Process::Spec spec;
  spec.program = "bash";
  spec.args = {"-c", script};
  spec.env = Env();
  return Process(spec).Wait();
}

void E2eTest::Write(const std::string& name, const std::vector<uint8_t>& bytes) const {
  std::ofstream(Path(name), std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::string E2eTest::Read(const std::string& name) const {
  std::ifstream in(name[0] == '/' ? name : Path(name), std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<pid_t> E2eTest::OurProcesses() const {
  std::vector<pid_t> pids;
  const std::string mark = "XDG_RUNTIME_DIR=" + Path("rt");
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "environ", std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    if ((std::string("\0", 1) + text.str()).find(std::string("\0", 1) + mark + std::string("\0", 1)) != std::string::npos) pids.push_back(std::stoi(name));
  }
  return pids;
}

std::vector<std::string> E2eTest::RuntimeEntries() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(Path("rt"))) names.push_back(entry.path().filename());
  return names;
}

void E2eTest::ExpectNothingLeft() const {
  EXPECT_TRUE(Eventually([&] { return OurProcesses().empty(); }, std::chrono::seconds(5))) << OurProcesses().size() << " processes are left";
  EXPECT_TRUE(Eventually([&] { return RuntimeEntries().empty(); }, std::chrono::seconds(5))) << ::testing::PrintToString(RuntimeEntries());
}

void StackTest::Up(std::vector<std::string> extra) {
  std::vector<std::string> args{"up", "--state", State(), "--log", Path("log")};
  args.insert(args.end(), extra.begin(), extra.end());
  up_ = std::make_unique<Process>(Spec(args));
  if (!up_->WaitForLine("ready:")) {
    up_->Signal(SIGKILL);
    const Finished end = up_->Wait();
    up_.reset();
    FAIL() << end << Read("log");
  }
}

Finished StackTest::Down() {
  if (!up_) {
    ADD_FAILURE() << "no stack is up";
    return {};
  }
  up_->Signal(SIGTERM);
  Finished end = up_->Wait();
  up_.reset();
  return end;
}

void StackTest::TearDown() {
  if (up_) {
    const Finished end = Down();
    EXPECT_EQ(end.exit_code, 0) << end;
  }
  if (HasFailure()) std::cerr << "--- log\n" << Read("log") << "---\n";
  E2eTest::TearDown();
}

Finished StackTest::Cli(std::vector<std::string> args) const {
  args.insert(args.end(), {"--state", State()});
  return Run(std::move(args));
}

nlohmann::json StackTest::Status() const {
  const Finished f = Cli({"status", "--json"});
  EXPECT_EQ(f.exit_code, 0) << f;
  const auto parsed = nlohmann::json::parse(f.out, nullptr, false);
  return parsed.is_object() ? parsed : nlohmann::json::object();
}

nlohmann::json StackTest::Job(const std::string& id) const {
  const Finished f = Cli({"status", id, "--json"});
  EXPECT_EQ(f.exit_code, 0) << f;
  const auto parsed = nlohmann::json::parse(f.out, nullptr, false);
  return parsed.is_object() ? parsed : nlohmann::json::object();
}

pid_t StackTest::WorkerPid(const std::string& role) const {
  nlohmann::json status = Status();
  for (const auto& worker : status["workers"])
    if (worker["role"] == role && worker["state"] != "lost") return worker["pid"];
  return -1;
}

pid_t StackTest::CoordinatorPid() const {
  for (pid_t pid : OurProcesses()) {
    std::error_code error;
    if (fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).filename() == "proofline-coordinator") return pid;
  }
  return -1;
}

std::string StackTest::Submit(std::vector<std::string> args) const {
  args.insert(args.begin(), "submit");
  const Finished f = Cli(std::move(args));
  EXPECT_EQ(f.exit_code, 0) << f;
  EXPECT_FALSE(f.out.empty());
  return f.out.substr(0, f.out.find('\n'));
}

}  // namespace proofline::e2e
