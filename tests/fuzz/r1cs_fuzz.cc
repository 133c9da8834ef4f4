#include "core/formats/r1cs.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto r1cs = ReadR1cs({data, size}, "fuzz");
  if (!r1cs.ok()) return 0;
  for (uint32_t i = 0; i < r1cs->view.n_constraints; ++i) {
    R1csConstraint constraint = r1cs->view.constraint(i);
    for (const LinearCombination* lc : {&constraint.a, &constraint.b, &constraint.c}) {
      for (uint32_t j = 0; j < lc->count; ++j) {
        fuzz::Require(lc->wire(j) < r1cs->view.n_wires);
        fuzz::Touch({lc->coefficient(j), kFrBytes});
      }
    }
  }
  return 0;
}
