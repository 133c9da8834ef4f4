// Compiled circuits are the circuits: expanded again they give the reference's digests, and full-size totals.
#include "core/circuits/filecoin/compiled_circuit.h"

#include "tests/core/circuits/filecoin/known_answers.h"

namespace proofline::filecoin {
namespace {

SectorShape Shape(std::string_view size) { return *SectorShapeOf(*ParseSectorSize(size)); }

Json Answer(const std::string& name) {
  for (const Json& line : ReadLines("circuits.jsonl"))
    if (line["name"] == name) return line;
  ADD_FAILURE() << name;
  return {};
}

void ExpectTotals(const Json& expected, const CompiledCircuit& circuit) {
  const R1csTotals totals = TotalsOf(circuit);
  EXPECT_EQ(circuit.num_inputs, expected["num_inputs"]);
  EXPECT_EQ(circuit.num_aux, expected["num_aux"]);
  EXPECT_EQ(totals.rows, expected["num_constraints"]);
  EXPECT_EQ(totals.nnz_a, expected["nnz_a"]);
  EXPECT_EQ(totals.nnz_b, expected["nnz_b"]);
  EXPECT_EQ(totals.nnz_c, expected["nnz_c"]);
  EXPECT_EQ(totals.a_aux, expected["a_aux_density"]);
  EXPECT_EQ(totals.b_inputs, expected["b_input_density"]);
  EXPECT_EQ(totals.b_aux, expected["b_aux_density"]);
}

void ExpectDigest(const Json& expected, const CompiledCircuit& circuit) {
  R1csDigest digest(circuit.num_inputs, circuit.num_aux, circuit.num_rows);
  ExpandRows(circuit, digest);
  EXPECT_EQ(DigestHex(digest.Finish()), expected["r1cs_digest"]);
}

TEST(FilecoinCompiled, PoSt) {
  PoStShape two = Shape("32GiB").window;
  two.sectors = 2;
  const std::pair<const char*, PoStShape> cases[] = {
      {"winning-2KiB", Shape("2KiB").winning}, {"winning-32GiB", Shape("32GiB").winning}, {"window-32GiB-2sector", two}};
  for (const auto& [name, shape] : cases) {
    SCOPED_TRACE(name);
    Result<CompiledCircuit> circuit = CompilePoSt(shape);
    ASSERT_TRUE(circuit.ok());
    ExpectTotals(Answer(name), *circuit);
    ExpectDigest(Answer(name), *circuit);
  }
}

TEST(FilecoinCompiled, FullSizeWindow) {
  Result<CompiledCircuit> circuit = CompilePoSt(Shape("32GiB").window);
  ASSERT_TRUE(circuit.ok());
  ExpectTotals(Answer("window-32GiB"), *circuit);
  EXPECT_LT(circuit->size_bytes(), uint64_t{8} << 20);
}

TEST(FilecoinCompiled, PoRepAndUpdate2KiB) {
  Result<CompiledCircuit> porep = CompilePoRep(Shape("2KiB").porep);
  ASSERT_TRUE(porep.ok());
  ExpectTotals(Answer("porep-2KiB"), *porep);
  ExpectDigest(Answer("porep-2KiB"), *porep);
  Result<CompiledCircuit> update = CompileUpdate(*Shape("2KiB").update);
  ASSERT_TRUE(update.ok());
  ExpectTotals(Answer("update-2KiB"), *update);
  ExpectDigest(Answer("update-2KiB"), *update);
}

}  // namespace
}  // namespace proofline::filecoin
