// The circuits of 32 GiB sectors, compiled: totals, time and size; and a complete partition of PoRep, 130 million values and rows against the
// reference's digests. A minute or two.
#include <chrono>
#include <sys/resource.h>

#include "core/circuits/filecoin/sparse_sector.h"
#include "core/circuits/filecoin/witness.h"
#include "tests/core/circuits/filecoin/witness_digests.h"

namespace proofline::filecoin {
namespace {

SectorShape Shape(std::string_view size) { return *SectorShapeOf(*ParseSectorSize(size)); }

Json SparseLine() {
  for (const Json& line : ReadLines("sealed.jsonl"))
    if (line.contains("sparse")) return line;
  ADD_FAILURE() << "no known answer of a sector without sealing";
  return {};
}

class Stopwatch {
 public:
  // Since the last call.
  double Seconds() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec * 1e-6 + usage.ru_stime.tv_sec + usage.ru_stime.tv_usec * 1e-6;
}

void ExpectCompiled(const std::string& name, const Result<CompiledCircuit>& circuit, double seconds) {
  ASSERT_TRUE(circuit.ok()) << circuit.status().ToString();
  std::printf("%s: compiled in %.1f s, %.1f MiB, %zu coefficients\n", name.c_str(), seconds, circuit->size_bytes() / 1048576.0,
              circuit->coefficients.size());
  EXPECT_LT(circuit->size_bytes(), uint64_t{1} << 30);
  const R1csTotals totals = TotalsOf(*circuit);
  for (const Json& line : ReadLines("circuits.jsonl")) {
    if (line["name"] != name) continue;
    EXPECT_EQ(circuit->num_inputs, line["num_inputs"]);
    EXPECT_EQ(circuit->num_aux, line["num_aux"]);
    EXPECT_EQ(totals.rows, line["num_constraints"]);
    EXPECT_EQ(totals.nnz_a, line["nnz_a"]);
    EXPECT_EQ(totals.nnz_b, line["nnz_b"]);
    EXPECT_EQ(totals.nnz_c, line["nnz_c"]);
    EXPECT_EQ(totals.a_aux, line["a_aux_density"]);
    EXPECT_EQ(totals.b_inputs, line["b_input_density"]);
    EXPECT_EQ(totals.b_aux, line["b_aux_density"]);
  }
}

// Proofs of the right form and no meaning: what share of a witness is bits depends on the form alone, within what chance does to hash outputs.
class MeaninglessProofs {
 public:
  FrCanonical Element() {
    state_ = state_ * Fr::FromU64(0x9e3779b97f4a7c15) + Fr::One();
    return CanonicalOf(state_.Square());
  }
  MerkleProof Path(const TreeShape& tree) {
    MerkleProof proof{Element(), Element(), {}};
    for (uint32_t arity : tree.levels()) {
      PathElement& e = proof.path.emplace_back();
      for (uint32_t i = 0; i + 1 < arity; ++i) e.siblings.push_back(Element());
      e.index = Element()[0] % arity;
    }
    return proof;
  }
  PoStSector Sector(const PoStShape& shape, uint32_t openings) {
    PoStSector sector{1, Element(), Element(), Element(), {}};
    for (uint32_t i = 0; i < openings; ++i) sector.openings.push_back(Path(shape.tree));
    return sector;
  }
  UpdatePartition Update(const UpdateShape& shape) {
    UpdatePartition p{3, 8, Element(), Element(), Element(), Element(), {}, {}};
    for (uint32_t i = 0; i < shape.apex_leaves; ++i) p.apex_leaves.push_back(Element());
    for (uint32_t i = 0; i < shape.challenges; ++i)
      p.challenges.push_back({Path(shape.tree), Path(BinaryTree(shape.tree.leaves)), Path(shape.tree)});
    return p;
  }

 private:
  Fr state_ = Fr::FromU64(7);
};

void PrintShares(const char* name, Result<Witness> witness, uint64_t aux) {
  ASSERT_TRUE(witness.ok()) << witness.status().ToString();
  const uint64_t inputs = witness->inputs.size();
  CompactBytes bytes(std::move(witness->values));
  const ValueShares s = SharesOf(bytes.view());
  std::printf("%s: zero %llu, one %llu, small %llu, wide %llu, compact %zu bytes, dense %llu\n", name, (unsigned long long)s.zero,
              (unsigned long long)s.one, (unsigned long long)s.small, (unsigned long long)s.wide, bytes.bytes().size(),
              (unsigned long long)(s.zero + s.one + s.small + s.wide) * kFrBytes);
  EXPECT_EQ(s.zero + s.one + s.small + s.wide, inputs + aux);
}

TEST(FilecoinFullSize, SharesOfWitnesses) {
  MeaninglessProofs proofs;
  const SectorShape shape = Shape("32GiB");
  PoStShape one_sector = shape.window;
  one_sector.sectors = 1;
  const PoStSector sector = proofs.Sector(one_sector, one_sector.challenges);
  PrintShares("window, one of 2349 sectors", MakeWindowWitness(one_sector, std::span(&sector, 1)), 54024);
  PrintShares("winning", MakeWinningWitness(shape.winning, proofs.Sector(shape.winning, 66)), 375210);
  Stopwatch clock;
  const double cpu = CpuSeconds();
  Result<Witness> update = MakeUpdateWitness(*shape.update, proofs.Update(*shape.update));
  std::printf("update witness: %.2f s, %.2f core-seconds\n", clock.Seconds(), CpuSeconds() - cpu);
  PrintShares("update", std::move(update), 80978488);
}

TEST(FilecoinFullSize, Window32GiB) {
  Stopwatch clock;
  const Result<CompiledCircuit> circuit = CompilePoSt(Shape("32GiB").window);
  ExpectCompiled("window-32GiB", circuit, clock.Seconds());
}

TEST(FilecoinFullSize, Update32GiB) {
  Stopwatch clock;
  const Result<CompiledCircuit> circuit = CompileUpdate(*Shape("32GiB").update);
  ExpectCompiled("update-32GiB", circuit, clock.Seconds());
}

TEST(FilecoinFullSize, PoRep32GiB) {
  Stopwatch clock;
  const PoRepShape shape = Shape("32GiB").porep;
  const Result<CompiledCircuit> circuit = CompilePoRep(shape);
  ExpectCompiled("porep-32GiB", circuit, clock.Seconds());
  ASSERT_TRUE(circuit.ok());
  const Json sparse = SparseLine();
  const SparseSector sector(shape, {"fil32g-sparse", FrFromHex(sparse["prover_id"]), PoRepIdOf(sparse["porep_id_le"]), sparse["sector_id"]});
  const PoRepPartition partition = sector.Partition(0);
  std::printf("sector without sealing: %.2f s\n", clock.Seconds());
  const Status checked = CheckPoRep(shape, partition, 0, &sector.facts());
  std::printf("native check: %.2f s\n", clock.Seconds());
  ASSERT_TRUE(checked.ok()) << checked.ToString();
  clock.Seconds();
  const double cpu = CpuSeconds();
  Result<Witness> witness = MakePoRepWitness(shape, partition);
  std::printf("witness: %.2f s, %.2f core-seconds\n", clock.Seconds(), CpuSeconds() - cpu);
  ASSERT_TRUE(witness.ok()) << witness.status().ToString();
  {
    CompactBytes bytes(witness->values);
    const CompactWitnessView view = bytes.view();
    const ValueShares shares = SharesOf(view);
    std::printf("zero %llu, one %llu, small %llu, wide %llu, compact %zu bytes\n", (unsigned long long)shares.zero,
                (unsigned long long)shares.one, (unsigned long long)shares.small, (unsigned long long)shares.wide, bytes.bytes().size());
    const RowEvaluator rows(*circuit, view);
    std::vector<Fr> values(1 << 22);
    for (int m = 0; m < 3; ++m) {
      clock.Seconds();
      const double cpu_before = CpuSeconds();
      rows.EvaluateInParallel(m, 8'000'000, values);
      std::printf("rows of matrix %d: %.1f ns a row, %.1f core-ns\n", m, clock.Seconds() / values.size() * 1e9,
                  (CpuSeconds() - cpu_before) / values.size() * 1e9);
    }
  }
  ExpectWitness(WitnessAnswer("fil32g-sparse/p0"), std::move(witness), *circuit);
}

}  // namespace
}  // namespace proofline::filecoin
