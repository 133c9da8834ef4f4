// From sealed sections to a verified proof: what an owner does with one lease, slots and messages apart.
//
// The order: check once that the key's points are on their curves, draw r and s, prove on the device, verify against the key's own verification key. A proof that does not
// verify is computed once more by the portable reference with the same r and s. The same bytes: the input is at fault
// (the witness does not satisfy the circuit, or a point of the key is outside its subgroup) and no retry can help. Other
// bytes: the device is; it gets one more try with fresh r and s. An unverified proof never leaves.
//
// Runs on the job thread inside the worker's TBB arena.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/formats/key_cache.h"
#include "core/groth16/result.h"
#include "core/wire/codec.h"
#include "gpu_worker/device.h"

namespace proofline::gpu_worker {

struct ProveInput {
  CachedKey& key;
  std::string key_name;  // for messages
  ByteSpan witness, rows_a, rows_b;
  uint64_t input_id = 0;  // as in ProveWork
  AskNext next{};         // empty: there is none to ask for
  std::function<bool()> cancelled;                       // asked between stages of ours
  std::function<void(const std::string&)> device_fault;  // told of each wrong answer of the device
};

class ProvePipeline {
 public:
  ProvePipeline(Device& device, const ProveInput& input)
      : device_(device), input_(input), backend_(GetBackend(input.key.zkey.view.curve)) {}

  // kUnsatisfied or kInvalidFile: the input; kDeviceFault: the device, twice; kCancelled, kResource.
  Result<ProvedPartition> Run();
  const std::vector<wire::StageTime>& stages() const { return stages_; }

 private:
  Status CheckKeyOnce();
  Status PrepareVerificationKey();
  Result<Proof> ProveOnce(const Blinding& blinding);
  Result<Proof> ProveByReference(const Blinding& blinding);
  Status Verify(const Proof& proof);
  Status BlameInput() const;
  void AddStage(std::string_view name, uint64_t start_ns, uint64_t work_ns);
  void DropKeyPages(std::string_view stage);

  Device& device_;
  ProveInput input_;
  const Backend& backend_;
  std::vector<FrCanonical> publics_;
  std::vector<wire::StageTime> stages_;
};

}  // namespace proofline::gpu_worker
