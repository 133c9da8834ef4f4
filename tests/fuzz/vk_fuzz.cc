#include "core/formats/params.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto vk = ReadVk({data, size}, "fuzz");
  if (!vk.ok()) return 0;
  fuzz::Require(vk->bytes.size() == size);
  auto decoded = DecodeVk(*vk, "fuzz");
  if (!decoded.ok()) return 0;
  fuzz::Require(decoded->n_public() == vk->n_public());
  // What was decoded is written back as it was.
  std::vector<uint8_t> bytes(G1FormBytes(vk->form));
  for (size_t i = 0; i < decoded->ic.size(); ++i) {
    EncodePoint(decoded->ic[i], vk->form, bytes.data());
    fuzz::Require(std::equal(bytes.begin(), bytes.end(), vk->ic.data() + i * bytes.size()));
  }
  return 0;
}
