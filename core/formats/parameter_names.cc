#include "core/formats/parameter_names.h"

#include <cstdlib>

#include "core/base/digest.h"
#include "core/base/text.h"

namespace proofline {

namespace {

constexpr uint64_t kNodeBytes = 32;
constexpr char kVersion[] = "v28";

std::string TreeName(const TreeArities& tree) { return StrCat("merkletree-poseidon_hasher-", tree.base, "-", tree.sub, "-", tree.top); }

ParameterSet Named(std::string_view prefix, std::string identifier) {
  const Digest256 hash = Sha256Of({reinterpret_cast<const uint8_t*>(identifier.data()), identifier.size()});
  return {std::move(identifier), StrCat(prefix, "-", DigestHex(hash))};
}

}  // namespace

std::string ParameterSet::FileName(const std::string& extension) const { return StrCat(kVersion, "-", cache_id, ".", extension); }

ParameterSet PoRepParameters(const TreeArities& tree, uint64_t sector_bytes, uint32_t layers, uint32_t challenges) {
  return Named(StrCat("stacked-proof-of-replication-", TreeName(tree), "-sha256_hasher"),
               StrCat("layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: 8 base_graph: "
                      "drgraph::BucketGraph{size: ",
                      sector_bytes / kNodeBytes, "; degree: 6; hasher: poseidon_hasher} }, challenges: LayerChallenges { layers: ", layers,
                      ", max_count: ", challenges, " }, tree: ", TreeName(tree), " }"));
}

ParameterSet PoStParameters(const TreeArities& tree, uint64_t sector_bytes, uint32_t challenges, uint32_t sectors) {
  return Named(StrCat("proof-of-spacetime-fallback-", TreeName(tree)),
               StrCat("FallbackPoSt::PublicParams{sector_size: ", sector_bytes, ", challenge_count: ", challenges, ", sector_count: ", sectors, "}"));
}

ParameterSet UpdateParameters(const TreeArities& tree, uint64_t sector_bytes, bool poseidon_tree_d) {
  return Named(StrCat(poseidon_tree_d ? "empty-sector-update-poseidon-" : "empty-sector-update-", TreeName(tree)),
               StrCat("empty_sector_update::PublicParams{ sector_nodes: ", sector_bytes / kNodeBytes, " }"));
}

std::string ParameterCacheDirectory() {
  const char* directory = std::getenv("FIL_PROOFS_PARAMETER_CACHE");
  return directory && *directory ? directory : "/var/tmp/filecoin-proof-parameters";
}

}  // namespace proofline
