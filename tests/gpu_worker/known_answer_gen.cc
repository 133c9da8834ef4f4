// Writes the .result files of gpu_worker/known_answer and the proof and public JSON that snarkjs can judge:
//   known_answer_gen KEY.zkey WITNESS.wtns OUT.result PROOF.json PUBLIC.json

#include <stdio.h>

#include "core/base/file.h"
#include "core/formats/proof_json.h"
#include "core/formats/public_json.h"
#include "core/formats/wtns.h"
#include "core/formats/zkey.h"
#include "core/groth16/backend.h"
#include "core/groth16/result.h"
#include "gpu_worker/known_answer_data.h"

namespace proofline {
namespace {

Status Generate(char** argv) {
  PL_ASSIGN_OR_RETURN(MappedFile key_file, MappedFile::Open(argv[1]));
  PL_ASSIGN_OR_RETURN(MappedFile witness_file, MappedFile::Open(argv[2]));
  PL_ASSIGN_OR_RETURN(Zkey key, ReadZkey(key_file.bytes(), argv[1]));
  PL_ASSIGN_OR_RETURN(WtnsView witness, ReadWtns(witness_file.bytes(), argv[2]));
  const Backend& backend = GetBackend(key.view.curve, ArithPath::kPortable);
  std::vector<uint8_t> a(size_t{key.view.domain()} * kFrBytes), b(a.size());
  PL_RETURN_IF_ERROR(backend.ComputeRows(key.view, witness.values, a, b));
  Blinding blinding;
  blinding.r = gpu_worker::kKnownAnswerR;
  blinding.s = gpu_worker::kKnownAnswerS;
  ProvedPartition proved;
  PL_ASSIGN_OR_RETURN(proved.proof,
                      backend.Prove(key.view, witness.values, a, b, blinding, [](std::string_view, uint64_t) {}));
  for (uint32_t i = 1; i <= key.view.n_public; ++i) {
    FrCanonical value;
    std::copy_n(witness.values.begin() + i * kFrBytes, kFrBytes, value.begin());
    proved.publics.push_back(value);
  }
  std::vector<uint8_t> bytes(ResultBytes(key.view.n_public));
  EncodeResult(proved, bytes);
  PL_RETURN_IF_ERROR(WriteFileAtomically(argv[3], {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  PL_RETURN_IF_ERROR(WriteFileAtomically(argv[4], ProofToJson(proved.proof)));
  return WriteFileAtomically(argv[5], PublicToJson(proved.publics));
}

}  // namespace
}  // namespace proofline

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  proofline::Status status = proofline::Generate(argv);
  if (!status.ok()) fprintf(stderr, "%s\n", status.ToString().c_str());
  return proofline::ExitCodeFor(status.code());
}
