#include "cli/output_paths.h"

#include <filesystem>
#include <sys/stat.h>

#include "core/base/text.h"

namespace proofline::cli {
namespace {

namespace fs = std::filesystem;

// Where a file of this name will be made. A relative name is completed first: weakly_canonical leaves alone one whose first part is
// not there. The last part stays as it is, since a link to nowhere is replaced and not followed.
fs::path Place(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  return fs::weakly_canonical(whole.parent_path(), error) / whole.filename();
}

// A file that is there is told by what it is, one that is not by its place.
bool SameFile(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  struct stat sa, sb;
  const bool there_a = stat(a.c_str(), &sa) == 0, there_b = stat(b.c_str(), &sb) == 0;
  if (there_a && there_b) return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
  return there_a == there_b && Place(a) == Place(b);
}

}  // namespace

Status CheckOutputPaths(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (SameFile(outputs[i], outputs[j]))
        return Status(ErrorCode::kUsage, StrCat(outputs[i], " and ", outputs[j], " are the same file"), "", "name a different file for each output");
    for (const std::string& input : inputs)
      if (SameFile(outputs[i], input))
        return Status(ErrorCode::kUsage, StrCat("the output ", outputs[i], " is the input ", input), "", "name a file that is no input");
  }
  return OkStatus();
}

}  // namespace proofline::cli
