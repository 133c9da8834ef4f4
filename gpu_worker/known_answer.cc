#include "gpu_worker/known_answer.h"

#include "core/base/text.h"
#include "core/formats/wtns.h"
#include "core/formats/zkey.h"
#include "core/groth16/result.h"
#include "gpu_worker/known_answer_data.h"

namespace proofline::gpu_worker {

namespace {

Status Wrong(const Device& device, std::string_view curve, const std::string& what) {
  return Status(ErrorCode::kDeviceFault,
                StrCat("device ", device.name(), " failed its self-test on ", curve, ": ", what), "",
                "Do not use this device.");
}

Status ProveOne(Device& device, const KnownAnswer& known) {
  PL_ASSIGN_OR_RETURN(Zkey key, ReadZkey(known.zkey, "known answer's key"));
  PL_ASSIGN_OR_RETURN(WtnsView witness, ReadWtns(known.wtns, "known answer's witness"));
  PL_ASSIGN_OR_RETURN(ProvedPartition expected, DecodeResult(known.result));
  const ProvingKeyView& view = key.view;
  const Backend& backend = GetBackend(view.curve);
  std::vector<uint8_t> a(size_t{view.domain()} * kFrBytes), b(a.size());
  PL_RETURN_IF_ERROR(backend.ComputeRows(view, witness.values, a, b));
  Blinding blinding;
  blinding.r = kKnownAnswerR;
  blinding.s = kKnownAnswerS;
  StageObserver ignore = [](std::string_view, uint64_t) {};
  PL_ASSIGN_OR_RETURN(Proof proof, device.Prove({view, 0, witness.values, a, b, blinding, ignore}));
  if (!(proof == expected.proof)) return Wrong(device, known.curve, "the proof differs from the known one");
  PL_ASSIGN_OR_RETURN(VerificationKey vk, backend.ExtractVerificationKey(view));
  if (!backend.Verify(vk, expected.publics, proof).ok())
    return Wrong(device, known.curve, "the known proof does not verify");
  expected.publics[0][0] ^= 1;
  if (backend.Verify(vk, expected.publics, proof).code() != ErrorCode::kInvalidProof)
    return Wrong(device, known.curve, "a wrong public value verifies");
  return OkStatus();
}

}  // namespace

Status ProveKnownAnswers(Device& device) {
  for (const KnownAnswer& known : KnownAnswers()) PL_RETURN_IF_ERROR(ProveOne(device, known));
  return OkStatus();
}

}  // namespace proofline::gpu_worker
