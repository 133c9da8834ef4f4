// Key generation against a key small enough to write down, and its edges.
#include "core/groth16/setup.h"

#include <gtest/gtest.h>

#include "core/groth16/setup_impl.h"
#include "tests/core/groth16/key_in_memory.h"
#include "tests/core/groth16/odd_circuits.h"
#include "tests/core/groth16/twin.h"

namespace proofline {
namespace {

template <class Curve>
class SetupTest : public ::testing::Test {};
using Curves = ::testing::Types<Bn254<PortableArith>, Bls12381<PortableArith>>;
TYPED_TEST_SUITE(SetupTest, Curves);

template <class Point, class Fr>
void ExpectPoints(const std::vector<uint8_t>& bytes, const Point& generator, const std::vector<Fr>& logs) {
  ASSERT_EQ(bytes.size(), logs.size() * Point::kBytes);
  for (size_t i = 0; i < logs.size(); ++i)
    EXPECT_TRUE(Point::Load(&bytes[i * Point::kBytes]) == ScalarMulFr(generator, logs[i]).ToAffine()) << i;
}

// x * x = y without public signals: wires 1, x, y; one constraint and the constant's row, so the domain is {1, -1} and
//   L_0 = (1 + t)/2,  L_1 = (1 - t)/2,  u_1 = L_1 (its extra row), u_x = v_x = L_0, w_y = L_0, all others 0.
// The domain of size 4 is {1, i, -1, -i}: L'_1 = (t^2 - 1)(t + i)/(-4i), L'_3 = (t^2 - 1)(t - i)/(4i).
TYPED_TEST(SetupTest, KeyOfOneSquareWrittenDown) {
  using Curve = TypeParam;
  using Fr = typename Curve::Fr;
  CircuitBuilder<typename Fr::Modulus> b(Curve::kId);
  Wire x = b.AddPrivateInput(Fr::FromU64(3));
  b.Multiply(b.Linear(x), b.Linear(x));
  Circuit circuit = std::move(b).Finish();
  KeyInMemory key;
  ASSERT_TRUE(GenerateKey(circuit.view(), "by hand", key).ok());
  ASSERT_TRUE(key.CheckFull().ok());
  EXPECT_EQ(key.shape().n_vars, 3u);
  EXPECT_EQ(key.shape().n_public, 0u);
  EXPECT_EQ(key.shape().log2_domain, 1u);

  auto secret = DeriveSetupSecret<Fr>("by hand", 1);
  ASSERT_TRUE(secret.ok());
  const auto [t, alpha, beta, delta] = *secret;
  const Fr one = Fr::One(), zero = Fr::Zero(), half = Fr::FromU64(2).Inverse(), by_delta = delta.Inverse();
  const Fr l0 = (one + t) * half, l1 = (one - t) * half;
  const auto g1 = Curve::Generator1();
  const auto g2 = Curve::Generator2();
  ExpectPoints<typename Curve::G1, Fr>(key.section(KeySink::kIc), g1, {beta * l1});
  ExpectPoints<typename Curve::G1, Fr>(key.section(KeySink::kA), g1, {l1, l0, zero});
  ExpectPoints<typename Curve::G1, Fr>(key.section(KeySink::kB1), g1, {zero, l0, zero});
  ExpectPoints<typename Curve::G2, Fr>(key.section(KeySink::kB2), g2, {zero, l0, zero});
  ExpectPoints<typename Curve::G1, Fr>(key.section(KeySink::kC), g1, {(beta + alpha) * l0 * by_delta, l0 * by_delta});
  const Fr i = Fr::FromU64(5).Pow(LimbsDiv(LimbsSub(Fr::Modulus::kValue, 1), 4));
  ASSERT_TRUE(i.Square() == -one);
  const Fr h1 = (t.Square() - one) * (t + i) * (-(Fr::FromU64(4) * i)).Inverse();
  const Fr h3 = (t.Square() - one) * (t - i) * (Fr::FromU64(4) * i).Inverse();
  ExpectPoints<typename Curve::G1, Fr>(key.section(KeySink::kH), g1, {h1 * by_delta, h3 * by_delta});

  const auto& header = key.section(KeySink::kHeaderPoints);
  const size_t n1 = Curve::G1::kBytes, n2 = Curve::G2::kBytes;
  auto part = [&](size_t at, size_t bytes) { return std::vector<uint8_t>(header.begin() + at, header.begin() + at + bytes); };
  ExpectPoints<typename Curve::G1, Fr>(part(0, 2 * n1), g1, {alpha, beta});
  ExpectPoints<typename Curve::G2, Fr>(part(2 * n1, 2 * n2), g2, {beta, one});
  ExpectPoints<typename Curve::G1, Fr>(part(2 * n1 + 2 * n2, n1), g1, {delta});
  ExpectPoints<typename Curve::G2, Fr>(part(3 * n1 + 2 * n2, n2), g2, {delta});
}

// matrix, constraint, signal of each record; every coefficient here is 1.
TYPED_TEST(SetupTest, CoefficientRecordsAreInSnarkjsOrder) {
  using Curve = TypeParam;
  using Fr = typename Curve::Fr;
  CircuitBuilder<typename Fr::Modulus> b(Curve::kId);
  Wire out = b.AddOutput();
  Wire x = b.AddPrivateInput(Fr::FromU64(3)), y = b.AddPrivateInput(Fr::FromU64(4));
  Wire xy = b.Multiply(b.Linear({{Fr::One(), y}, {Fr::One(), x}}), b.Linear(x));
  b.AssertOutput(out, b.Linear(xy));  // linear: leaves no record
  b.Multiply(b.Linear(xy), b.Linear(y));
  Circuit circuit = std::move(b).Finish();
  KeyInMemory key;
  ASSERT_TRUE(GenerateKey(circuit.view(), "records", key).ok());
  const uint32_t expected[][3] = {{0, 0, 3}, {0, 0, 2}, {1, 0, 2}, {0, 2, 4}, {1, 2, 3}, {0, 3, 0}, {0, 4, 1}};
  const auto& bytes = key.section(KeySink::kCoefficients);
  ASSERT_EQ(bytes.size(), std::size(expected) * 44);
  for (size_t i = 0; i < std::size(expected); ++i) {
    for (int j = 0; j < 3; ++j) EXPECT_EQ(LoadLe<uint32_t>(&bytes[i * 44 + j * 4]), expected[i][j]) << i << " " << j;
    // 1 * 2^512 mod r.
    EXPECT_TRUE(Fr::LoadMont(&bytes[i * 44 + 12]) == Fr::FromRaw(Fr::kR2)) << i;
  }
}

// Every point of the queries against the product formula for Lagrange polynomials, for circuits with something unusual.
TYPED_TEST(SetupTest, QueriesOfOddCircuits) {
  using Curve = TypeParam;
  using Fr = typename Curve::Fr;
  for (const NamedCircuit& named : OddCircuits<typename Fr::Modulus>(Curve::kId)) {
    SCOPED_TRACE(named.name);
    R1csView r1cs = named.circuit.view();
    KeyInMemory key;
    ASSERT_TRUE(GenerateKey(r1cs, "odd", key).ok());
    auto secret = DeriveSetupSecret<Fr>("odd", key.shape().log2_domain);
    TwinProver<Fr> twin(r1cs, key.shape().log2_domain, *secret);
    std::vector<Fr> u, v, ic, c;
    for (uint32_t s = 0; s < r1cs.n_wires; ++s) {
      u.push_back(twin.U(s));
      v.push_back(twin.V(s));
      const Fr mixed = secret->beta * u[s] + secret->alpha * v[s] + twin.W(s);
      if (s <= r1cs.n_public()) {
        ic.push_back(mixed);
      } else {
        c.push_back(mixed * secret->delta.Inverse());
      }
    }
    ExpectPoints<typename Curve::G1, Fr>(key.section(KeySink::kA), Curve::Generator1(), u);
    ExpectPoints<typename Curve::G2, Fr>(key.section(KeySink::kB2), Curve::Generator2(), v);
    ExpectPoints<typename Curve::G1, Fr>(key.section(KeySink::kIc), Curve::Generator1(), ic);
    ExpectPoints<typename Curve::G1, Fr>(key.section(KeySink::kC), Curve::Generator1(), c);
  }
}

TEST(Setup, SameSeedSameKeyOtherSeedOtherKey) {
  auto circuit = MakeChainCircuit(CurveId::kBn254, {.steps = 1, .rounds = 2, .seed = "same"});
  KeyInMemory a, b, c;
  ASSERT_TRUE(GenerateKey(circuit->view(), "one", a).ok());
  ASSERT_TRUE(GenerateKey(circuit->view(), "one", b).ok());
  ASSERT_TRUE(GenerateKey(circuit->view(), "two", c).ok());
  for (auto section : {KeySink::kHeaderPoints, KeySink::kA, KeySink::kC, KeySink::kH}) {
    EXPECT_EQ(a.section(section), b.section(section));
    EXPECT_NE(a.section(section), c.section(section));
  }
}

// What snarkjs computes: floor(log2(rows - 1)) + 1, with log2(0) taken as 0.
TEST(Setup, DomainIsTheSmallestPowerOfTwoAndAtLeastTwo) {
  R1csView r1cs;
  for (auto [constraints, n_public, log2] :
       {std::array{0u, 0u, 1u}, {1u, 0u, 1u}, {0u, 1u, 1u}, {1u, 1u, 2u}, {3u, 0u, 2u}, {2u, 2u, 3u}, {7u, 0u, 3u}, {7u, 1u, 4u},
        {65535u, 0u, 16u}, {65535u, 1u, 17u}}) {
    r1cs.n_constraints = constraints;
    r1cs.n_pub_in = n_public;
    auto found = SetupLog2Domain(r1cs);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, log2) << constraints << " " << n_public;
  }
  r1cs.n_pub_in = 0;
  r1cs.n_constraints = (1u << 27) - 1;
  EXPECT_EQ(*SetupLog2Domain(r1cs), 27u);
  r1cs.n_constraints = 1u << 27;
  EXPECT_EQ(SetupLog2Domain(r1cs).status().code(), ErrorCode::kUnsupported);
  r1cs.curve = CurveId::kBls12381;
  EXPECT_EQ(*SetupLog2Domain(r1cs), 28u);
}

TEST(Setup, ImpossibleSystemsAreRefused) {
  KeyInMemory key;
  R1csView r1cs;
  EXPECT_EQ(GenerateKey(r1cs, "x", key).code(), ErrorCode::kInvalidArgument);
  r1cs.n_wires = 3;
  r1cs.n_pub_out = 3;
  EXPECT_EQ(GenerateKey(r1cs, "x", key).code(), ErrorCode::kInvalidArgument);
  r1cs.n_pub_out = r1cs.n_pub_in = 0x80000000u;
  EXPECT_EQ(GenerateKey(r1cs, "x", key).code(), ErrorCode::kInvalidArgument);
}

TEST(Setup, FailuresOfTheSinkArePassedUp) {
  struct FailingSink : KeyInMemory {
    int left = 0;
    Status Append(ByteSpan bytes) override {
      if (left-- == 0) return Status(ErrorCode::kResource, "disk full");
      return KeyInMemory::Append(bytes);
    }
  };
  auto circuit = MakeChainCircuit(CurveId::kBn254, {.steps = 1, .rounds = 1, .seed = "sink"});
  for (int calls : {0, 1, 4, 5, 9}) {
    FailingSink sink;
    sink.left = calls;
    EXPECT_EQ(GenerateKey(circuit->view(), "x", sink).code(), ErrorCode::kResource) << calls;
  }
}

}  // namespace
}  // namespace proofline
