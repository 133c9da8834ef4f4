// SHA-256 (FIPS 180-4) as a circuit, and the hashes of Filecoin's binary trees and labels over it.
#pragma once

#include <vector>

#include "core/circuits/sha256_constants.h"
#include "core/circuits/filecoin/sha256_words.h"
#include "core/circuits/filecoin/uint32.h"

namespace proofline::filecoin {

template <class CS>
using Sha256State = std::array<Word32<CS>, 8>;

namespace sha256_detail {

// A register that is not needed as a word until the next round: a word, or the operands of a sum not made yet.
template <class CS>
class LazyWord {
 public:
  explicit LazyWord(const Word32<CS>& word) : operands_{word} {}
  LazyWord(const std::vector<Word32<CS>>& head, const std::vector<Word32<CS>>& tail) : operands_(head), pending_(true) {
    operands_.insert(operands_.end(), tail.begin(), tail.end());
  }
  Word32<CS> Force(PackedEqualities<CS>& equalities) const {
    return pending_ ? AddMany<CS>(equalities, operands_) : operands_[0];
  }
  Word32<CS> ForcePlus(PackedEqualities<CS>& equalities, const Word32<CS>& other) const {
    std::vector<Word32<CS>> all = operands_;
    all.push_back(other);
    return AddMany<CS>(equalities, all);
  }

 private:
  std::vector<Word32<CS>> operands_;
  bool pending_ = false;
};

// x rotated by three amounts, xored; by a shift instead of the third rotation if `shift`.
template <class CS>
Word32<CS> Sigma(CS& cs, const Word32<CS>& x, int r0, int r1, int r2, bool shift) {
  Word32<CS> first = XorWords(cs, RotateRight<CS>(x, r0), RotateRight<CS>(x, r1));
  return XorWords(cs, first, shift ? ShiftRight<CS>(x, r2) : RotateRight<CS>(x, r2));
}

template <class CS>
std::array<Word32<CS>, 64> Schedule(PackedEqualities<CS>& equalities, std::span<const Boolean<CS>> block) {
  CS& cs = equalities.cs();
  std::array<Word32<CS>, 64> w;
  for (int i = 0; i < 16; ++i) w[i] = WordFromBigEndian<CS>(block.subspan(32 * i, 32));
  for (int i = 16; i < 64; ++i) {
    Word32<CS> s0 = Sigma(cs, w[i - 15], 7, 18, 3, true);
    Word32<CS> s1 = Sigma(cs, w[i - 2], 17, 19, 10, true);
    const std::array<Word32<CS>, 4> operands = {w[i - 16], s0, w[i - 7], s1};
    w[i] = AddMany<CS>(equalities, operands);
  }
  return w;
}

// Bit by bit; the readable twin of WordwiseCompress.
template <class CS>
Sha256State<CS> Compress(CS& cs, std::span<const Boolean<CS>> block, const Sha256State<CS>& state) {
  PackedEqualities<CS> equalities(cs);
  const std::array<Word32<CS>, 64> w = Schedule<CS>(equalities, block);
  LazyWord<CS> a(state[0]), e(state[4]);
  Word32<CS> b = state[1], c = state[2], d = state[3], f = state[5], g = state[6], h = state[7];
  for (int i = 0; i < 64; ++i) {
    Word32<CS> new_e = e.Force(equalities);
    Word32<CS> s1 = Sigma(cs, new_e, 6, 11, 25, false);
    Word32<CS> ch;
    for (int j = 0; j < 32; ++j) ch[j] = Sha256Choose(cs, new_e[j], f[j], g[j]);
    const std::vector<Word32<CS>> temp1 = {h, s1, ch, ConstantWord<CS>(kSha256Round[i]), w[i]};
    Word32<CS> new_a = a.Force(equalities);
    Word32<CS> s0 = Sigma(cs, new_a, 2, 13, 22, false);
    Word32<CS> maj;
    for (int j = 0; j < 32; ++j) maj[j] = Sha256Majority(cs, new_a[j], b[j], c[j]);
    h = g;
    g = f;
    f = new_e;
    e = LazyWord<CS>(temp1, {d});
    d = c;
    c = b;
    b = new_a;
    a = LazyWord<CS>(temp1, {s0, maj});
  }
  auto plus = [&](const Word32<CS>& x, int i) { return AddMany<CS>(equalities, std::array<Word32<CS>, 2>{state[i], x}); };
  Sha256State<CS> out;
  out[0] = a.ForcePlus(equalities, state[0]);
  out[1] = plus(b, 1);
  out[2] = plus(c, 2);
  out[3] = plus(d, 3);
  out[4] = e.ForcePlus(equalities, state[4]);
  out[5] = plus(f, 5);
  out[6] = plus(g, 6);
  out[7] = plus(h, 7);
  equalities.Flush();
  return out;
}

}  // namespace sha256_detail

// `block`: 512 bits, most significant of each byte first.
template <class CS>
Sha256State<CS> Sha256Compress(CS& cs, std::span<const Boolean<CS>> block, const Sha256State<CS>& state) {
  if constexpr (CS::kWordwiseSha256)
    return WordwiseCompress(cs, block, state);
  else
    return sha256_detail::Compress(cs, block, state);
}

template <class CS>
Sha256State<CS> Sha256InitialState() {
  Sha256State<CS> state;
  for (int i = 0; i < 8; ++i) state[i] = ConstantWord<CS>(kSha256Initial[i]);
  return state;
}

// 256 bits of the digest, most significant of each byte first. `bits` in the same order, any number of them.
template <class CS>
std::vector<Boolean<CS>> Sha256(CS& cs, std::vector<Boolean<CS>> bits) {
  const uint64_t length = bits.size();
  bits.push_back(Boolean<CS>::Constant(true));
  while (bits.size() % 512 != 448) bits.push_back(Boolean<CS>::Constant(false));
  for (int i = 63; i >= 0; --i) bits.push_back(Boolean<CS>::Constant((length >> i) & 1));

  Sha256State<CS> state = Sha256InitialState<CS>();
  for (size_t at = 0; at < bits.size(); at += 512)
    state = Sha256Compress<CS>(cs, std::span<const Boolean<CS>>(bits).subspan(at, 512), state);
  std::vector<Boolean<CS>> digest;
  digest.reserve(256);
  for (const Word32<CS>& w : state) digest.insert(digest.end(), w.rbegin(), w.rend());
  return digest;
}

// Appends little-endian bits of a number, filled up to whole bytes with 0, with the most significant bit of each byte first.
template <class CS>
void AppendBytewise(std::vector<Boolean<CS>>& out, std::span<const Boolean<CS>> bits) {
  for (size_t byte = 0; byte * 8 < bits.size(); ++byte)
    for (size_t i = 8; i-- > 0;) {
      const size_t at = byte * 8 + i;
      out.push_back(at < bits.size() ? bits[at] : Boolean<CS>::Constant(false));
    }
}

// The number that the first 254 bits of a digest make, little-endian.
template <class CS>
Num<CS> PackDigest(CS& cs, std::span<const Boolean<CS>> digest) {
  std::vector<Boolean<CS>> bits;
  bits.reserve(digest.size());
  AppendBytewise<CS>(bits, digest);
  return PackBits<CS>(cs, bits);
}

// A node of a binary tree: SHA-256 of both children's 32 bytes, the two top bits cleared.
template <class CS>
Num<CS> Sha256Node(CS& cs, const Num<CS>& left, const Num<CS>& right) {
  const std::vector<Boolean<CS>> l = ToBits(cs, left), r = ToBits(cs, right);
  std::vector<Boolean<CS>> preimage;
  preimage.reserve(512 + 512);
  AppendBytewise<CS>(preimage, l);
  AppendBytewise<CS>(preimage, r);
  const std::vector<Boolean<CS>> digest = Sha256(cs, std::move(preimage));
  return PackDigest<CS>(cs, digest);
}

}  // namespace proofline::filecoin
