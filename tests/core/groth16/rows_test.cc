#include "core/groth16/rows.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <chrono>
#include <cstdio>
#include <random>

#include "core/field/arith.h"

namespace proofline {
namespace {

struct Record {
  uint32_t matrix, constraint, signal;
};

// A key with nothing but coefficients, and a witness.
template <class Fr>
struct Case {
  std::vector<uint8_t> coefficients, witness;
  std::vector<Fr> plain_coefficients, plain_witness;  // Montgomery
  std::vector<Record> records;
  ProvingKeyView key;

  Case(uint32_t log2_domain, uint32_t n_vars) {
    key.log2_domain = log2_domain;
    key.n_vars = n_vars;
    witness.resize(n_vars * size_t{32});
  }
  void SetWitness(uint32_t signal, const Fr& value) {
    plain_witness.resize(key.n_vars, Fr::Zero());
    plain_witness[signal] = value;
    value.StoreCanon(&witness[signal * size_t{32}]);
  }
  void Add(Record r, const Fr& coefficient) {
    records.push_back(r);
    plain_coefficients.push_back(coefficient);
    size_t at = coefficients.size();
    coefficients.resize(at + 44);
    StoreLe(&coefficients[at], r.matrix);
    StoreLe(&coefficients[at + 4], r.constraint);
    StoreLe(&coefficients[at + 8], r.signal);
    coefficient.ToMont().StoreMont(&coefficients[at + 12]);
    key.coefficients = coefficients;
  }
  std::vector<Fr> Naive(uint32_t matrix) const {
    std::vector<Fr> rows(key.domain(), Fr::Zero());
    for (size_t i = 0; i < records.size(); ++i)
      if (records[i].matrix == matrix) rows[records[i].constraint] += plain_coefficients[i] * plain_witness[records[i].signal];
    return rows;
  }
  void Check() const {
    size_t bytes = key.domain() * size_t{32};
    // One byte in front, so that nothing may rely on alignment; stale contents, so that empty rows must be written.
    std::vector<uint8_t> a(bytes + 1, 0xee), b(bytes + 1, 0xee);
    for (bool unsorted : {false, true}) {
      RowComputer<Fr> computer(key, witness, MutableByteSpan(a).subspan(1), MutableByteSpan(b).subspan(1));
      ASSERT_TRUE((unsorted ? computer.RunUnsorted() : computer.Run()).ok());
      std::vector<Fr> naive_a = Naive(0), naive_b = Naive(1);
      for (uint32_t i = 0; i < key.domain(); ++i) {
        ASSERT_TRUE(Fr::LoadMont(&a[1 + i * size_t{32}]) == naive_a[i]) << i;
        ASSERT_TRUE(Fr::LoadMont(&b[1 + i * size_t{32}]) == naive_b[i]) << i;
      }
    }
  }
};

template <class Fr>
Fr RandomFr(std::mt19937_64& rng) {
  switch (rng() % 6) {
    case 0: return Fr::Zero();
    case 1: return Fr::One();
    case 2: return -Fr::One();
    default: return Fr::FromU64(rng()) * Fr::FromU64(rng()) * Fr::FromU64(rng()) * Fr::FromU64(rng()) * Fr::FromU64(rng());
  }
}

template <class Fr>
class RowsTest : public ::testing::Test {};
using Fields = ::testing::Types<Fp<Bn254FrModulus, PortableArith>, Fp<Bls12381FrModulus, PortableArith>,
                                Fp<Bn254FrModulus, AdxArith>, Fp<Bls12381FrModulus, AdxArith>>;
TYPED_TEST_SUITE(RowsTest, Fields);

template <class Fr>
bool CanRun() {
  return !std::is_same_v<Fr, Fp<typename Fr::Modulus, AdxArith>> || CpuHasAdx();
}

enum class Order { kSorted, kMatrixByMatrix, kReversed, kShuffled, kOneRow };

TYPED_TEST(RowsTest, AgreeWithTheNaiveSumInEveryOrder) {
  using Fr = TypeParam;
  if (!CanRun<Fr>()) GTEST_SKIP() << "this processor has no ADX";
  std::mt19937_64 rng(7);
  for (Order order : {Order::kSorted, Order::kMatrixByMatrix, Order::kReversed, Order::kShuffled, Order::kOneRow})
    for (size_t count : {size_t{0}, size_t{1}, size_t{5}, size_t{1} << 14, (size_t{3} << 14) + 11, size_t{90000}}) {
      Case<Fr> c(13, 1000);
      for (uint32_t s = 0; s < 1000; ++s) c.SetWitness(s, s == 0 ? Fr::One() : RandomFr<Fr>(rng));
      std::vector<Record> records(count);
      for (Record& r : records)
        r = {uint32_t(rng() % 2), order == Order::kOneRow ? 77 : uint32_t(rng() % 8192), uint32_t(rng() % 1000)};
      if (order == Order::kSorted)
        std::stable_sort(records.begin(), records.end(), [](auto& x, auto& y) { return x.constraint < y.constraint; });
      if (order == Order::kReversed)
        std::stable_sort(records.begin(), records.end(), [](auto& x, auto& y) { return x.constraint > y.constraint; });
      if (order == Order::kMatrixByMatrix)
        std::stable_sort(records.begin(), records.end(),
                         [](auto& x, auto& y) { return std::pair(x.matrix, x.constraint) < std::pair(y.matrix, y.constraint); });
      for (const Record& r : records) c.Add(r, RandomFr<Fr>(rng));
      c.Check();
    }
}

TYPED_TEST(RowsTest, ManyMaximalTermsInOneRow) {
  using Fr = TypeParam;
  if (!CanRun<Fr>()) GTEST_SKIP() << "this processor has no ADX";
  Case<Fr> c(1, 2);
  c.SetWitness(0, Fr::One());
  c.SetWitness(1, -Fr::One());
  for (int i = 0; i < 1000; ++i) c.Add({uint32_t(i % 2), 1, 1}, -Fr::One());
  c.Check();
}

TEST(Rows, RecordsOutOfRangeAreAnErrorAndNotAnAccess) {
  using Fr = Fp<Bn254FrModulus>;
  for (Record bad : {Record{2, 0, 0}, Record{0, 8, 0}, Record{1, 0, 3}, Record{0, 0xffffffff, 0}, Record{0, 0, 0xffffffff}})
    for (size_t at : {0, 1, 20000, 39999}) {
      Case<Fr> c(3, 3);
      for (uint32_t s = 0; s < 3; ++s) c.SetWitness(s, Fr::One());
      for (size_t i = 0; i < 40000; ++i)
        c.Add(i == at ? bad : Record{0, uint32_t(i / 5000), 1}, Fr::One());
      std::vector<uint8_t> a(8 * 32), b(8 * 32);
      EXPECT_EQ(RowComputer<Fr>(c.key, c.witness, a, b).Run().code(), ErrorCode::kInvalidFile);
      EXPECT_EQ(RowComputer<Fr>(c.key, c.witness, a, b).RunUnsorted().code(), ErrorCode::kInvalidFile);
    }
}

// Not an assertion about time: prints what a large key costs. Run by hand in a release build.
TEST(Rows, DISABLED_TimeOfFourMillionRecords) {
  using Fr = Fp<Bn254FrModulus, AdxArith>;
  std::mt19937_64 rng(1);
  constexpr uint32_t kVars = 1 << 20;
  Case<Fr> c(20, kVars);
  Fr values[64];
  for (Fr& v : values) v = RandomFr<Fr>(rng);
  c.coefficients.reserve(size_t{44} << 22);
  for (uint32_t s = 0; s < kVars; ++s) c.SetWitness(s, values[rng() % 64]);
  for (uint32_t i = 0; i < 1u << 22; ++i) c.Add({i % 2, i / 4, uint32_t((i / 4 + rng() % 4096) % kVars)}, values[rng() % 64]);
  std::vector<uint8_t> a(size_t{32} << 20), b(size_t{32} << 20);
  for (int threads : {1, 2})
    for (bool unsorted : {false, true}) {
      tbb::task_arena arena(threads);
      auto start = std::chrono::steady_clock::now();
      RowComputer<Fr> computer(c.key, c.witness, a, b);
      arena.execute([&] { ASSERT_TRUE((unsorted ? computer.RunUnsorted() : computer.Run()).ok()); });
      double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      printf("%d threads, %s: %.1f ms\n", threads, unsorted ? "by index" : "in file order", ms);
    }
}

}  // namespace
}  // namespace proofline
