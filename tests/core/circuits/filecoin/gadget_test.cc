// Every gadget's rows against the digests of the reference circuits. The titles in gadgets.jsonl say which operands were allocated, in order.
#include <functional>
#include <map>
#include <sstream>

#include "core/circuits/filecoin/merkle_gadget.h"
#include "core/circuits/filecoin/shapes.h"
#include "tests/core/circuits/filecoin/known_answers.h"

namespace proofline::filecoin {
namespace {

using CS = ShapeSystem;
using Bit = Boolean<CS>;
using Number = Num<CS>;
using Build = std::function<void(CS&)>;

std::vector<Bit> Bits(CS& cs, int n) {
  std::vector<Bit> bits;
  for (int i = 0; i < n; ++i) bits.push_back(AllocBit(cs, false));
  return bits;
}
std::vector<Number> Numbers(CS& cs, int n) {
  std::vector<Number> numbers;
  for (int i = 0; i < n; ++i) numbers.push_back(AllocNum(cs, NoScalar()));
  return numbers;
}

// "Is", "Not", "C0", "C1".
Bit Operand(CS& cs, const std::string& kind) {
  if (kind[0] == 'C') return Bit::Constant(kind[1] == '1');
  Bit bit = AllocBit(cs, false);
  return kind == "Not" ? !bit : bit;
}

// Titles like "sha ch Is Not C1"; null for others.
Build BooleanGadget(const std::string& title) {
  std::istringstream words(title);
  std::string family, op, kind;
  words >> family >> op;
  std::vector<std::string> kinds;
  while (words >> kind) kinds.push_back(kind);
  if (family == "Boolean")
    return [=](CS& cs) {
      const Bit a = Operand(cs, kinds[0]), b = Operand(cs, kinds[1]);
      op == "xor" ? Xor(cs, a, b) : And(cs, a, b);
    };
  if (family == "sha")
    return [=](CS& cs) {
      const Bit a = Operand(cs, kinds[0]), b = Operand(cs, kinds[1]), c = Operand(cs, kinds[2]);
      op == "ch" ? Sha256Choose(cs, a, b, c) : Sha256Majority(cs, a, b, c);
    };
  return nullptr;
}

Build SumOf(int operands) {
  return [=](CS& cs) {
    std::vector<Word32<CS>> words;
    for (int i = 0; i < operands; ++i) {
      Word32<CS> w;
      for (Bit& b : w) b = AllocBit(cs, false);
      words.push_back(w);
    }
    PackedEqualities<CS> equalities(cs);
    AddMany<CS>(equalities, words);
    equalities.Flush();
  };
}

Build Inserting(int size) {
  return [=](CS& cs) {
    const Number x = Numbers(cs, 1)[0];
    const std::vector<Bit> bits = Bits(cs, std::countr_zero(static_cast<unsigned>(size)));
    Insert<CS>(cs, x, bits, Numbers(cs, size - 1));
  };
}

Build Hashing(int bits) {
  return [=](CS& cs) { Sha256<CS>(cs, Bits(cs, bits)); };
}

Build PoseidonOf(int arity, Fr tag) {
  return [=](CS& cs) { Poseidon<CS>(cs, Numbers(cs, arity), tag); };
}

// The value is allocated first, the root when it is compared.
Build Inclusion(NodeHash hash, TreeShape tree, bool public_root) {
  return [=](CS& cs) {
    const Number value = Numbers(cs, 1)[0];
    const Number computed = ClimbTree<CS>(cs, hash, tree.levels(), value, nullptr);
    const Number root = Numbers(cs, 1)[0];
    EnforceEqual(cs, computed, root);
    if (public_root) Inputize(cs, root);
  };
}

Build LabelOfLayer1() {
  return [](CS& cs) {
    std::vector<Bit> bits;
    AppendBytewise<CS>(bits, Bits(cs, 255));
    std::vector<std::vector<Bit>> parents;
    for (int i = 0; i < 6; ++i) parents.push_back(Bits(cs, 255));
    const std::vector<Bit> node = Bits(cs, 64);
    for (int i = 31; i >= 0; --i) bits.push_back(Bit::Constant(i == 0));
    bits.insert(bits.end(), node.rbegin(), node.rend());
    bits.resize(512, Bit::Constant(false));
    for (int i = 0; i < 37; ++i) AppendBytewise<CS>(bits, parents[i % 6]);
    const std::vector<Bit> digest = Sha256(cs, bits);
    PackDigest<CS>(cs, digest);
  };
}

std::map<std::string, Build> Gadgets() {
  auto two_bits = [](auto f) { return [f](CS& cs) { const auto b = Bits(cs, 2); f(cs, b[0], b[1]); }; };
  auto two_numbers = [](auto f) { return [f](CS& cs) { const auto n = Numbers(cs, 2); f(cs, n[0], n[1]); }; };
  std::map<std::string, Build> g;
  g["AllocatedBit alloc"] = [](CS& cs) { Bits(cs, 1); };
  g["AllocatedBit alloc_conditionally(b0)"] = [](CS& cs) { AllocBitUnless(cs, Bits(cs, 1)[0], false); };
  g["bit and"] = two_bits([](CS& cs, auto a, auto b) { AndBits(cs, a, b); });
  g["bit and_not"] = two_bits([](CS& cs, auto a, auto b) { AndNotBits(cs, a, b); });
  g["bit nor"] = two_bits([](CS& cs, auto a, auto b) { NorBits(cs, a, b); });
  g["bit xor"] = two_bits([](CS& cs, auto a, auto b) { Xor(cs, a, b); });
  g["num inputize"] = [](CS& cs) { Inputize(cs, Numbers(cs, 1)[0]); };
  g["num mul"] = two_numbers([](CS& cs, auto a, auto b) { Multiply(cs, a, b); });
  g["num square"] = [](CS& cs) { const Number x = Numbers(cs, 1)[0]; Multiply(cs, x, x); };
  g["num to_bits_le"] = [](CS& cs) { ToBits(cs, Numbers(cs, 1)[0]); };
  g["pack_bits 4 incl Not"] = [](CS& cs) {
    std::vector<Bit> bits = Bits(cs, 4);
    bits[1] = !bits[1];
    bits.push_back(Bit::Constant(true));  // the title does not say so, its rows do
    PackBits<CS>(cs, bits);
  };
  g["constraint equal"] = two_numbers([](CS& cs, auto a, auto b) { EnforceEqual(cs, a, b); });
  g["constraint add (encode key=a0 value=a1)"] = two_numbers([](CS& cs, auto a, auto b) { Add(cs, a, b); });
  g["constraint sub (decode key=a0 value=a1)"] = two_numbers([](CS& cs, auto a, auto b) { Subtract(cs, b, a); });
  g["pick"] = [](CS& cs) {
    const Bit bit = Bits(cs, 1)[0];
    const std::vector<Number> n = Numbers(cs, 2);
    Pick(cs, bit, n[0], n[1]);
  };
  g["insert size 2 (aux: element, bits, siblings)"] = Inserting(2);
  g["insert size 4 (aux: element, bits, siblings)"] = Inserting(4);
  g["insert size 8 (aux: element, bits, siblings)"] = Inserting(8);
  g["select size 8 (aux: elements, bits)"] = [](CS& cs) {
    const std::vector<Number> elements = Numbers(cs, 8);
    Select<CS>(cs, elements, Bits(cs, 3));
  };
  for (int n : {3, 5, 6, 9}) g["addmany " + std::to_string(n) + " operands all allocated"] = SumOf(n);
  for (int n : {0, 256, 440, 512}) g["sha256 of " + std::to_string(n) + " allocated bits"] = Hashing(n);
  g["sha256 compression 512 allocated bits from IV"] = [](CS& cs) { Sha256Compress<CS>(cs, Bits(cs, 512), Sha256InitialState<CS>()); };
  for (int n : {2, 4, 8, 11, 16, 24, 36})
    g["poseidon arity " + std::to_string(n) + " (after " + std::to_string(n) + " aux)"] = PoseidonOf(n, PoseidonMerkleTag(n));
  g["poseidon arity 2 gen-randomness tag"] = PoseidonOf(2, PoseidonRandomnessTag());
  g["sha256 hash2_circuit (binary tree node)"] = two_numbers([](CS& cs, auto a, auto b) { Sha256Node(cs, a, b); });
  g["por sha256-2 64 leaves public root"] = Inclusion(NodeHash::kSha256, BinaryTree(64), true);
  g["por poseidon-2 64 leaves public root"] = Inclusion(NodeHash::kPoseidon, BinaryTree(64), true);
  g["por poseidon-4 64 leaves public root"] = Inclusion(NodeHash::kPoseidon, {64, 4, 0, 0}, true);
  g["por poseidon-8 64 leaves public root"] = Inclusion(NodeHash::kPoseidon, {64, 8, 0, 0}, true);
  g["por poseidon-8 64 leaves private root"] = Inclusion(NodeHash::kPoseidon, {64, 8, 0, 0}, false);
  g["por poseidon-8-2 128 leaves public root"] = Inclusion(NodeHash::kPoseidon, {128, 8, 2, 0}, true);
  g["por poseidon-8-8 512 leaves public root"] = Inclusion(NodeHash::kPoseidon, {512, 8, 8, 0}, true);
  g["por poseidon-8-8-2 1024 leaves public root"] = Inclusion(NodeHash::kPoseidon, {1024, 8, 8, 2}, true);
  g["por poseidon-8-8 2^30 leaves private root"] = Inclusion(NodeHash::kPoseidon, {1u << 30, 8, 8, 0}, false);
  g["por poseidon-8-8-2 2^31 leaves private root"] = Inclusion(NodeHash::kPoseidon, {1u << 31, 8, 8, 2}, false);
  g["por sha256-2 2^30 leaves private root"] = Inclusion(NodeHash::kSha256, BinaryTree(1u << 30), false);
  g["create_label layer 1 (aux: 255 replica-id bits, parents 6/14 x 255 bits, 64 node bits)"] = LabelOfLayer1();
  g["update label_r_new (aux r_old,d_new,rho)"] = [](CS& cs) {
    const std::vector<Number> n = Numbers(cs, 3);
    Add(cs, n[0], Multiply(cs, n[1], n[2]));
  };
  return g;
}

TEST(FilecoinGadgets, RowsAreTheReferences) {
  const std::map<std::string, Build> gadgets = Gadgets();
  // In the library that the reference comes from, in none of Filecoin's circuits.
  const std::vector<std::string> unused = {"num to_bits_le_strict", "num conditionally_reverse", "insert size 16 (aux: element, bits, siblings)"};
  int compared = 0;
  for (const Json& line : ReadLines("gadgets.jsonl")) {
    if (!line.contains("name")) continue;
    const std::string title = line["name"];
    if (std::count(unused.begin(), unused.end(), title)) continue;
    SCOPED_TRACE(title);
    Build build = BooleanGadget(title);
    if (auto it = gadgets.find(title); it != gadgets.end()) build = it->second;
    ASSERT_TRUE(build) << "no gadget of this title";
    ExpectShape(line, build);
    ++compared;
  }
  EXPECT_GE(compared, 140);
}

}  // namespace
}  // namespace proofline::filecoin
