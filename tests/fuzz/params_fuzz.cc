#include "core/formats/params.h"
#include "tests/fuzz/formats_fuzz.h"

using namespace proofline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto params = ReadParams({data, size}, "fuzz");
  if (!params.ok()) return 0;
  fuzz::Require(params->n_public() < params->n_vars() && params->log2_domain >= 1);
  for (ByteSpan span : {params->vk.bytes, params->h, params->l, params->a, params->b1, params->b2}) fuzz::Touch(span);
  const bool good = CheckParamsPoints(*params, "fuzz", PointChecks::kOnCurve, {}).ok();
  fuzz::Require(!good || DecodeVk(params->vk, "fuzz").ok());
  // Densities of as many points as there are: the first variables of A, the last of B.
  QueryDensity density{VariableSet(params->n_vars()), VariableSet(params->n_vars())};
  for (uint32_t i = 0; i < params->a.size() / 96; ++i) density.a.Add(i);
  for (uint32_t i = 0; i < params->b1.size() / 96; ++i) density.b.Add(params->n_vars() - 1 - i);
  auto key = ParamsKey::Load(*params, "fuzz", density, PointChecks::kOnCurve);
  fuzz::Require(key.ok() == good);
  if (!key.ok()) return 0;
  const ProvingKeyView& v = key->view();
  for (ByteSpan span : {v.alpha1, v.beta1, v.delta1, v.beta2, v.gamma2, v.delta2, v.ic, v.a, v.b1, v.b2, v.c, v.h, v.a_density, v.b_density}) fuzz::Touch(span);
  return 0;
}
