// Whole proofs of small circuits: set-up, rows, proof, verification, on both curves and both paths of arithmetic.
#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include "core/groth16/backend.h"
#include "core/groth16/convert.h"
#include "core/groth16/prepare.h"
#include "tests/core/groth16/key_in_memory.h"
#include "tests/core/groth16/odd_circuits.h"
#include "tests/core/groth16/twin.h"

namespace proofline {
namespace {

template <class Curve>
class ProofTest : public ::testing::Test {
 protected:
  static constexpr bool kAdx = std::is_same_v<typename Curve::Arith, AdxArith>;

  void SetUp() override {
    if (kAdx && !CpuHasAdx()) GTEST_SKIP() << "this processor has no ADX";
    backend_ = &GetBackend(Curve::kId, kAdx ? ArithPath::kAdx : ArithPath::kPortable);
  }

  static std::vector<NamedCircuit> Circuits() {
    auto all = OddCircuits<typename Curve::Fr::Modulus>(Curve::kId);
    all.push_back({"a hash chain", *MakeChainCircuit(Curve::kId, {.steps = 1, .rounds = 4, .seed = "proof test"})});
    return all;
  }

  static std::vector<FrCanonical> Publics(const Circuit& circuit) {
    return {circuit.values.begin() + 1, circuit.values.begin() + 1 + circuit.n_public()};
  }

  Result<Proof> Prove(const Circuit& circuit, const ProvingKeyView& key, const Blinding& blinding) const {
    std::vector<uint8_t> a(key.domain() * kFrBytes), b(a.size());
    PL_RETURN_IF_ERROR(backend_->CheckWitness(circuit.witness()));
    PL_RETURN_IF_ERROR(backend_->ComputeRows(key, circuit.witness(), a, b));
    return backend_->Prove(key, circuit.witness(), a, b, blinding, {});
  }

  const Backend* backend_ = nullptr;
};

using Curves = ::testing::Types<Bn254<PortableArith>, Bn254<AdxArith>, Bls12381<PortableArith>, Bls12381<AdxArith>>;
TYPED_TEST_SUITE(ProofTest, Curves);

TYPED_TEST(ProofTest, VerifyAndAreTheTwinsPoints) {
  using Curve = TypeParam;
  using Fr = typename Curve::Fr;
  for (const NamedCircuit& named : this->Circuits()) {
    SCOPED_TRACE(named.name);
    const Circuit& circuit = named.circuit;
    R1csView r1cs = circuit.view();
    ASSERT_EQ(FirstUnsatisfied(r1cs, circuit.witness()), std::nullopt);
    KeyInMemory key;
    ASSERT_TRUE(GenerateKey(r1cs, "test", key).ok());
    ASSERT_TRUE(key.CheckFull().ok());
    const ProvingKeyView view = key.view();
    ASSERT_TRUE(this->backend_->CheckPoints(view, Backend::PointCheck::kSubgroup).ok());
    auto vk = this->backend_->ExtractVerificationKey(view);
    ASSERT_TRUE(vk.ok());

    auto blinding = this->backend_->RandomBlinding();
    ASSERT_TRUE(blinding.ok());
    auto proof = this->Prove(circuit, view, *blinding);
    ASSERT_TRUE(proof.ok()) << proof.status().ToString();
    Status verdict = this->backend_->Verify(*vk, this->Publics(circuit), *proof);
    EXPECT_TRUE(verdict.ok()) << verdict.ToString();
    // Deterministic for given r and s.
    EXPECT_TRUE(*this->Prove(circuit, view, *blinding) == *proof);

    auto secret = DeriveSetupSecret<Fr>("test", view.log2_domain);
    ASSERT_TRUE(secret.ok());
    TwinProver<Fr> twin(r1cs, view.log2_domain, *secret);
    ProofLogs<Fr> logs =
        twin.Prove(circuit.witness(), Fr::LoadCanon(blinding->r.data()), Fr::LoadCanon(blinding->s.data()));
    EXPECT_TRUE(proof->a == ToPlain(ScalarMulFr(Curve::Generator1(), logs.a).ToAffine()));
    EXPECT_TRUE(proof->b == ToPlain(ScalarMulFr(Curve::Generator2(), logs.b).ToAffine()));
    EXPECT_TRUE(proof->c == ToPlain(ScalarMulFr(Curve::Generator1(), logs.c).ToAffine()));
  }
}

TYPED_TEST(ProofTest, FixedZeroBlindingIsTheTwinsToo) {
  using Curve = TypeParam;
  using Fr = typename Curve::Fr;
  auto circuit = MakeChainCircuit(Curve::kId, {.steps = 2, .rounds = 2, .seed = "zero"});
  R1csView r1cs = circuit->view();
  KeyInMemory key;
  ASSERT_TRUE(GenerateKey(r1cs, "zero", key).ok());
  auto proof = this->Prove(*circuit, key.view(), Blinding{});
  ASSERT_TRUE(proof.ok());
  auto secret = DeriveSetupSecret<Fr>("zero", key.shape().log2_domain);
  ProofLogs<Fr> logs = TwinProver<Fr>(r1cs, key.shape().log2_domain, *secret).Prove(circuit->witness(), Fr::Zero(), Fr::Zero());
  EXPECT_TRUE(proof->a == ToPlain(ScalarMulFr(Curve::Generator1(), logs.a).ToAffine()));
  EXPECT_TRUE(proof->b == ToPlain(ScalarMulFr(Curve::Generator2(), logs.b).ToAffine()));
  EXPECT_TRUE(proof->c == ToPlain(ScalarMulFr(Curve::Generator1(), logs.c).ToAffine()));
}

// In no term of any row.
bool HasUnconstrainedVariable(const ConstraintSource& source) {
  VariableSet seen(source.shape().n_vars);
  for (uint32_t i = 0; i <= source.shape().n_public; ++i) seen.Add(i);
  source.ForEachRow([&](const ConstraintRow& row) {
    for (auto terms : {row.a, row.b, row.c})
      for (const ConstraintTerm& t : terms) seen.Add(t.variable);
  });
  return seen.Count() != source.shape().n_vars;
}

// The same prover with bellperson's basis for H and queries that leave variables out: gamma does not enter a proof, so the twin is the same.
TYPED_TEST(ProofTest, KeysOfBellpersonsFormGiveTheTwinsPointsToo) {
  using Curve = TypeParam;
  using Fr = typename Curve::Fr;
  ToxicWaste waste = ToxicWasteOf("bellperson's form");
  // Its values are below the larger group order only.
  for (FrCanonical* value : {&waste.alpha, &waste.beta, &waste.gamma, &waste.delta, &waste.tau}) value->back() &= 0x1f;
  const SetupSecret<Fr> secret{Fr::LoadCanon(waste.tau.data()), Fr::LoadCanon(waste.alpha.data()), Fr::LoadCanon(waste.beta.data()),
                               Fr::LoadCanon(waste.delta.data())};
  int proved = 0;
  for (const NamedCircuit& named : this->Circuits()) {
    SCOPED_TRACE(named.name);
    const Circuit& circuit = named.circuit;
    const R1csView r1cs = circuit.view();
    const R1csSource source(r1cs);
    KeyInMemory key;
    Status made = GenerateParams(source, waste, key);
    if (HasUnconstrainedVariable(source)) {
      EXPECT_EQ(made.code(), ErrorCode::kInvalidArgument);
      continue;
    }
    ASSERT_TRUE(made.ok()) << made.ToString();
    ASSERT_TRUE(key.CheckFull().ok());
    const QueryDensity density = DensityOf(source);
    ProvingKeyView view = key.view();
    ASSERT_EQ(view.a.size(), density.a.Count() * Curve::G1::kBytes);
    ASSERT_EQ(view.b1.size(), density.b.Count() * Curve::G1::kBytes);
    ASSERT_EQ(view.b2.size(), density.b.Count() * Curve::G2::kBytes);
    view.a_density = density.a.bytes();
    view.b_density = density.b.bytes();
    ASSERT_TRUE(this->backend_->CheckPoints(view, Backend::PointCheck::kSubgroup).ok());
    std::vector<uint8_t> a(view.domain() * kFrBytes), b(a.size());
    EXPECT_EQ(this->backend_->ComputeRows(view, circuit.witness(), a, b).code(), ErrorCode::kUnsupported);
    ComputeSourceRows(source, circuit.witness(), a, b);
    auto blinding = this->backend_->RandomBlinding();
    ASSERT_TRUE(blinding.ok());
    auto proof = this->backend_->Prove(view, circuit.witness(), a, b, *blinding, {});
    ASSERT_TRUE(proof.ok()) << proof.status().ToString();
    auto vk = this->backend_->ExtractVerificationKey(view);
    ASSERT_TRUE(vk.ok());
    Status verdict = this->backend_->Verify(*vk, this->Publics(circuit), *proof);
    EXPECT_TRUE(verdict.ok()) << verdict.ToString();
    const ProofLogs<Fr> logs = TwinProver<Fr>(r1cs, view.log2_domain, secret, Curve::kId == CurveId::kBn254 ? 5 : 7)
                                   .Prove(circuit.witness(), Fr::LoadCanon(blinding->r.data()), Fr::LoadCanon(blinding->s.data()));
    EXPECT_TRUE(proof->a == ToPlain(ScalarMulFr(Curve::Generator1(), logs.a).ToAffine()));
    EXPECT_TRUE(proof->b == ToPlain(ScalarMulFr(Curve::Generator2(), logs.b).ToAffine()));
    EXPECT_TRUE(proof->c == ToPlain(ScalarMulFr(Curve::Generator1(), logs.c).ToAffine()));
    // Prepared, the same key gives the same proof.
    auto prepared = PreparedKey::Make(view, source);
    ASSERT_TRUE(prepared.ok()) << prepared.status().ToString();
    auto again = this->backend_->Prove(prepared->view(), circuit.witness(), a, b, *blinding, {});
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(*again == *proof);
    ++proved;
  }
  EXPECT_GE(proved, 8);
}

TYPED_TEST(ProofTest, AWrongWitnessGivesAProofThatDoesNotVerify) {
  using Curve = TypeParam;
  auto circuit = MakeChainCircuit(Curve::kId, {.steps = 1, .rounds = 3, .seed = "wrong"});
  KeyInMemory key;
  ASSERT_TRUE(GenerateKey(circuit->view(), "wrong", key).ok());
  auto vk = this->backend_->ExtractVerificationKey(key.view());
  ASSERT_TRUE(vk.ok());
  for (size_t wire : {size_t{1}, size_t{2}, size_t{3}, circuit->values.size() - 1}) {
    Circuit broken = *circuit;
    broken.values[wire][0] ^= 1;
    auto proof = this->Prove(broken, key.view(), *this->backend_->RandomBlinding());
    ASSERT_TRUE(proof.ok());
    EXPECT_EQ(this->backend_->Verify(*vk, this->Publics(broken), *proof).code(), ErrorCode::kInvalidProof) << wire;
    EXPECT_EQ(this->backend_->Verify(*vk, this->Publics(*circuit), *proof).code(), ErrorCode::kInvalidProof) << wire;
  }
}

TYPED_TEST(ProofTest, WitnessIsCheckedFirst) {
  using Curve = TypeParam;
  auto circuit = MakeChainCircuit(Curve::kId, {.steps = 40, .rounds = 3, .seed = "check"});
  ASSERT_TRUE(this->backend_->CheckWitness(circuit->witness()).ok());
  FrCanonical order;
  StoreLe(order.data(), Curve::Fr::Modulus::kValue);
  for (size_t at : {size_t{1}, size_t{1000}, circuit->values.size() - 1}) {
    Circuit bad = *circuit;
    bad.values[at] = order;
    bad.values.back().fill(0xff);
    Status status = this->backend_->CheckWitness(bad.witness());
    EXPECT_EQ(status.code(), ErrorCode::kInvalidFile);
    EXPECT_NE(status.error().fact.find("value " + std::to_string(at) + " of"), std::string::npos) << status.ToString();
    order[0] -= 1;
    bad = *circuit;
    bad.values[at] = order;
    EXPECT_TRUE(this->backend_->CheckWitness(bad.witness()).ok());
    order[0] += 1;
  }
  for (uint8_t first : {0, 2}) {
    Circuit bad = *circuit;
    bad.values[0][0] = first;
    EXPECT_EQ(this->backend_->CheckWitness(bad.witness()).code(), ErrorCode::kInvalidFile);
  }
  EXPECT_EQ(this->backend_->CheckWitness({}).code(), ErrorCode::kInvalidFile);
  EXPECT_EQ(this->backend_->CheckWitness(circuit->witness().first(33)).code(), ErrorCode::kInvalidFile);
}

TYPED_TEST(ProofTest, ShapesAreChecked) {
  using Curve = TypeParam;
  auto circuit = MakeChainCircuit(Curve::kId, {.steps = 1, .rounds = 3, .seed = "shape"});
  KeyInMemory key;
  ASSERT_TRUE(GenerateKey(circuit->view(), "shape", key).ok());
  ProvingKeyView view = key.view();
  std::vector<uint8_t> rows(view.domain() * kFrBytes), short_rows(rows.size() - kFrBytes);
  auto short_witness = circuit->witness().first(circuit->witness().size() - kFrBytes);
  EXPECT_EQ(this->backend_->ComputeRows(view, short_witness, rows, rows).code(), ErrorCode::kMismatch);
  EXPECT_EQ(this->backend_->ComputeRows(view, circuit->witness(), short_rows, rows).code(), ErrorCode::kMismatch);
  EXPECT_EQ(this->backend_->Prove(view, circuit->witness(), rows, short_rows, Blinding{}, {}).status().code(), ErrorCode::kMismatch);
  ProvingKeyView other = view;
  other.curve = Curve::kId == CurveId::kBn254 ? CurveId::kBls12381 : CurveId::kBn254;
  EXPECT_EQ(this->backend_->ComputeRows(other, circuit->witness(), rows, rows).code(), ErrorCode::kMismatch);
  EXPECT_EQ(this->backend_->CheckPoints(other, Backend::PointCheck::kOnCurve).code(), ErrorCode::kMismatch);
  EXPECT_EQ(this->backend_->ExtractVerificationKey(other).status().code(), ErrorCode::kMismatch);
}

TYPED_TEST(ProofTest, BlindingIsUniformBelowTheOrder) {
  using Fr = typename TypeParam::Fr;
  // Which quarter of [0, r) a draw falls into: 4000 draws, 1000 expected in each, standard deviation 27.
  int quarter[4] = {};
  std::array<uint64_t, 4> bounds[3];
  for (uint64_t q = 1; q <= 3; ++q) {
    auto limbs = LimbsDiv(Fr::Modulus::kValue, 4);
    for (auto& limb : bounds[q - 1]) limb = 0;
    for (uint64_t i = 0; i < q; ++i) {
      uint64_t carry = 0;
      for (int j = 0; j < 4; ++j) {
        uint128 sum = (uint128)bounds[q - 1][j] + limbs[j] + carry;
        bounds[q - 1][j] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
      }
    }
  }
  FrCanonical previous{};
  for (int i = 0; i < 2000; ++i) {
    auto blinding = this->backend_->RandomBlinding();
    ASSERT_TRUE(blinding.ok());
    for (const FrCanonical& x : {blinding->r, blinding->s}) {
      ASSERT_TRUE(Fr::IsReduced(x.data()));
      ASSERT_NE(x, previous);
      previous = x;
      auto limbs = LoadLe<std::array<uint64_t, 4>>(x.data());
      int at = 0;
      while (at < 3 && !field_detail::Less(limbs, bounds[at])) ++at;
      ++quarter[at];
    }
  }
  for (int count : quarter) {
    EXPECT_GT(count, 1000 - 200);
    EXPECT_LT(count, 1000 + 200);
  }
}

TEST(Blinding, IsWipedAtTheEndOfItsLife) {
  alignas(Blinding) uint8_t memory[sizeof(Blinding)];
  auto* blinding = new (memory) Blinding{};
  blinding->r.fill(0xaa);
  blinding->s.fill(0x55);
  blinding->~Blinding();
  // Reads the storage, not the object.
  for (size_t i = 0; i < sizeof memory; ++i) {
    volatile uint8_t* byte = memory + i;
    EXPECT_EQ(*byte, 0) << i;
  }
}

}  // namespace
}  // namespace proofline
