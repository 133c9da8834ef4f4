// `proofline-bench compare`: Proofline and another prover of the same command line (rapidsnark), in turn, on the same files.
#pragma once

#include <string>

#include "core/base/status.h"

namespace proofline::bench {

struct CompareOptions {
  std::string rapidsnark;  // path of its `prover`: called as PROGRAM KEY WITNESS PROOF PUBLIC
  std::string proofline;   // path of ours
  std::string key;
  std::string witness;
  std::string vkey;        // optional: both programs' proofs must verify against it with `proofline verify`
  std::string label;       // optional: what the circuit is, for the tables; the key's file name otherwise
  std::string results;     // optional: a file to which one JSON line is appended
  int runs = 5;            // timed pairs, after one pair that is not counted
  int memory_runs = 3;     // pairs in which memory is sampled and time is not
};

// Prints a table; fails if a program fails or its proof does not verify.
Status RunCompare(const CompareOptions& options);

}  // namespace proofline::bench
