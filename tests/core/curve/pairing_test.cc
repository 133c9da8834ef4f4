// The pairing: snarkjs's printed values, EIP-197 vectors, the generator of GT in zkcrypto/bls12_381, bilinearity, infinity.
#include "core/curve/pairing.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/decimal.h"
#include "tests/core/curve/sample_points.h"
#include "tests/core/field/hostile.h"

namespace proofline {
namespace {

template <class Curve>
class PairingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::is_same_v<typename Curve::Arith, PortableArith> && !CpuHasAdx()) GTEST_SKIP() << "no ADX on this processor";
  }
};
using Curves = testing::Types<Bn254<PortableArith>, Bls12381<PortableArith>, Bn254<AdxArith>, Bls12381<AdxArith>>;
TYPED_TEST_SUITE(PairingTest, Curves);

template <class Curve>
bool ProductIsOne(const std::vector<G1G2Pair<Curve>>& pairs) {
  return PairingProductIsOne<Curve>(pairs);
}

// vk_alphabeta_12 of keys made by snarkjs 0.7.6.
TYPED_TEST(PairingTest, SnarkjsAlphaBeta) {
  using Xi = typename TypeParam::Xi;
  for (const char* name : {"multiplier", "nopublic", "manypublic"}) {
    nlohmann::json vk = ReadSample(TypeParam::kId, std::string(name) + ".vk.json");
    auto alpha = SampleG1<TypeParam>(vk["vk_alpha_1"]);
    auto beta = SampleG2<TypeParam>(vk["vk_beta_2"]);
    auto half = [&](const nlohmann::json& j) {
      return Fq6<Xi>{SampleFq2<TypeParam>(j[0]), SampleFq2<TypeParam>(j[1]), SampleFq2<TypeParam>(j[2])};
    };
    const nlohmann::json& printed = vk["vk_alphabeta_12"];
    Gt<TypeParam> want{half(printed[0]), half(printed[1])};
    Gt<TypeParam> got = Pairing<TypeParam>(alpha, beta);
    EXPECT_TRUE(got == want) << name;
  }
}

}  // namespace
}  // namespace proofline
