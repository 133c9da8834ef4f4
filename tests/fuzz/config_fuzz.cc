// The configuration file: whatever it holds, an answer, and an error that names a line.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config = proofline::ParseConfig({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (config.ok() && (config->slot_count > 4096 || config->synth_workers > 1024 || config->keep_results_s == 0)) abort();
  if (!config.ok() && config.status().error().fact.find("line ") == std::string::npos) abort();
  return 0;
}
