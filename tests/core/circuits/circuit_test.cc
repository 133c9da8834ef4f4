#include "core/circuits/circuit.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <set>

#include "core/base/rng.h"
#include "core/field/fp.h"

namespace proofline {
namespace {

constexpr CurveId kCurves[] = {CurveId::kBn254, CurveId::kBls12381};

bool IsSmall(const FrCanonical& v, uint64_t bound) {
  for (size_t i = 8; i < v.size(); ++i)
    if (v[i]) return false;
  return LoadLe<uint64_t>(v.data()) < bound;
}

TEST(Sha256Circuit, DigestIsOpenSsl) {
  for (CurveId curve : kCurves)
    for (uint32_t bytes : {0u, 1u, 55u, 56u, 64u, 119u, 120u}) {
      Sha256Options options{.message_bytes = bytes, .rounds = 64, .seed = "digest"};
      auto circuit = MakeSha256Circuit(curve, options);
      ASSERT_TRUE(circuit.ok());
      std::vector<uint8_t> message = *Sha256Message(options);
      uint8_t digest[32];
      EVP_Digest(message.data(), message.size(), digest, nullptr, EVP_sha256(), nullptr);
      for (int i = 0; i < 8; ++i) {
        uint32_t word = uint32_t{digest[4 * i]} << 24 | digest[4 * i + 1] << 16 | digest[4 * i + 2] << 8 | digest[4 * i + 3];
        EXPECT_TRUE(IsSmall(circuit->values[1 + i], uint64_t{1} << 32));
        EXPECT_EQ(LoadLe<uint32_t>(circuit->values[1 + i].data()), word) << bytes << " bytes, word " << i;
      }
      EXPECT_EQ(FirstUnsatisfied(circuit->view(), circuit->witness()), std::nullopt);
      EXPECT_LE(circuit->n_constraints(), Sha256ConstraintsAtMost(options));
      EXPECT_GT(circuit->n_constraints() * 110, Sha256ConstraintsAtMost(options) * 100);
    }
}

TEST(Sha256Circuit, EveryWireIsPinnedDown) {
  // Any single wire changed must break a constraint: nothing the circuit computes is left to the prover's choice.
  auto circuit = MakeSha256Circuit(CurveId::kBn254, {.message_bytes = 3, .rounds = 2, .seed = "pinned"});
  ASSERT_TRUE(circuit.ok());
  for (size_t wire = 1; wire < circuit->values.size(); ++wire) {
    circuit->values[wire][0] ^= 1;
    EXPECT_NE(FirstUnsatisfied(circuit->view(), circuit->witness()), std::nullopt) << "wire " << wire;
    circuit->values[wire][0] ^= 1;
  }
}

// snarkjs reads a sum as a map from wire to coefficient, so it would lose all terms of a wire but the last.
TEST(Sha256Circuit, AWireStandsInASumOnce) {
  auto circuit = MakeSha256Circuit(CurveId::kBn254, {.message_bytes = 64, .rounds = 20});
  ASSERT_TRUE(circuit.ok());
  const R1csView view = circuit->view();
  for (uint32_t i = 0; i < view.n_constraints; ++i) {
    const R1csConstraint constraint = view.constraint(i);
    for (const LinearCombination* sum : {&constraint.a, &constraint.b, &constraint.c}) {
      std::set<uint32_t> wires;
      for (uint32_t j = 0; j < sum->count; ++j) ASSERT_TRUE(wires.insert(sum->wire(j)).second) << "constraint " << i << ", wire " << sum->wire(j);
    }
  }
}

TEST(ChainCircuit, EveryWireIsPinnedDown) {
  for (CurveId curve : kCurves) {
    ChainOptions options{.steps = 2, .rounds = 3, .seed = "pinned"};
    auto circuit = MakeChainCircuit(curve, options);
    ASSERT_TRUE(circuit.ok());
    EXPECT_EQ(circuit->n_constraints(), ChainConstraints(options));
    EXPECT_EQ(circuit->n_public(), 2u);
    EXPECT_EQ(FirstUnsatisfied(circuit->view(), circuit->witness()), std::nullopt);
    for (size_t wire = 1; wire < circuit->values.size(); ++wire) {
      circuit->values[wire][0] ^= 1;
      EXPECT_NE(FirstUnsatisfied(circuit->view(), circuit->witness()), std::nullopt) << "wire " << wire;
      circuit->values[wire][0] ^= 1;
    }
  }
}

// The chain computed step by step from the documented rule with plain field arithmetic.
TEST(ChainCircuit, OutputFollowsTheDocumentedRule) {
  using Fr = Fp<Bls12381FrModulus>;
  auto draw = [](SeededStream& s) {
    std::array<uint8_t, 32> bytes;
    do {
      EXPECT_TRUE(s.Fill(bytes).ok());
      bytes[31] &= 0x7f;
    } while (!Fr::IsReduced(bytes.data()));
    return Fr::LoadCanon(bytes.data());
  };
  auto constants = SeededStream::Create("proofline chain", "round constants");
  Fr c[4];
  for (Fr& x : c) x = draw(*constants);
  auto inputs = SeededStream::Create("rule", "chain inputs");
  Fr state = draw(*inputs);
  for (int step = 0; step < 3; ++step) {
    uint64_t message;
    ASSERT_TRUE(inputs->Fill(MutableByteSpan(reinterpret_cast<uint8_t*>(&message), 8)).ok());
    state += Fr::FromU64(message);
    for (const Fr& k : c) {
      Fr x = state + k;
      state = x * x * x * x * x;
    }
  }
  auto circuit = MakeChainCircuit(CurveId::kBls12381, {.steps = 3, .rounds = 4, .seed = "rule"});
  ASSERT_TRUE(circuit.ok());
  EXPECT_TRUE(Fr::LoadCanon(circuit->values[1].data()) == state);
}

TEST(SizedCircuit, FillsItsDomainAndIsOfItsKind) {
  for (CircuitKind kind : {CircuitKind::kChain, CircuitKind::kBits, CircuitKind::kIdentity})
    for (int log2 : {10, 13, 15, 16}) {
      auto circuit = MakeSizedCircuit(CurveId::kBn254, {.kind = kind, .log2 = log2, .seed = "sized"});
      ASSERT_TRUE(circuit.ok());
      uint64_t rows = circuit->n_constraints() + circuit->n_public() + 1;
      EXPECT_LE(rows, uint64_t{1} << log2);
      EXPECT_GT(rows, uint64_t{1} << (log2 - 1));
      size_t small = 0;
      for (const FrCanonical& v : circuit->values) small += IsSmall(v, 2);
      double share = static_cast<double>(small) / static_cast<double>(circuit->values.size());
      if (kind == CircuitKind::kBits) {
        EXPECT_GT(share, 0.95);
      }
      if (kind == CircuitKind::kIdentity) {
        EXPECT_LT(share, 0.1);
      }
    }
  EXPECT_EQ(MakeSizedCircuit(CurveId::kBn254, {.kind = CircuitKind::kChain, .log2 = 9, .seed = ""}).status().code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(MakeSizedCircuit(CurveId::kBn254, {.kind = CircuitKind::kChain, .log2 = 25, .seed = ""}).status().code(),
            ErrorCode::kInvalidArgument);
}

TEST(SizedCircuit, LargestWitnessSatisfies) {
  for (CircuitKind kind : {CircuitKind::kChain, CircuitKind::kBits, CircuitKind::kIdentity}) {
    auto circuit = MakeSizedCircuit(CurveId::kBls12381, {.kind = kind, .log2 = 16, .seed = "sized"});
    ASSERT_TRUE(circuit.ok());
    EXPECT_EQ(FirstUnsatisfied(circuit->view(), circuit->witness()), std::nullopt);
  }
}

}  // namespace
}  // namespace proofline
