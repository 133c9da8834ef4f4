// Stands in for libFuzzer where the compiler has none (g++): gives LLVMFuzzerTestOneInput every seed as it is, cut off at many lengths, and
// with single bytes changed. Deterministic, so it is an ordinary test that the sanitizer builds run as well.
//
// usage: x_fuzz SEED_FILE_OR_FOLDER...

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

// Inputs of one seed are bounded, so that a large seed does not take minutes.
constexpr size_t kCuts = 64;
constexpr size_t kChanges = 512;

size_t runs = 0;

// From the heap at its exact size, so that the address sanitizer sees a read past the end.
void Run(const uint8_t* data, size_t size) {
  Bytes copy(data, data + size);
  copy.shrink_to_fit();
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
  ++runs;
}

void Replay(const Bytes& seed) {
  Run(seed.data(), seed.size());
  if (seed.empty()) return;
  std::mt19937_64 random(seed.size());
  for (size_t cut = 0; cut < kCuts; ++cut) {
    // Headers are short: half of the cuts fall into the first 256 bytes.
    size_t limit = cut % 2 == 0 ? std::min<size_t>(seed.size(), 256) : seed.size();
    Run(seed.data(), random() % limit);
  }
  for (size_t change = 0; change < kChanges; ++change) {
    Bytes changed = seed;
    size_t limit = change % 2 == 0 ? std::min<size_t>(seed.size(), 256) : seed.size();
    constexpr uint8_t kValues[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    changed[random() % limit] = change % 3 == 0 ? static_cast<uint8_t>(random()) : kValues[random() % 5];
    Run(changed.data(), changed.size());
  }
}

Bytes ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace

int main(int argc, char** argv) {
  const uint8_t nothing = 0;
  LLVMFuzzerTestOneInput(&nothing, 0);
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::exists(argv[i])) {
      std::fprintf(stderr, "no seed at %s\n", argv[i]);
      return EXIT_FAILURE;
    }
    if (!std::filesystem::is_directory(argv[i])) {
      Replay(ReadFile(argv[i]));
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) Replay(ReadFile(entry.path()));
    }
  }
  std::printf("%zu inputs\n", runs);
  return EXIT_SUCCESS;
}
