#include "core/circuits/filecoin/graph.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "core/base/digest.h"

namespace proofline::filecoin {
namespace {

ByteSpan BytesOf(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

template <class T>
ByteSpan BytesOfInteger(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(T)};
}

Bytes32 Sha256OfAll(std::initializer_list<ByteSpan> pieces) {
  Sha256 hash;
  for (ByteSpan piece : pieces) hash.Update(piece);
  return hash.Finish();
}

// The little-endian 256-bit integer mod m.
uint64_t Modulo(const Bytes32& bytes, uint64_t m) {
  unsigned __int128 rest = 0;
  for (size_t i = 4; i-- > 0;) rest = (rest << 64 | LoadLe<uint64_t>(bytes.data() + 8 * i)) % m;
  return static_cast<uint64_t>(rest);
}

// The key stream of ChaCha (Bernstein 2008) with 64-bit block counter and 64-bit nonce, or with the 96-bit nonce of RFC 8439: the first 2^32
// blocks of both agree for a nonce that fills the same words.
class ChaCha {
 public:
  ChaCha(int rounds, const Bytes32& key, const std::array<uint32_t, 3>& nonce) : rounds_(rounds) {
    static constexpr uint32_t kSigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    std::copy_n(kSigma, 4, state_);
    for (int i = 0; i < 8; ++i) state_[4 + i] = LoadLe<uint32_t>(key.data() + 4 * i);
    state_[12] = 0;
    for (int i = 0; i < 3; ++i) state_[13 + i] = nonce[i];
  }
  uint32_t NextWord() {
    if (at_ == 16) NextBlock();
    return block_[at_++];
  }
  uint64_t NextU64() {
    const uint64_t low = NextWord();
    return low | uint64_t{NextWord()} << 32;
  }

 private:
  void NextBlock() {
    uint32_t x[16];
    std::copy_n(state_, 16, x);
    auto quarter = [&x](int a, int b, int c, int d) {
      x[a] += x[b]; x[d] = std::rotl(x[d] ^ x[a], 16);
      x[c] += x[d]; x[b] = std::rotl(x[b] ^ x[c], 12);
      x[a] += x[b]; x[d] = std::rotl(x[d] ^ x[a], 8);
      x[c] += x[d]; x[b] = std::rotl(x[b] ^ x[c], 7);
    };
    for (int i = 0; i < rounds_; i += 2) {
      for (int j = 0; j < 4; ++j) quarter(j, 4 + j, 8 + j, 12 + j);
      for (int j = 0; j < 4; ++j) quarter(j, 4 + (j + 1) % 4, 8 + (j + 2) % 4, 12 + (j + 3) % 4);
    }
    for (int i = 0; i < 16; ++i) block_[i] = x[i] + state_[i];
    if (++state_[12] == 0) ++state_[13];
    at_ = 0;
  }

  int rounds_;
  uint32_t state_[16], block_[16];
  int at_ = 16;
};

ChaCha SyntheticStream(std::string_view label, ByteSpan first, ByteSpan second) {
  static constexpr std::string_view kNonce("synth-porep\0", 12);
  Blake2b256Keyed hash(BytesOf(label));
  hash.Update(first);
  hash.Update(second);
  std::array<uint32_t, 3> nonce;
  for (int i = 0; i < 3; ++i) nonce[i] = LoadLe<uint32_t>(kNonce.data() + 4 * i);
  return ChaCha(20, hash.Finish(), nonce);
}

}  // namespace

FrCanonical TrimmedSha256(std::initializer_list<ByteSpan> pieces) {
  FrCanonical out = Sha256OfAll(pieces);
  out[31] &= 0x3f;
  return out;
}

Bytes32 ProverIdOf(uint64_t actor) {
  Bytes32 id{};
  size_t at = 0;
  for (; actor >= 0x80; actor >>= 7) id[at++] = static_cast<uint8_t>(actor | 0x80);
  id[at] = static_cast<uint8_t>(actor);
  return id;
}

Bytes32 PoRepIdOf(uint64_t registered_proof) {
  Bytes32 id{};
  StoreLe(id.data(), registered_proof);
  return id;
}

FrCanonical ReplicaId(const Bytes32& prover_id, uint64_t sector, const Bytes32& ticket, const FrCanonical& comm_d, const Bytes32& porep_id) {
  const uint64_t big_endian = __builtin_bswap64(sector);
  return TrimmedSha256({prover_id, BytesOfInteger(big_endian), ticket, comm_d, porep_id});
}

std::vector<uint64_t> SyntheticCandidates(const ChallengeSource& source, uint64_t nodes, uint32_t count) {
  ChaCha stream = SyntheticStream("filecoin.io|PoRep|1|Synthetic|1|Generation", source.replica_id, source.comm_r);
  std::vector<uint64_t> candidates;
  for (uint32_t i = 0; i < count; ++i) {
    Bytes32 block;
    for (int word = 0; word < 8; ++word) StoreLe(block.data() + 4 * word, stream.NextWord());
    candidates.push_back(Modulo(block, nodes - 1) + 1);
  }
  return candidates;
}

std::vector<uint64_t> PoRepChallenges(const ChallengeSource& source, uint64_t nodes, uint32_t first, uint32_t count) {
  std::vector<uint64_t> challenges;
  if (source.kind == ChallengeKind::kSynthetic) {
    const uint32_t set = static_cast<uint32_t>(std::min<uint64_t>(nodes, 1 << 18));
    const std::vector<uint64_t> candidates = SyntheticCandidates(source, nodes, set);
    ChaCha stream = SyntheticStream("filecoin.io|PoRep|1|Synthetic|1|Selection", source.replica_id, source.seed);
    for (uint32_t j = 0; j < first + count; ++j) {
      const uint64_t chosen = candidates[stream.NextWord() % set];
      if (j >= first) challenges.push_back(chosen);
    }
    return challenges;
  }
  for (uint32_t j = first; j < first + count; ++j) {
    const Bytes32 digest = source.kind == ChallengeKind::kInteractive
                               ? Sha256OfAll({source.replica_id, source.seed, BytesOfInteger(j)})
                               : Sha256OfAll({BytesOf("filecoin.io|PoRep|1|NonInteractive|1"), source.replica_id, source.comm_r, BytesOfInteger(j)});
    challenges.push_back(Modulo(digest, nodes - 1) + 1);
  }
  return challenges;
}

SealingGraph::SealingGraph(uint64_t nodes, const Bytes32& porep_id, SealingApi api) : nodes_(nodes), api_(api) {
  drg_seed_ = Sha256OfAll({BytesOf("Filecoin_DRSample"), porep_id});
  const Bytes32 keys = Sha256OfAll({BytesOf("Filecoin_Feistel"), porep_id});
  for (size_t i = 0; i < keys_.size(); ++i) keys_[i] = LoadLe<uint64_t>(keys.data() + 8 * i);
  const int bits = std::bit_width(nodes * kExpanderParents - 1);
  half_bits_ = std::max(1, (bits + 1) / 2);
}

std::array<uint32_t, kDrgParents> SealingGraph::DrgParents(uint32_t node) const {
  std::array<uint32_t, kDrgParents> parents{};
  if (node < 2) return parents;
  Bytes32 seed = drg_seed_;
  StoreLe(seed.data() + 28, node);
  ChaCha stream(8, seed, {0, 0, 0});
  const bool predecessor_first = api_ != SealingApi::kV1_0;
  constexpr uint64_t kSampled = kDrgParents - 1;
  for (uint64_t i = 0; i < kSampled; ++i) {
    const uint64_t meta = kSampled * node;  // the graph of degree 1 that this one was folded from
    const uint64_t buckets = std::bit_width(meta - 1);
    const uint64_t bucket = stream.NextU64() % buckets + 1;
    const uint64_t high = std::min(meta, uint64_t{1} << bucket), low = std::max<uint64_t>(2, high / 2);
    const uint64_t distance = low + stream.NextU64() % (high - low + 1);
    const uint32_t parent = static_cast<uint32_t>((meta - distance) / kSampled);
    parents[i + predecessor_first] = parent == node ? node - 1 : parent;
  }
  parents[predecessor_first ? 0 : kSampled] = node - 1;
  return parents;
}

uint64_t SealingGraph::Permute(uint64_t x) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  do {
    uint64_t left = x >> half_bits_, right = x & mask;
    for (uint64_t key : keys_) {
      const uint64_t message[2] = {__builtin_bswap64(right), __builtin_bswap64(key)};
      Blake2b512 hash;
      hash.Update(BytesOfInteger(message));
      const uint64_t f = __builtin_bswap64(LoadLe<uint64_t>(hash.Finish().data()));
      const uint64_t next = left ^ (f & mask);
      left = right;
      right = next;
    }
    x = left << half_bits_ | right;
  } while (x >= nodes_ * kExpanderParents);
  return x;
}

std::array<uint32_t, kExpanderParents> SealingGraph::ExpanderParents(uint32_t node) const {
  std::array<uint32_t, kExpanderParents> parents;
  for (uint32_t i = 0; i < kExpanderParents; ++i) {
    uint64_t x = Permute(uint64_t{kExpanderParents} * node + i);
    if (api_ == SealingApi::kV1_0) x = static_cast<uint32_t>(x);
    parents[i] = static_cast<uint32_t>(x / kExpanderParents);
  }
  return parents;
}

uint64_t PoStChallenge(const Bytes32& randomness, uint64_t sector, uint64_t index, uint64_t nodes) {
  const Bytes32 digest = Sha256OfAll({randomness, BytesOfInteger(sector), BytesOfInteger(index)});
  return LoadLe<uint64_t>(digest.data()) % nodes;
}

}  // namespace proofline::filecoin
