#include "core/circuits/filecoin/poseidon.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include "core/circuits/filecoin/poseidon_gadget.h"

namespace proofline::filecoin {
namespace {

int PartialRounds(int arity) {
  switch (arity) {
    case 2: return 55;
    case 4: return 56;
    case 8:
    case 11: return 57;
    case 16:
    case 24: return 59;
    case 36: return 60;
    default: std::abort();
  }
}

// The generator of the Poseidon paper's appendix: a self-shrinking 80-bit LFSR seeded with the instance's parameters.
class ConstantGenerator {
 public:
  ConstantGenerator(uint32_t width, uint32_t partial_rounds) {
    Push(1, 2);  // a prime field
    Push(1, 4);  // S-box x^alpha
    Push(kFrBits, 12);
    Push(width, 12);
    Push(kPoseidonFullRounds, 10);
    Push(partial_rounds, 10);
    Push((1u << 30) - 1, 30);
    for (int i = 0; i < 160; ++i) Step();
  }

  Fr Next() {
    for (;;) {
      uint64_t limbs[4] = {};
      for (int i = kFrBits - 1; i >= 0; --i) limbs[i / 64] |= uint64_t{Bit()} << (i % 64);
      if (Fr::IsReduced(limbs)) return Fr::LoadCanon(limbs);
    }
  }

 private:
  void Push(uint32_t value, int bits) {
    for (int i = bits - 1; i >= 0; --i) state_[filled_++] = (value >> i) & 1;
  }
  bool Step() {
    auto at = [&](int i) { return state_[(head_ + i) % 80]; };
    const bool bit = at(62) ^ at(51) ^ at(38) ^ at(23) ^ at(13) ^ at(0);
    state_[head_] = bit;
    head_ = (head_ + 1) % 80;
    return bit;
  }
  bool Bit() {
    while (!Step()) Step();
    return Step();
  }

  bool state_[80] = {};
  int filled_ = 0, head_ = 0;
};

using Vector = std::vector<Fr>;

PoseidonMatrix Identity(size_t n) {
  PoseidonMatrix m(n, Vector(n, Fr::Zero()));
  for (size_t i = 0; i < n; ++i) m[i][i] = Fr::One();
  return m;
}

PoseidonMatrix Product(const PoseidonMatrix& a, const PoseidonMatrix& b) {
  PoseidonMatrix m(a.size(), Vector(b[0].size(), Fr::Zero()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t k = 0; k < b.size(); ++k)
      for (size_t j = 0; j < b[0].size(); ++j) m[i][j] += a[i][k] * b[k][j];
  return m;
}

// m * v; m is applied to a column.
Vector Apply(const PoseidonMatrix& m, std::span<const Fr> v) {
  Vector out(m.size(), Fr::Zero());
  for (size_t i = 0; i < m.size(); ++i)
    for (size_t j = 0; j < v.size(); ++j) out[i] += m[i][j] * v[j];
  return out;
}

// Gauss-Jordan. Every matrix here is invertible: it is MDS or comes from one.
PoseidonMatrix Inverse(PoseidonMatrix m) {
  const size_t n = m.size();
  PoseidonMatrix inverse = Identity(n);
  for (size_t col = 0; col < n; ++col) {
    size_t pivot = col;
    while (m[pivot][col].IsZero()) ++pivot;
    std::swap(m[pivot], m[col]);
    std::swap(inverse[pivot], inverse[col]);
    const Fr scale = m[col][col].Inverse();
    for (size_t j = 0; j < n; ++j) {
      m[col][j] *= scale;
      inverse[col][j] *= scale;
    }
    for (size_t i = 0; i < n; ++i) {
      const Fr factor = m[i][col];
      if (i == col || factor.IsZero()) continue;
      for (size_t j = 0; j < n; ++j) {
        m[i][j] -= factor * m[col][j];
        inverse[i][j] -= factor * inverse[col][j];
      }
    }
  }
  return inverse;
}

PoseidonMatrix Mds(int width) {
  PoseidonMatrix m(width, Vector(width));
  for (int i = 0; i < width; ++i)
    for (int j = 0; j < width; ++j) m[i][j] = Fr::FromU64(i + j + width).Inverse();
  return m;
}

void CompressKeys(PoseidonConstants& c) {
  const int width = c.width(), half = kPoseidonFullRounds / 2;
  const PoseidonMatrix inverse = Inverse(c.mds);
  auto key = [&](int round) { return std::span<const Fr>(c.round_keys).subspan(size_t(round) * width, width); };
  auto append = [&](const Vector& v) { c.keys.insert(c.keys.end(), v.begin(), v.end()); };
  c.keys.assign(key(0).begin(), key(0).end());
  for (int i = 1; i < half; ++i) append(Apply(inverse, key(i)));

  // From the last partial round back: what a key adds to elements 1.. of the state passes through the S-box of element 0 untouched, so it
  // can be added a round earlier.
  const int last = half + c.partial_rounds;
  Vector carried(key(last).begin(), key(last).end()), partial;
  for (int i = 0; i < c.partial_rounds; ++i) {
    Vector v = Apply(inverse, carried);
    partial.push_back(v[0]);
    v[0] = Fr::Zero();
    carried.assign(key(last - 1 - i).begin(), key(last - 1 - i).end());
    for (int j = 0; j < width; ++j) carried[j] += v[j];
  }
  append(Apply(inverse, carried));
  c.keys.insert(c.keys.end(), partial.rbegin(), partial.rend());
  for (int i = 1; i < half; ++i) append(Apply(inverse, key(last + i)));
}

// cur = M' * M'' with M' = 1 in the corner and the rest of cur, and M'' sparse; then cur = M * M', once for each partial round.
void FactorMatrix(PoseidonConstants& c) {
  const size_t width = c.width();
  PoseidonMatrix cur = c.mds;
  for (int round = 0; round < c.partial_rounds; ++round) {
    PoseidonMatrix rest(width - 1, Vector(width - 1));
    Vector below(width - 1);
    PoseidonMatrix dense = Identity(width);
    for (size_t i = 1; i < width; ++i) {
      below[i - 1] = cur[i][0];
      for (size_t j = 1; j < width; ++j) dense[i][j] = rest[i - 1][j - 1] = cur[i][j];
    }
    PoseidonSparse sparse;
    sparse.column = Apply(Inverse(rest), below);
    sparse.column.insert(sparse.column.begin(), cur[0][0]);
    sparse.row.assign(cur[0].begin() + 1, cur[0].end());
    c.sparse.push_back(std::move(sparse));
    cur = Product(c.mds, dense);
  }
  std::reverse(c.sparse.begin(), c.sparse.end());
  c.pre_sparse = cur;
}

PoseidonConstants Make(int arity) {
  PoseidonConstants c;
  c.arity = arity;
  c.partial_rounds = PartialRounds(arity);
  ConstantGenerator generator(c.width(), c.partial_rounds);
  for (int i = 0; i < c.width() * (kPoseidonFullRounds + c.partial_rounds); ++i) c.round_keys.push_back(generator.Next());
  c.mds = Mds(c.width());
  CompressKeys(c);
  FactorMatrix(c);
  return c;
}

}  // namespace

const PoseidonConstants& GetPoseidonConstants(int arity) {
  static std::mutex mutex;
  static std::map<int, PoseidonConstants> made;
  std::lock_guard<std::mutex> lock(mutex);
  auto it = made.find(arity);
  if (it == made.end()) it = made.emplace(arity, Make(arity)).first;
  return it->second;
}

Fr PoseidonMerkleTag(int arity) { return PowerOfTwo(arity) - Fr::One(); }
Fr PoseidonRandomnessTag() { return PowerOfTwo(40); }

Fr PoseidonHash(std::span<const Fr> inputs, const Fr& tag) {
  ValueSystem cs;
  std::vector<Num<ValueSystem>> numbers;
  numbers.reserve(inputs.size());
  for (const Fr& x : inputs) numbers.push_back({{}, x});
  return Poseidon<ValueSystem>(cs, numbers, tag).value;
}

}  // namespace proofline::filecoin
