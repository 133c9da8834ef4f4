#include "stack_under_test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/groth16/result.h"

extern char** environ;

namespace proofline::coordinator {

namespace {
using Clock = std::chrono::steady_clock;

int LeftMs(Clock::time_point end) {
  return std::max(0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count()));
}
}  // namespace

TempDir::TempDir() {
  char name[] = "/tmp/proofline-test-XXXXXX";
  path_ = mkdtemp(name);
}
TempDir::~TempDir() { std::filesystem::remove_all(path_); }

Process Process::Start(const std::vector<std::string>& argv, const std::vector<std::string>& env, const std::vector<std::pair<std::string, int>>& fds, const std::string& stderr_file) {
  std::vector<std::string> variables;
  for (char** e = environ; *e; ++e) {
    const std::string text = *e;
    if (text.rfind("LISTEN_", 0) != 0 && text.rfind("NOTIFY_SOCKET", 0) != 0 && text.rfind("PROOFLINE_LOG", 0) != 0) variables.push_back(text);
  }
  variables.insert(variables.end(), env.begin(), env.end());
  std::string names;
  for (const auto& [name, fd] : fds) names += (names.empty() ? "" : ":") + name;
  char listen_pid[40] = "LISTEN_PID=";
  if (!fds.empty()) variables.insert(variables.end(), {StrCat("LISTEN_FDS=", fds.size()), "LISTEN_FDNAMES=" + names});
  std::vector<char*> arguments, environment;
  for (const std::string& a : argv) arguments.push_back(const_cast<char*>(a.c_str()));
  for (const std::string& v : variables) environment.push_back(const_cast<char*>(v.c_str()));
  if (!fds.empty()) environment.push_back(listen_pid);
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  const int log = stderr_file.empty() ? -1 : open(stderr_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  // Out of the way of 3, 4, ...
  std::vector<int> high;
  for (const auto& [name, fd] : fds) high.push_back(fcntl(fd, F_DUPFD_CLOEXEC, 200));
  const pid_t parent = getpid();
  Process process;
  process.pid_ = fork();
  if (process.pid_ == 0) {
    (void)parent;
    snprintf(listen_pid + 11, sizeof(listen_pid) - 11, "%d", static_cast<int>(getpid()));
    if (log >= 0) dup2(log, 2);
    for (size_t i = 0; i < high.size(); ++i) dup2(high[i], static_cast<int>(3 + i));
    execve(arguments[0], arguments.data(), environment.data());
    _exit(127);
  }
  for (const int fd : high) close(fd);
  if (log >= 0) close(log);
  return process;
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    Kill();
    pid_ = std::exchange(other.pid_, -1);
  }
  return *this;
}

void Process::Signal(int signal) const {
  if (pid_ > 0) kill(pid_, signal);
}

void Process::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::optional<int> Process::WaitForEnd(int timeout_ms) {
  const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (pid_ > 0) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (Clock::now() >= end) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return std::nullopt;
}

FakeManager::FakeManager(const std::string& dir) : path_(dir + "/notify") {
  socket_ = UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path_.begin(), path_.end(), address.sun_path);
  if (bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) abort();
}

void FakeManager::Receive() {
  char text[4096];
  alignas(cmsghdr) char control[CMSG_SPACE(64 * sizeof(int)) + 64];
  iovec part{text, sizeof(text) - 1};
  msghdr header{};
  header.msg_iov = &part, header.msg_iovlen = 1, header.msg_control = control, header.msg_controllen = sizeof(control);
  const ssize_t n = recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n <= 0) return;
  const std::string message(text, static_cast<size_t>(n));
  std::vector<UniqueFd> fds;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      fds.emplace_back(fd);
    }
  }
  const auto value = [&](const std::string& key) {
    const size_t at = message.find(key + "=");
    return at == std::string::npos ? std::string() : message.substr(at + key.size() + 1, message.find('\n', at) - at - key.size() - 1);
  };
  if (value("READY") == "1") ready_ = true;
  if (value("FDSTORE") == "1" && fds.size() == 1) stored_[value("FDNAME")] = std::move(fds[0]);
  if (value("FDSTOREREMOVE") == "1") stored_.erase(value("FDNAME"));
}

bool FakeManager::WaitReady(int timeout_ms) {
  const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (!ready_ && Clock::now() < end) {
    pollfd item{socket_.get(), POLLIN, 0};
    if (poll(&item, 1, LeftMs(end)) > 0) Receive();
  }
  return ready_;
}

std::vector<std::pair<std::string, int>> FakeManager::stored() const {
  std::vector<std::pair<std::string, int>> out;
  for (const auto& [name, fd] : stored_) out.emplace_back(name, fd.get());
  return out;
}

// ---- client ----

Client::Client(const std::string& run_dir) : run_dir_(run_dir) {
  auto socket = wire::DealerSocket::Connect(context_, run_dir + "/front.sock", "");
  if (!socket.ok()) abort();
  front_.emplace(*std::move(socket));
}

void Client::Send(wire::Request request) {
  const auto end = Clock::now() + std::chrono::seconds(5);
  while (!front_->SendMessage(request, 0).ok() && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

Result<wire::Reply> Client::Call(wire::Request request, int timeout_ms) {
  request.set_request_id(next_request_++);
  const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  auto send_at = Clock::now();
  wire::PollItem item;
  item.socket = &*front_;
  while (Clock::now() < end) {
    if (Clock::now() >= send_at) {
      const bool sent = front_->SendMessage(request, 0).ok();
      send_at = Clock::now() + std::chrono::milliseconds(sent ? 3000 : 5);
    }
    wire::Poll(std::span(&item, 1), std::min(LeftMs(send_at), LeftMs(end)));
    while (auto frame = front_->Receive()) {
      auto reply = wire::Unpack<wire::Reply>(*frame);
      if (!reply.ok() || reply->request_id() != request.request_id()) continue;
      if (Status error = wire::ToStatus(reply->error()); !error.ok()) return error;
      return reply;
    }
  }
  return Status(ErrorCode::kTimeout, "no reply");
}

Result<UniqueFd> Client::Ask(const std::function<Status(wire::BrokerConnection&)>& send) {
  PL_ASSIGN_OR_RETURN(auto connection, wire::BrokerConnection::Connect(run_dir_ + "/broker.sock", 5000));
  PL_RETURN_IF_ERROR(send(connection));
  PL_ASSIGN_OR_RETURN(auto packet, connection.Receive());
  if (!packet) return Status(ErrorCode::kTimeout, "no answer");
  PL_ASSIGN_OR_RETURN(const auto reply, wire::Unpack<wire::BrokerReply>(packet->frame));
  PL_RETURN_IF_ERROR(wire::ToStatus(reply.error()));
  return packet->fds.empty() ? UniqueFd() : std::move(packet->fds[0]);
}

Status Client::AddCircuit(const std::string& name, uint32_t log2_domain) {
  wire::Request request;
  wire::Circuit* circuit = request.mutable_circuit_add()->mutable_circuit();
  circuit->set_name(name);
  circuit->set_key_path("/keys/" + name + ".zkey");
  circuit->set_key_bytes(1234);
  circuit->set_key_hash("hash of " + name + std::to_string(log2_domain));
  circuit->set_curve(1);
  circuit->set_n_vars(1u << log2_domain);
  circuit->set_n_public(1);
  circuit->set_log2_domain(log2_domain);
  auto reply = Call(request);
  return reply.ok() ? OkStatus() : reply.status();
}

Result<wire::SubmitTicket> Client::Begin(const std::string& circuit, uint32_t partitions, const std::string& id, bool direct, wire::Priority priority, uint64_t deadline_ms) {
  wire::Request request;
  wire::SubmitBegin* begin = request.mutable_submit_begin();
  begin->set_circuit(circuit);
  begin->set_partition_count(partitions);
  begin->set_id(id);
  begin->set_direct(direct);
  begin->set_priority(priority);
  begin->set_deadline_ms(deadline_ms);
  PL_ASSIGN_OR_RETURN(const auto reply, Call(request));
  return reply.ticket();
}

Status Client::WriteSpool(uint64_t job, uint32_t partition, char fill) {
  wire::PutInput put;
  put.set_job(job);
  put.set_partition(partition);
  PL_ASSIGN_OR_RETURN(const UniqueFd fd, Ask([&](wire::BrokerConnection& c) { return c.SendMessage(put, 0); }));
  const std::string bytes(1000, fill);
  if (write(fd.get(), bytes.data(), bytes.size()) != ssize_t(bytes.size()) || fdatasync(fd.get()) != 0) return Status(ErrorCode::kIo, "spool");
  return OkStatus();
}

Result<wire::SubmitAck> Client::Commit(uint64_t job, const std::string& mac) {
  wire::Request request;
  request.mutable_submit_commit()->set_job(job);
  request.mutable_submit_commit()->set_content_mac(mac);
  PL_ASSIGN_OR_RETURN(const auto reply, Call(request));
  return reply.ack();
}

Result<wire::SubmitAck> Client::Submit(const std::string& circuit, const std::vector<char>& fill, const std::string& id, wire::Priority priority, uint64_t deadline_ms) {
  PL_ASSIGN_OR_RETURN(const auto ticket, Begin(circuit, static_cast<uint32_t>(fill.size()), id, false, priority, deadline_ms));
  for (uint32_t i = 0; i < fill.size(); ++i) PL_RETURN_IF_ERROR(WriteSpool(ticket.job(), i, fill[i]));
  return Commit(ticket.job(), id.empty() ? "" : std::string(32, fill[0]));
}

Result<wire::JobView> Client::Wait(const std::string& name, int timeout_ms) {
  const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (Clock::now() < end) {
    wire::Request request;
    request.mutable_wait_job()->set_job_name(name);
    request.mutable_wait_job()->set_timeout_ms(static_cast<uint64_t>(std::min(LeftMs(end), 2000)));
    PL_ASSIGN_OR_RETURN(const auto reply, Call(request));
    if (reply.job().state() >= wire::JOB_DONE) return reply.job();
  }
  return Status(ErrorCode::kTimeout, "job " + name + " has not ended");
}

wire::StackStatus Client::GetStatus() {
  wire::Request request;
  request.mutable_status();
  auto reply = Call(request);
  EXPECT_TRUE(reply.ok()) << reply.status().ToString();
  return reply.ok() ? reply->status() : wire::StackStatus();
}

Result<std::string> Client::GetResult(uint64_t job, uint32_t partition) {
  wire::GetResult get;
  get.set_job(job);
  get.set_partition(partition);
  PL_ASSIGN_OR_RETURN(const UniqueFd fd, Ask([&](wire::BrokerConnection& c) { return c.SendMessage(get, 0); }));
  std::string bytes(1 << 20, '\0');
  const ssize_t n = pread(fd.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return bytes;
}

// ---- stack ----

void StackTest::StartCoordinator(std::vector<std::string> options) {
  options_ = std::move(options);
  std::filesystem::create_directory(run_dir());
  manager_ = std::make_unique<FakeManager>(dir_.path());
  RestartCoordinator();
}

void StackTest::RestartCoordinator() {
  manager_->ForgetReady();
  std::vector<std::string> argv{COORDINATOR_PROGRAM, "--state", dir_.path(), "--heartbeat-ms", "50", "--suspect-ms", std::to_string(suspect_ms_)};
  argv.insert(argv.end(), options_.begin(), options_.end());
  if (std::find(options_.begin(), options_.end(), "--private") == options_.end()) argv.insert(argv.end(), {"--slot-bytes", "1MiB", "--result-bytes", "8KiB"});
  coordinator_ = Process::Start(argv, {"NOTIFY_SOCKET=" + manager_->path()}, with_manager_ ? manager_->stored() : std::vector<std::pair<std::string, int>>{}, dir_.path() + "/log");
  ASSERT_TRUE(manager_->WaitReady(20'000)) << CoordinatorLog();
}

Process StackTest::StartWorker(const char* role, const std::string& behaviour) {
  return Process::Start({FAKE_WORKER_PROGRAM, run_dir(), role, std::to_string(next_ordinal_++), behaviour}, {}, {}, dir_.path() + "/workers.log");
}

void StackTest::StartWorkers(const std::string& synth, const std::string& gpu) {
  workers_.push_back(StartWorker("synth", synth));
  workers_.push_back(StartWorker("gpu", gpu));
}

Client& StackTest::client() {
  if (!client_) client_ = std::make_unique<Client>(run_dir());
  return *client_;
}

void StackTest::ExpectAllFree() {
  const auto end = Clock::now() + std::chrono::seconds(10);
  wire::StackStatus status;
  while (Clock::now() < end) {
    status = client().GetStatus();
    bool free = status.slots_size() > 0;
    for (const auto& slot : status.slots()) free = free && slot.state() == "free";
    if (free) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ADD_FAILURE() << "slots are not free: " << status.slots(0).state() << "\n" << CoordinatorLog();
}

void StackTest::ExpectBalance() {
  const wire::StackStatus status = client().GetStatus();
  for (const wire::Counters* c : {&status.jobs(), &status.partitions()}) EXPECT_EQ(c->accepted(), c->finished() + c->failed() + c->cancelled() + c->live());
}

void StackTest::ExpectResult(Client& client, uint64_t job, uint32_t partition, char fill) {
  const auto bytes = client.GetResult(job, partition);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  ASSERT_EQ(bytes->size(), ResultBytes(1));
  EXPECT_EQ(bytes->substr(0, 4), "PRF1");
  EXPECT_EQ((*bytes)[16], fill);
  EXPECT_EQ(LoadLe<uint64_t>(bytes->data() + 24), job);
  EXPECT_EQ(LoadLe<uint32_t>(bytes->data() + 32), partition);
}

std::string StackTest::CoordinatorLog() const {
  std::string text;
  for (const char* name : {"/log", "/workers.log"}) {
    std::ifstream in(dir_.path() + name);
    text += std::string(std::istreambuf_iterator<char>(in), {});
  }
  return text;
}

}  // namespace proofline::coordinator
