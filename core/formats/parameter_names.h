// How Filecoin's programs name the parameter files of a circuit: v28-PREFIX-HASH.params, .vk, .meta, where HASH is the SHA-256 of a text
// that describes the circuit. No file is needed to know the name that its parameters must have.
#pragma once

#include <cstdint>
#include <string>

namespace proofline {

// The three arities of a sector's trees (base, sub, top); 0 for a level that is not there.
struct TreeArities {
  uint32_t base = 8, sub = 0, top = 0;
};

struct ParameterSet {
  std::string identifier;  // what is hashed
  std::string cache_id;    // PREFIX-HASH
  // "v28-PREFIX-HASH." + "params", "vk" or "meta"
  std::string FileName(const std::string& extension) const;
};

// `challenges` are those of one partition.
ParameterSet PoRepParameters(const TreeArities& tree, uint64_t sector_bytes, uint32_t layers, uint32_t challenges);
// Window PoSt: 10 challenges, `sectors` of a partition. Winning PoSt: 1 challenge, 66 sectors.
ParameterSet PoStParameters(const TreeArities& tree, uint64_t sector_bytes, uint32_t challenges, uint32_t sectors);
// `poseidon_tree_d`: the variant whose data tree is hashed with Poseidon.
ParameterSet UpdateParameters(const TreeArities& tree, uint64_t sector_bytes, bool poseidon_tree_d = false);

// FIL_PROOFS_PARAMETER_CACHE, or /var/tmp/filecoin-proof-parameters.
std::string ParameterCacheDirectory();

}  // namespace proofline
