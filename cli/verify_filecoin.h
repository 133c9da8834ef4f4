// `verify --filecoin`: proofs in Filecoin's form, for all partitions at once.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/status.h"

namespace proofline::cli {

struct VerifyFilecoinOptions {
  std::string kind;         // porep, winning, window, update
  std::string sector_size;  // empty: numbers of inputs and partitions are not compared with a circuit's
  std::string vk, publics, proof;
};

// `publics` is JSON: the public inputs of the one partition, or an array with those of each. kInvalidProof names the partition.
Status VerifyFilecoin(const VerifyFilecoinOptions& options, nlohmann::ordered_json& report);

}  // namespace proofline::cli
