// proofline submit, cancel: jobs of a running stack.
#include <CLI/App.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/stack_client.h"
#include "cli/view.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/formats/wtns.h"

namespace proofline::cli {
namespace {

constexpr std::chrono::seconds kAnswerLimit{30};
constexpr size_t kCopyBytes = size_t{4} << 20;

struct SubmitOptions {
  std::string state, circuit, id, priority = "normal", deadline;
  std::vector<std::string> witnesses;
};

Status WriteAll(int fd, ByteSpan bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), std::min(bytes.size(), kCopyBytes));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Status(ErrorCode::kResource, StrCat(name, ": cannot be copied into the stack's spool"), strerror(errno), "free space in the state directory");
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return OkStatus();
}

Status SpoolInput(StackClient& client, uint64_t job, uint32_t partition, const MappedFile& file) {
  PL_ASSIGN_OR_RETURN(const UniqueFd spool, client.OpenSpool(job, partition));
  PL_RETURN_IF_ERROR(WriteAll(spool.get(), file.bytes(), file.name()));
  if (fsync(spool.get()) < 0) return Status(ErrorCode::kIo, StrCat(file.name(), ": its copy in the spool cannot be synced"), strerror(errno));
  return file.CheckUnchanged();
}

// Same circuit and same bytes give the same value; see README.md for the framing.
std::string ContentMac(const std::string& content_key, const wire::Circuit& circuit, const std::vector<MappedFile>& files) {
  HmacSha256 mac({reinterpret_cast<const uint8_t*>(content_key.data()), content_key.size()});
  const auto add = [&](ByteSpan bytes) {
    uint8_t length[8];
    StoreLe<uint64_t>(length, bytes.size());
    mac.Update(length);
    mac.Update(bytes);
  };
  add({reinterpret_cast<const uint8_t*>(circuit.key_hash().data()), circuit.key_hash().size()});
  for (const MappedFile& file : files) add(file.bytes());
  const Digest256 digest = mac.Finish();
  return std::string(digest.begin(), digest.end());
}

// What can be told without the key's file: kind, curve, number of values.
Status CheckWitness(const MappedFile& file, const wire::Circuit& circuit) {
  PL_ASSIGN_OR_RETURN(const WtnsView view, ReadWtns(file.bytes(), file.name()));
  ProvingKeyView shape;
  shape.curve = static_cast<CurveId>(circuit.curve());
  shape.n_vars = circuit.n_vars();
  shape.n_public = circuit.n_public();
  return CheckWitnessFitsKey(view, file.name(), shape, StrCat("circuit ", circuit.name()));
}

Status FillAndCommit(StackClient& client, const wire::SubmitTicket& ticket, const wire::Circuit& circuit, const std::vector<MappedFile>& files) {
  for (size_t i = 0; i < files.size(); ++i) PL_RETURN_IF_ERROR(SpoolInput(client, ticket.job(), static_cast<uint32_t>(i), files[i]));
  wire::Request commit;
  commit.mutable_submit_commit()->set_job(ticket.job());
  commit.mutable_submit_commit()->set_content_mac(ContentMac(ticket.content_key(), circuit, files));
  PL_ASSIGN_OR_RETURN(const wire::Reply reply, client.Call(std::move(commit), kAnswerLimit));
  std::printf("%s\n", reply.ack().job_name().c_str());
  return OkStatus();
}

Status Submit(const SubmitOptions& options) {
  wire::Request begin;
  auto& body = *begin.mutable_submit_begin();
  body.set_circuit(options.circuit);
  body.set_partition_count(static_cast<uint32_t>(options.witnesses.size()));
  body.set_id(options.id);
  PL_ASSIGN_OR_RETURN(const wire::Priority priority, ParsePriority(options.priority));
  body.set_priority(priority);
  if (!options.deadline.empty()) {
    PL_ASSIGN_OR_RETURN(const auto deadline, ParseDuration(options.deadline, "--deadline"));
    if (deadline.count() == 0) return Status(ErrorCode::kUsage, "--deadline: 0 can never be met", "", "leave it out for no deadline");
    body.set_deadline_ms(static_cast<uint64_t>(deadline.count()));
  }
  InterruptGuard interrupt;
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(options.state, {{interrupt.fd(), Interrupted}}));
  PL_ASSIGN_OR_RETURN(const wire::Circuit circuit, ShowCircuit(*client, options.circuit));
  std::vector<MappedFile> files;
  for (const std::string& witness : options.witnesses) {
    MappedFile::Options secret;
    secret.secret = true;
    PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(witness, secret));
    PL_RETURN_IF_ERROR(CheckWitness(file, circuit));
    files.push_back(std::move(file));
  }
  PL_ASSIGN_OR_RETURN(const wire::Reply opened, client->Call(std::move(begin), kAnswerLimit));
  Status done = FillAndCommit(*client, opened.ticket(), circuit, files);
  if (!done.ok()) {
    // Best effort: an abandoned submission times out in the coordinator anyway.
    wire::Request abort;
    abort.mutable_submit_abort()->set_job(opened.ticket().job());
    (void)client->Call(std::move(abort), std::chrono::milliseconds(500)).ok();
  }
  return done;
}

Status Cancel(const std::string& state, const std::string& job) {
  PL_ASSIGN_OR_RETURN(const auto client, ConnectToStack(state));
  wire::Request request;
  request.mutable_cancel_job()->set_job_name(job);
  auto reply = client->Call(std::move(request), kAnswerLimit);
  if (!reply.ok()) return std::move(reply).status();
  return OkStatus();
}

}  // namespace

void AddSubmit(CLI::App& app, Command& command) {
  auto options = std::make_shared<SubmitOptions>();
  CLI::App* sub = app.add_subcommand("submit", "give a job to a running stack; prints the job's id");
  sub->add_option("--circuit", options->circuit, "a circuit that `circuit add` made known")->required()->type_name("NAME");
  sub->add_option("--witness", options->witnesses, "a .wtns file for each partition, in order; may be repeated")->required()->expected(1, -1)->type_name("FILE");
  sub->add_option("--id", options->id, "your own id: the same id with the same content joins the job or its stored result")->type_name("ID");
  sub->add_option("--priority", options->priority, "critical, high, normal (default) or low")->type_name("");
  sub->add_option("--deadline", options->deadline, "the job fails if it is not done in this time: 30s, 2m")->type_name("TIME");
  sub->add_option("--state", options->state, "the stack's state directory")->type_name("DIR");
  sub->callback([options, &command] { command.run = [options] { return Submit(*options); }; });
}

void AddCancel(CLI::App& app, Command& command) {
  struct Options {
    std::string state, job;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("cancel", "cancel a job; what is being computed is finished and dropped");
  sub->add_option("JOB", options->job, "the id that `submit` printed")->required()->type_name("");
  sub->add_option("--state", options->state, "the stack's state directory")->type_name("DIR");
  sub->callback([options, &command] { command.run = [options] { return Cancel(options->state, options->job); }; });
}

}  // namespace proofline::cli
