#include <algorithm>
#include <array>

#include "core/base/rng.h"
#include "core/circuits/builder.h"
#include "core/circuits/circuit.h"
#include "core/circuits/sha256_constants.h"

namespace proofline {

namespace {

// A wire known to be 0 or 1, or the constant 0 (no wire) or 1 (wire kOneWire).
struct Bit {
  Wire wire = kOneWire;
  bool is_zero = true;
};

// Least significant bit first, with the value it has in this witness.
struct Word {
  std::array<Bit, 32> bits{};
  uint32_t value = 0;
};

Word ConstantWord(uint32_t value) {
  Word w;
  w.value = value;
  for (int i = 0; i < 32; ++i) w.bits[i] = Bit{kOneWire, ((value >> i) & 1) == 0};
  return w;
}

Word RotateRight(const Word& w, int by) {
  Word r;
  r.value = w.value >> by | w.value << (32 - by);
  for (int i = 0; i < 32; ++i) r.bits[i] = w.bits[(i + by) % 32];
  return r;
}

Word ShiftRight(const Word& w, int by) {
  Word r;
  r.value = w.value >> by;
  for (int i = 0; i + by < 32; ++i) r.bits[i] = w.bits[i + by];
  return r;
}

template <class FrModulus>
class Sha256Circuit {
 public:
  using Fr = Fp<FrModulus>;
  using Lc = typename CircuitBuilder<FrModulus>::Lc;

  Sha256Circuit(CircuitBuilder<FrModulus>& builder, uint32_t rounds) : b_(builder), rounds_(rounds) {
    for (int i = 0; i < 8; ++i) state_[i] = ConstantWord(kSha256Initial[i]);
  }

  void Compress(const std::array<Word, 16>& block) {
    std::vector<Word> w(block.begin(), block.end());
    std::array<Word, 8> s = state_;
    for (uint32_t t = 0; t < rounds_; ++t) {
      if (t >= 16) w.push_back(AddWords({&w[t - 16], &w[t - 7]}, {Sigma(w[t - 15], 7, 18, 3), Sigma(w[t - 2], 17, 19, 10)}, 0));
      Word s1 = Xor(Xor(RotateRight(s[4], 6), RotateRight(s[4], 11)), RotateRight(s[4], 25));
      Word choice = Choose(s[4], s[5], s[6]);
      Word s0 = Xor(Xor(RotateRight(s[0], 2), RotateRight(s[0], 13)), RotateRight(s[0], 22));
      Word majority = Majority(s[0], s[1], s[2]);
      Word e = AddWords({&s[3], &s[7], &w[t]}, {s1, choice}, kSha256Round[t]);
      Word a = AddWords({&s[7], &w[t]}, {s1, choice, s0, majority}, kSha256Round[t]);
      s = {a, s[0], s[1], s[2], e, s[4], s[5], s[6]};
    }
    for (int i = 0; i < 8; ++i) state_[i] = AddWords({&state_[i], &s[i]}, {}, 0);
  }

  Lc DigestWord(int i) const { return Pack(state_[i]); }

 private:
  Lc Of(const Bit& bit) const { return bit.is_zero ? Lc() : b_.Linear(bit.wire); }
  void Accumulate(Lc& sum, const Fr& k, const Bit& bit) const {
    if (!bit.is_zero) b_.Accumulate(sum, k, bit.wire);
  }
  Bit NewBit(bool value) { return Bit{b_.AddIntermediate(value ? Fr::One() : Fr::Zero()), false}; }
  Lc Pack(const Word& w) const {
    Lc sum;
    AddWeighted(sum, w);
    return sum;
  }
  void AddWeighted(Lc& sum, const Word& w) const {
    Fr weight = Fr::One();
    for (int i = 0; i < 32; ++i, weight = weight.Double()) Accumulate(sum, weight, w.bits[i]);
  }

  // 2a * b = a + b - out, and nothing where one side is the constant 0.
  Word Xor(const Word& x, const Word& y) {
    Word out;
    out.value = x.value ^ y.value;
    for (int i = 0; i < 32; ++i) {
      if (x.bits[i].is_zero || y.bits[i].is_zero) {
        out.bits[i] = x.bits[i].is_zero ? y.bits[i] : x.bits[i];
        continue;
      }
      out.bits[i] = NewBit((out.value >> i) & 1);
      Lc twice, sum = Of(x.bits[i]);
      Accumulate(twice, Fr::FromU64(2), x.bits[i]);
      Accumulate(sum, Fr::One(), y.bits[i]);
      Accumulate(sum, -Fr::One(), out.bits[i]);
      b_.Constrain(twice, Of(y.bits[i]), sum);
    }
    return out;
  }

  // The shift leaves the top `shift` bits with one XOR instead of two.
  Word Sigma(const Word& w, int rotate0, int rotate1, int shift) {
    return Xor(Xor(RotateRight(w, rotate0), RotateRight(w, rotate1)), ShiftRight(w, shift));
  }

  // e * (f - g) = out - g.
  Word Choose(const Word& e, const Word& f, const Word& g) {
    Word out;
    out.value = (e.value & f.value) ^ (~e.value & g.value);
    for (int i = 0; i < 32; ++i) {
      out.bits[i] = NewBit((out.value >> i) & 1);
      Lc difference = Of(f.bits[i]), right = Of(out.bits[i]);
      Accumulate(difference, -Fr::One(), g.bits[i]);
      Accumulate(right, -Fr::One(), g.bits[i]);
      b_.Constrain(Of(e.bits[i]), difference, right);
    }
    return out;
  }

  // both = a * b, then c * (a + b - 2 both) = out - both.
  Word Majority(const Word& a, const Word& b, const Word& c) {
    Word out;
    out.value = (a.value & b.value) ^ (a.value & c.value) ^ (b.value & c.value);
    for (int i = 0; i < 32; ++i) {
      Bit both{b_.Multiply(Of(a.bits[i]), Of(b.bits[i])), false};
      out.bits[i] = NewBit((out.value >> i) & 1);
      Lc differ = Of(a.bits[i]), right = Of(out.bits[i]);
      Accumulate(differ, Fr::One(), b.bits[i]);
      Accumulate(differ, -Fr::FromU64(2), both);
      Accumulate(right, -Fr::One(), both);
      b_.Constrain(Of(c.bits[i]), differ, right);
    }
    return out;
  }

  // The sum of all words and the constant mod 2^32; three bits hold the carry of up to eight words, one bit that of two.
  Word AddWords(std::initializer_list<const Word*> words, const std::vector<Word>& more, uint32_t constant) {
    Lc sum;
    uint64_t value = constant;
    Accumulate(sum, Fr::FromU64(constant), Bit{kOneWire, constant == 0});
    auto add = [&](const Word& w) {
      AddWeighted(sum, w);
      value += w.value;
    };
    for (const Word* w : words) add(*w);
    for (const Word& w : more) add(w);
    int carry_bits = std::bit_width(words.size() + more.size() + (constant != 0) - 1);
    std::vector<Wire> bits = b_.Decompose(std::move(sum), value, 32 + carry_bits);
    Word out;
    out.value = static_cast<uint32_t>(value);
    for (int i = 0; i < 32; ++i) out.bits[i] = Bit{bits[i], false};
    return out;
  }

  CircuitBuilder<FrModulus>& b_;
  uint32_t rounds_;
  std::array<Word, 8> state_;
};

uint64_t BlockCount(uint32_t message_bytes) { return (uint64_t{message_bytes} + 9 + 63) / 64; }

// Message bits as wires, then the padding of FIPS 180-4 section 5.1.1 as constants.
template <class FrModulus>
std::vector<Word> PaddedWords(CircuitBuilder<FrModulus>& b, const std::vector<Wire>& message, const std::vector<uint8_t>& bytes) {
  std::vector<Word> words(BlockCount(static_cast<uint32_t>(bytes.size())) * 16);
  auto set = [&](size_t byte, int bit, Bit value, bool one) {
    Word& w = words[byte / 4];
    int at = 8 * (3 - static_cast<int>(byte % 4)) + bit;
    w.bits[at] = value;
    if (one) w.value |= uint32_t{1} << at;
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<Wire> bits = b.Decompose(b.Linear(message[i]), bytes[i], 8);
    for (int j = 0; j < 8; ++j) set(i, j, Bit{bits[j], false}, (bytes[i] >> j) & 1);
  }
  set(bytes.size(), 7, Bit{kOneWire, false}, true);
  uint64_t bit_length = uint64_t{bytes.size()} * 8;
  for (int j = 0; j < 64; ++j)
    if ((bit_length >> j) & 1) set(words.size() * 4 - 1 - j / 8, j % 8, Bit{kOneWire, false}, true);
  return words;
}

template <class FrModulus>
Result<Circuit> Make(CurveId curve, const Sha256Options& options) {
  PL_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, Sha256Message(options));
  CircuitBuilder<FrModulus> b(curve);
  std::vector<Wire> outputs, message;
  for (int i = 0; i < 8; ++i) outputs.push_back(b.AddOutput());
  for (uint8_t byte : bytes) message.push_back(b.AddPrivateInput(Fp<FrModulus>::FromU64(byte)));

  std::vector<Word> words = PaddedWords<FrModulus>(b, message, bytes);
  Sha256Circuit<FrModulus> hash(b, options.rounds);
  for (size_t at = 0; at < words.size(); at += 16) {
    std::array<Word, 16> block;
    std::copy_n(words.begin() + at, 16, block.begin());
    hash.Compress(block);
  }
  for (int i = 0; i < 8; ++i) b.AssertOutput(outputs[i], hash.DigestWord(i));
  return std::move(b).Finish();
}

}  // namespace

uint64_t Sha256ConstraintsAtMost(const Sha256Options& options) {
  constexpr uint64_t kRoundConstraints = 2 * 64 + 32 + 64 + 2 * 36;   // two Sigmas, choice, majority, two sums
  constexpr uint64_t kScheduleConstraints = 61 + 54 + 35;             // two sigmas, one sum
  constexpr uint64_t kFinal = 8 * 34;
  uint64_t rounds = options.rounds;
  uint64_t block = rounds * kRoundConstraints + (rounds > 16 ? (rounds - 16) * kScheduleConstraints : 0) + kFinal;
  return BlockCount(options.message_bytes) * block + uint64_t{options.message_bytes} * 9 + 8;
}

Result<std::vector<uint8_t>> Sha256Message(const Sha256Options& options) {
  PL_ASSIGN_OR_RETURN(SeededStream stream, SeededStream::Create(options.seed, "sha256 message"));
  std::vector<uint8_t> bytes(options.message_bytes);
  PL_RETURN_IF_ERROR(stream.Fill(bytes));
  return bytes;
}

Result<Circuit> MakeSha256Circuit(CurveId curve, const Sha256Options& options) {
  if (options.rounds < 1 || options.rounds > 64)
    return Status(ErrorCode::kInvalidArgument, "SHA-256 has 64 rounds, asked for " + std::to_string(options.rounds), "",
                  "give 1 to 64");
  return curve == CurveId::kBn254 ? Make<Bn254FrModulus>(curve, options) : Make<Bls12381FrModulus>(curve, options);
}

}  // namespace proofline
