#include "cli/proof_output.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "cli/output_paths.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/formats/proof_json.h"
#include "core/formats/public_json.h"
#include "core/formats/solidity_calldata.h"

namespace proofline::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Wanted(const ProofPaths& paths) {
  std::vector<std::string> wanted{paths.proof, paths.publics};
  if (!paths.calldata.empty()) wanted.push_back(paths.calldata);
  return wanted;
}

bool IsSpecial(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

}  // namespace

Status CheckOutputs(const ProofPaths& paths, const std::vector<std::string>& inputs) {
  const std::vector<std::string> wanted = Wanted(paths);
  PL_RETURN_IF_ERROR(CheckOutputPaths(wanted, inputs));
  for (const std::string& path : wanted) {
    // Opening a named pipe and closing it again would look like the end of the output to its reader.
    if (IsSpecial(path) && access(path.c_str(), W_OK) == 0) continue;
    auto writer = AtomicFileWriter::Create(path);
    if (!writer.ok()) return std::move(writer).status();
  }
  return OkStatus();
}

Status WriteProofFiles(const ProofPaths& paths, const ProvedPartition& result) {
  std::vector<std::pair<std::string, std::string>> files{{paths.proof, ProofToJson(result.proof)}, {paths.publics, PublicToJson(result.publics)}};
  if (!paths.calldata.empty()) files.emplace_back(paths.calldata, SolidityCalldata(result.proof, result.publics) + "\n");
  // What cannot be taken back (a pipe, a device) goes first: if it fails, no file is there yet.
  std::stable_partition(files.begin(), files.end(), [](const auto& file) { return IsSpecial(file.first); });
  std::vector<AtomicFileWriter> writers;
  for (const auto& [path, text] : files) {
    auto writer = AtomicFileWriter::Create(path);
    if (!writer.ok()) return std::move(writer).status();
    writers.push_back(*std::move(writer));
    PL_RETURN_IF_ERROR(writers.back().Write(text));
  }
  for (size_t i = 0; i < writers.size(); ++i) {
    Status committed = writers[i].Commit();
    if (committed.ok()) continue;
    for (size_t j = 0; j < i; ++j)
      if (std::error_code ignored; !IsSpecial(files[j].first)) fs::remove(files[j].first, ignored);
    return committed;
  }
  return OkStatus();
}

Result<ProvedPartition> ReadResult(int fd) {
  PL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::FromDescriptor(fd, "result", {}));
  return DecodeResult(file.bytes());
}

}  // namespace proofline::cli
