// The files a proof goes to.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/groth16/result.h"

namespace proofline::cli {

struct ProofPaths {
  std::string proof;
  std::string publics;
  std::string calldata;  // empty: not wanted
};

// Before any work: that each file can be made (tried, nothing is left), that no two are the same file and none is one of `inputs`.
// kUsage for the latter two.
Status CheckOutputs(const ProofPaths& paths, const std::vector<std::string>& inputs);

// snarkjs's proof.json and public.json, and the calldata where wanted: all of them or none.
Status WriteProofFiles(const ProofPaths& paths, const ProvedPartition& result);

// A result's bytes as a client gets them: a memfd.
Result<ProvedPartition> ReadResult(int fd);

}  // namespace proofline::cli
