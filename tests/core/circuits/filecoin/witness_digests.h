// Digests of a witness and of its rows, as the known answers give them.
#pragma once

#include "core/circuits/filecoin/rows.h"
#include "core/circuits/filecoin/witness.h"
#include "tests/core/circuits/filecoin/known_answers.h"

namespace proofline::filecoin {

inline std::vector<uint8_t> ReadData(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes(std::istreambuf_iterator<char>(file), {});
  EXPECT_FALSE(bytes.empty()) << path;
  return bytes;
}

// A witness written in its compact form, with room for the alignment that readers want.
class CompactBytes {
 public:
  explicit CompactBytes(WitnessPart part)
      : size_(CompactWitnessBytes(part.count(), part.wide().size())), storage_(size_ / 64 + 1) {
    WriteCompactWitness(std::move(part), bytes());
  }
  MutableByteSpan bytes() { return {reinterpret_cast<uint8_t*>(storage_.data()), size_}; }
  CompactWitnessView view() { return *ReadCompactWitness(bytes()); }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  size_t size_;
  std::vector<Line> storage_;
};

inline std::string DigestOfValues(const CompactWitnessView& witness, uint64_t first, uint64_t last) {
  proofline::Sha256 hash;
  std::vector<uint8_t> dense;
  for (constexpr uint64_t kPiece = 1 << 16; first < last; first += kPiece) {
    dense.resize(std::min(kPiece, last - first) * kFrBytes);
    witness.Expand(first, dense);
    hash.Update(dense);
  }
  return DigestHex(hash.Finish());
}

inline std::string DigestOfRows(const RowEvaluator& rows, int matrix, uint64_t count) {
  proofline::Sha256 hash;
  constexpr uint64_t kPiece = 1 << 18;
  std::vector<Fr> values;
  for (uint64_t first = 0; first < count; first += kPiece) {
    values.resize(std::min(kPiece, count - first));
    rows.EvaluateInParallel(matrix, first, values);
    for (Fr& x : values) x = x.ToCanon();
    hash.Update({reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(Fr)});
  }
  return DigestHex(hash.Finish());
}

inline Json WitnessAnswer(const std::string& name) {
  for (const Json& line : ReadLines("sealed.jsonl"))
    if (line.contains("witness") && line["witness"] == name) return line;
  ADD_FAILURE() << "no known answer for " << name;
  return {};
}

// Inputs, auxiliary values and all three row evaluations.
inline void ExpectWitness(const Json& expected, Result<Witness> made, const CompiledCircuit& circuit) {
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  proofline::Sha256 inputs;
  for (const FrCanonical& x : made->inputs) inputs.Update(x);
  EXPECT_EQ(DigestHex(inputs.Finish()), expected["inputs_sha256"]);

  CompactBytes bytes(std::move(made->values));
  const CompactWitnessView view = bytes.view();
  ASSERT_EQ(circuit.num_inputs, expected["num_inputs"]);
  ASSERT_EQ(view.count, expected["num_inputs"].get<uint64_t>() + expected["num_aux"].get<uint64_t>());
  ASSERT_EQ(view.count, uint64_t{circuit.num_inputs} + circuit.num_aux);
  EXPECT_EQ(DigestOfValues(view, 0, circuit.num_inputs), expected["inputs_sha256"]);
  EXPECT_EQ(DigestOfValues(view, circuit.num_inputs, view.count), expected["aux_sha256"]);

  const RowEvaluator rows(circuit, view);
  ASSERT_EQ(RowsWithInputs(circuit), expected["num_rows_incl_input_rows"]);
  EXPECT_EQ(rows.FirstUnsatisfied(), circuit.num_rows);
  const char* keys[3] = {"a_sha256", "b_sha256", "c_sha256"};
  for (int m = 0; m < 3; ++m) EXPECT_EQ(DigestOfRows(rows, m, RowsWithInputs(circuit)), expected[keys[m]]) << keys[m];
}

}  // namespace proofline::filecoin
