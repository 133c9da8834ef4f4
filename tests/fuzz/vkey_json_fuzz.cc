#include "core/formats/vkey_json.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string note, note_again;
  auto vk = VerificationKeyFromJson(fuzz::Text(data, size), "fuzz", &note);
  if (!vk.ok()) return 0;
  auto again = VerificationKeyFromJson(VerificationKeyToJson(*vk, {}, note), "fuzz", &note_again);
  fuzz::Require(again.ok() && again->ic == vk->ic && again->delta2 == vk->delta2 && note == note_again);
  return 0;
}
