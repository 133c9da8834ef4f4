#include "core/circuits/filecoin/native_hash.h"

#include "core/circuits/filecoin/graph.h"

namespace proofline::filecoin {

FrCanonical NativePoseidon(std::span<const FrCanonical> inputs, const Fr* tag) {
  std::vector<Fr> values;
  values.reserve(inputs.size());
  for (const FrCanonical& x : inputs) values.push_back(FrOf(x));
  return CanonicalOf(tag ? PoseidonHash(values, *tag) : PoseidonHash(values));
}

FrCanonical NativeNode(NodeHash hash, std::span<const FrCanonical> children) {
  return hash == NodeHash::kSha256 ? TrimmedSha256({children[0], children[1]}) : NativePoseidon(children);
}

std::vector<FrCanonical> HashedParents(std::vector<FrCanonical> parents) {
  const size_t different = parents.size();
  parents.reserve(kHashedParents);
  for (size_t i = different; i < kHashedParents; ++i) parents.push_back(parents[i % different]);
  return parents;
}

FrCanonical NativeLabel(const FrCanonical& replica_id, uint32_t layer, uint64_t node, std::span<const FrCanonical> parents) {
  std::array<uint8_t, 32> place{};
  StoreLe(place.data(), __builtin_bswap32(layer));
  StoreLe(place.data() + 4, __builtin_bswap64(node));
  return TrimmedSha256({replica_id, place, ByteSpan(parents[0].data(), parents.size_bytes())});
}

}  // namespace proofline::filecoin
