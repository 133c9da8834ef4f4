#include "cli/submission.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/formats/wtns.h"

namespace proofline::cli {
namespace {

constexpr std::chrono::seconds kAnswerLimit{30};
constexpr size_t kCopyBytes = size_t{4} << 20;

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
  // write gives EFAULT, and no signal, for bytes that the file has lost.
  PL_RETURN_IF_ERROR(file.ChangeOr(WriteAll(spool.get(), file.bytes(), file.name())));
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

Result<wire::SubmitAck> FillAndCommit(StackClient& client, const wire::SubmitTicket& ticket, const wire::Circuit& circuit, const std::vector<MappedFile>& files) {
  for (size_t i = 0; i < files.size(); ++i) PL_RETURN_IF_ERROR(SpoolInput(client, ticket.job(), static_cast<uint32_t>(i), files[i]));
  wire::Request commit;
  commit.mutable_submit_commit()->set_job(ticket.job());
  commit.mutable_submit_commit()->set_content_mac(ContentMac(ticket.content_key(), circuit, files));
  for (const MappedFile& file : files) PL_RETURN_IF_ERROR(file.CheckUnchanged());
  PL_ASSIGN_OR_RETURN(const wire::Reply reply, client.Call(std::move(commit), kAnswerLimit));
  return reply.ack();
}

}  // namespace

Result<MappedFile> OpenWitness(const std::string& path, const wire::Circuit& circuit, int interrupt_fd) {
  MappedFile::Options options;
  options.secret = options.guarded = true;
  options.stream_limit = WitnessStream(circuit.n_vars());
  options.interrupt_fd = interrupt_fd;
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, options));
  const auto view = ReadWtns(file.bytes(), path);
  if (!view.ok()) return file.ChangeOr(view.status());
  ProvingKeyView shape;
  shape.curve = static_cast<CurveId>(circuit.curve());
  shape.n_vars = circuit.n_vars();
  shape.n_public = circuit.n_public();
  PL_RETURN_IF_ERROR(CheckWitnessFitsKey(*view, path, shape, StrCat("circuit ", circuit.name())));
  return file;
}

Result<wire::SubmitAck> SubmitFiles(StackClient& client, wire::SubmitBegin begin, const wire::Circuit& circuit, const std::vector<MappedFile>& files) {
  begin.set_circuit(circuit.name());
  begin.set_partition_count(static_cast<uint32_t>(files.size()));
  wire::Request request;
  *request.mutable_submit_begin() = std::move(begin);
  PL_ASSIGN_OR_RETURN(const wire::Reply opened, client.Call(std::move(request), kAnswerLimit));
  auto ack = FillAndCommit(client, opened.ticket(), circuit, files);
  if (!ack.ok()) {
    // Best effort: an abandoned submission times out in the coordinator anyway.
    wire::Request abort;
    abort.mutable_submit_abort()->set_job(opened.ticket().job());
    (void)client.Call(std::move(abort), std::chrono::milliseconds(500)).ok();
  }
  return ack;
}

}  // namespace proofline::cli
