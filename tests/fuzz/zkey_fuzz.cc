#include "core/formats/zkey.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto key = ReadZkey({data, size}, "fuzz");
  auto without = ReadZkey({data, size}, "fuzz", ZkeyUse::kWithoutCoefficients);
  if (!key.ok()) return 0;
  fuzz::Require(without.ok() && without->coefficient_count == key->coefficient_count);
  const ProvingKeyView& v = key->view;
  fuzz::Require(v.n_public < v.n_vars && v.domain() >= 2);
  for (ByteSpan span : {v.alpha1, v.beta1, v.delta1, v.beta2, v.gamma2, v.delta2, v.ic, v.a, v.b1, v.b2, v.c, v.h}) fuzz::Touch(span);
  for (size_t i = 0; i < v.coefficient_count(); ++i) {
    const uint8_t* record = v.coefficients.data() + i * ProvingKeyView::kCoefficientBytes;
    fuzz::Require(LoadLe<uint32_t>(record) <= 1 && LoadLe<uint32_t>(record + 4) < v.domain() && LoadLe<uint32_t>(record + 8) < v.n_vars);
  }
  ReadContributions(*key);
  return 0;
}
