// Keys and proofs of Filecoin's circuits against those that the reference made from the same secrets: whole parameter files by digest, proofs
// byte for byte.
#include "core/circuits/filecoin/poseidon_gadget.h"
#include "core/formats/filecoin_c1.h"
#include "tests/core/circuits/filecoin/key_fixture.h"

namespace proofline::filecoin {
namespace {

// Values in the order of a witness.
struct ValueList {
  using Var = NoVariable;
  using Scalar = Fr;
  using Sum = NoSum;
  [[maybe_unused]] static constexpr bool kHasShape = false, kHasValues = true, kWordwiseSha256 = false;
  static constexpr NoVariable kOne{};
  template <class F>
  static Fr Value(const F& f) {
    return f();
  }
  NoVariable AllocAux(const Fr& value) {
    aux.push_back(CanonicalOf(value));
    return {};
  }
  NoVariable AllocBit(bool value) { return AllocAux(value ? Fr::One() : Fr::Zero()); }
  NoVariable AllocInput(const Fr& value) {
    inputs.push_back(CanonicalOf(value));
    return {};
  }
  template <class A, class B, class C>
  void Enforce(const A&, const B&, const C&) {}
  std::vector<FrCanonical> Witness() const {
    std::vector<FrCanonical> out = inputs;
    out.insert(out.end(), aux.begin(), aux.end());
    return out;
  }

  std::vector<FrCanonical> inputs = {CanonicalOf(Fr::One())}, aux;
};

TEST_F(KeyTest, SillyMul) {
  MakeKey("silly-mul", "silly-mul");
  ValueList values;
  values.AllocAux(Fr::FromU64(3)), values.AllocAux(Fr::FromU64(5)), values.AllocInput(Fr::FromU64(15));
  Prove(values.Witness());
}

TEST_F(KeyTest, Poseidon8Preimage) {
  MakeKey("poseidon8-preimage", "poseidon8-preimage");
  ValueList values;
  std::vector<Num<ValueList>> eight;
  for (uint64_t i = 1; i <= 8; ++i) eight.push_back(AllocNum(values, Fr::FromU64(i)));
  Inputize(values, Poseidon<ValueList>(values, eight));
  Prove(values.Witness());
  ProvePrepared(values.Witness());
}

// A sector that was really sealed.
TEST_F(KeyTest, Window2KiB) {
  MakeKey("window-2KiB", "window-2KiB.fil2k-v1_1-a");
  auto sector = ReadFilecoinPoStProof(ReadVector("fil2k-v1_1-a.window.vproof"), "vproof");
  ASSERT_TRUE(sector.ok()) << sector.status().ToString();
  Prove(DenseOf(MakeWindowWitness(SectorShapeOf(2048)->window, std::span(&*sector, 1))));
}

TEST(CircuitSource, NamesAndRefusals) {
  for (const char* name : {"", "porep", "porep-", "porep-3KiB", "seal-2KiB", "silly", "window-2KiBx", "update-1GiB"})
    EXPECT_FALSE(MakeCircuitSource(name).ok()) << name;
  auto winning = MakeCircuitSource("winning-2KiB");
  ASSERT_TRUE(winning.ok());
  EXPECT_EQ((*winning)->shape().n_public, 132u);
  EXPECT_EQ((*winning)->shape().n_vars, 133u + 91674u);
  EXPECT_EQ((*winning)->shape().n_constraints, 90750u);
  const QueryDensity density = DensityOf(**winning);
  EXPECT_EQ(density.a.Count(), 133u + 69300u);
  EXPECT_EQ(density.b.Count(), 1u + 66792u);
}

}  // namespace
}  // namespace proofline::filecoin
