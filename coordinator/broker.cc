#include "coordinator/broker.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/event.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace proofline::coordinator {

namespace {

constexpr int kPacketsPerRound = 32;
constexpr size_t kMaxDirectDescriptors = 16'384;  // the process's own limit may be lower and is then what refuses

Result<UniqueFd> SealedMemfd(const std::string& bytes) {
  UniqueFd fd(memfd_create("proofline-result", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  size_t at = 0;
  while (fd && at < bytes.size()) {
    const ssize_t n = write(fd.get(), bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  if (!fd || at < bytes.size() || fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0 || lseek(fd.get(), 0, SEEK_SET) != 0) {
    return Status(ErrorCode::kResource, "no memory for a result", std::strerror(errno));
  }
  return fd;
}

bool IsOurUser(int connection) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

Status CheckDirectInput(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return Status(ErrorCode::kInvalidArgument, "an input must be a regular file", {}, "write it to a file first");
  }
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) return Status(ErrorCode::kInvalidArgument, "an input's descriptor must be open for reading");
  return OkStatus();
}

Status NoSubmission(uint64_t job) {
  return Status(ErrorCode::kNotFound, StrCat("no submission with number ", job, " is open"), "it was committed, given up, or its time ran out", "submit again");
}

}  // namespace

std::vector<int> Broker::connection_fds() const {
  std::vector<int> fds;
  for (const ConnectionPtr& connection : connections_) fds.push_back(connection->socket.fd());
  return fds;
}

void Broker::Accept() {
  while (auto accepted = listener_.Accept()) {
    if (connections_.size() >= kMaxConnections) {
      LogWarn("too many connections on the broker socket", {{"most", kMaxConnections}});
      continue;  // closes it
    }
    connections_.push_back(std::make_shared<Connection>(*std::move(accepted)));
  }
}

void Broker::Receive(int fd) {
  const auto at = std::find_if(connections_.begin(), connections_.end(), [&](const ConnectionPtr& c) { return c->socket.fd() == fd; });
  if (at == connections_.end()) return;
  const ConnectionPtr connection = *at;
  for (int i = 0; i < kPacketsPerRound; ++i) {
    auto packet = connection->socket.Receive();
    if (packet.ok() && !packet->has_value()) return;
    if (packet.ok() && Handle(connection, std::move(**packet))) continue;
    if (!packet.ok() && packet.status().code() == ErrorCode::kInvalidArgument) LogStatus(LogLevel::kWarn, "a broker connection is dropped", packet.status());
    std::erase(connections_, connection);
    return;
  }
}

bool Broker::Handle(const ConnectionPtr& connection, wire::Packet packet) {
  switch (packet.frame.type) {
    case wire::MessageType::kAttach: {
      const auto attach = wire::Unpack<wire::Attach>(packet.frame);
      if (attach.ok()) OnAttach(connection, *attach, std::move(packet.fds));
      return attach.ok();
    }
    case wire::MessageType::kPutInput: {
      const auto message = wire::Unpack<wire::PutInput>(packet.frame);
      if (message.ok()) Reply(connection, PutInput(*message, std::move(packet.fds)));
      return message.ok();
    }
    case wire::MessageType::kGetInput: {
      const auto message = wire::Unpack<wire::GetInput>(packet.frame);
      if (message.ok()) Reply(connection, GetInput(*connection, *message));
      return message.ok();
    }
    case wire::MessageType::kGetResult: {
      const auto message = wire::Unpack<wire::GetResult>(packet.frame);
      if (message.ok()) Reply(connection, GetResult(*message));
      return message.ok();
    }
    default: return false;
  }
}

// An OK answer without a descriptor is an answer too.
void Broker::Reply(const ConnectionPtr& connection, Result<UniqueFd> answer) {
  wire::BrokerReply reply;
  if (!answer.ok()) wire::FillError(answer.status(), reply.mutable_error());
  auto fd = std::make_shared<UniqueFd>(answer.ok() ? *std::move(answer) : UniqueFd());
  core_.outbox.effects.push_back([this, connection, reply, fd] {
    const int raw = fd->get();
    (void)connection->socket.SendMessage(reply, core_.term(), raw >= 0 ? std::span<const int>(&raw, 1) : std::span<const int>());
  });
}

// ---- workers ----

Result<uint32_t> Broker::InstanceFor(const wire::Hello& hello) {
  const bool came_back = hello.instance() != 0 && hello.generation() == core_.slots.generation();
  // Only a process that the registry knows under that number keeps it; Attach checks that it is the same process.
  if (came_back && core_.workers.Find(hello.instance())) return hello.instance();
  return core_.slots.NextInstance();
}

void Broker::OnAttach(const ConnectionPtr& connection, const wire::Attach& attach, std::vector<UniqueFd> fds) {
  wire::AttachReply reply;
  reply.set_term(core_.term());
  reply.set_generation(core_.slots.generation());
  Status status;
  // A worker gets every slot, and is killed when it is suspected: it must be one of ours.
  if (!IsOurUser(connection->socket.fd())) status = Status(ErrorCode::kInvalidArgument, "a worker must run under the coordinator's user");
  if (status.ok() && fds.size() != 1) status = Status(ErrorCode::kInvalidArgument, StrCat("attach came with ", fds.size(), " descriptors, expected the worker's own pidfd"));
  auto instance = status.ok() ? InstanceFor(attach.hello()) : Result<uint32_t>(status);
  Result<Worker*> worker = instance.ok() ? core_.workers.Attach(*instance, attach.hello(), connection->socket.peer_pid(), std::move(fds[0]), core_.now_ns)
                                         : Result<Worker*>(instance.status());
  if (!worker.ok()) {
    LogStatus(LogLevel::kWarn, "attach refused", worker.status());
    wire::FillError(worker.status(), reply.mutable_error());
    core_.outbox.effects.push_back([this, connection, reply] { (void)connection->socket.SendMessage(reply, core_.term()); });
    return;
  }
  reply.set_instance((*worker)->instance);
  reply.set_slot_count(core_.slots.count());
  core_.outbox.ops.emplace_back(PutWorker{{core_.slots.generation(), (*worker)->instance, (*worker)->pid, (*worker)->start_ticks}});
  EmitEvent({.name = "worker-attached", .outcome = "ok", .extra = {{"worker", (*worker)->instance}, {"worker_pid", (*worker)->pid}}});
  core_.outbox.effects.push_back([this, connection, reply] {
    if (const Status sent = wire::SendAttachReply(connection->socket, reply, core_.slots.table_fd(), core_.slots.slot_fds()); !sent.ok()) {
      LogStatus(LogLevel::kWarn, "the answer to a worker's attach", sent);
    }
  });
}

// ---- inputs and results ----

Result<UniqueFd> Broker::PutInput(const wire::PutInput& message, std::vector<UniqueFd> fds) {
  Submission* submission = core_.submissions.Find(message.job());
  if (!submission) return NoSubmission(message.job());
  if (message.partition() >= submission->record.partition_count) {
    return Status(ErrorCode::kInvalidArgument, StrCat("partition ", message.partition(), " of a job of ", submission->record.partition_count));
  }
  if (message.direct() != submission->direct) return Status(ErrorCode::kInvalidArgument, "the submission was opened for another way of giving inputs");
  submission->touched_ns = core_.now_ns;
  if (!submission->direct) {
    auto file = core_.spool->OpenForWriting(message.job(), message.partition());
    if (file.ok()) submission->has_input[message.partition()] = true;
    return file;
  }
  if (fds.size() != 1) return Status(ErrorCode::kInvalidArgument, StrCat("an input came with ", fds.size(), " descriptors, expected 1"));
  PL_RETURN_IF_ERROR(CheckDirectInput(fds[0].get()));
  if (core_.submissions.direct_descriptors() >= kMaxDirectDescriptors) return Status(ErrorCode::kResource, "too many inputs are open", {}, "submit fewer partitions at once");
  submission->inputs[message.partition()] = std::move(fds[0]);
  submission->has_input[message.partition()] = true;
  return UniqueFd();
}

Result<UniqueFd> Broker::GetInput(const Connection& connection, const wire::GetInput& message) {
  // Workers ask over a connection of their own: what entitles them is the slot's word, and that they are the process it names.
  const bool holds = message.slot() < core_.slots.count() && [&] {
    const SlotInfo& info = core_.scheduler.slots()[message.slot()];
    const Worker* owner = core_.workers.Find(info.instance);
    return info.use == SlotUse::kGranted && info.job == message.job() && info.part == message.partition() && owner &&
           owner->pid == connection.socket.peer_pid() && IsOurUser(connection.socket.fd()) && core_.slots.expected(message.slot()).epoch == message.epoch();
  }();
  if (!holds) {
    return Status(ErrorCode::kCancelled, StrCat("partition ", message.partition(), " of job ", message.job(), " is not granted to this worker in slot ", message.slot(), ", epoch ", message.epoch()));
  }
  if (core_.spool) return core_.spool->OpenForReading(message.job(), message.partition());
  const auto inputs = core_.direct_inputs.find(message.job());
  if (inputs == core_.direct_inputs.end()) return Status(ErrorCode::kNotFound, "the job's inputs are gone");
  UniqueFd copy(fcntl(inputs->second[message.partition()].get(), F_DUPFD_CLOEXEC, 3));
  if (!copy) return Status(ErrorCode::kResource, "no descriptor for an input", std::strerror(errno), "raise the limit of open files");
  return copy;
}

Result<UniqueFd> Broker::GetResult(const wire::GetResult& message) {
  PL_ASSIGN_OR_RETURN(const auto bytes, core_.store->LoadResult(message.job(), message.partition()));
  if (bytes) return SealedMemfd(*bytes);
  return Status(ErrorCode::kNotFound, StrCat("partition ", message.partition(), " of job ", message.job(), " has no result"), {}, "wait for the job; results are forgotten after the configured time");
}

}  // namespace proofline::coordinator
