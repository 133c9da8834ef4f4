#include "cli/command.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace proofline::cli {
namespace {

// Continuation lines of a text with several are indented like its first.
void PrintIndented(const std::string& text) {
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::fprintf(stderr, "  %.*s\n", static_cast<int>(end - begin), text.data() + begin);
    begin = end + 1;
  }
}

}  // namespace

void PrintError(const Status& status) {
  const Error& error = status.error();
  std::fprintf(stderr, "proofline: %s\n", error.fact.c_str());
  PrintIndented(error.detail);
  PrintIndented(error.remedy);
}

}  // namespace proofline::cli
