#include "core/circuits/builder.h"
#include "core/circuits/circuit.h"
#include "core/groth16/sample.h"

namespace proofline {

namespace {

constexpr int kMessageBits = 64;

template <class Fr>
Result<std::vector<Fr>> RoundConstants(uint32_t count) {
  PL_ASSIGN_OR_RETURN(SeededStream stream, SeededStream::Create("proofline chain", "round constants"));
  std::vector<Fr> constants(count);
  for (Fr& c : constants) {
    PL_ASSIGN_OR_RETURN(c, SampleField<Fr>([&](MutableByteSpan out) { return stream.Fill(out); }));
  }
  return constants;
}

// (state + message + c)^5 and so on through all rounds; the first round takes the message in.
template <class FrModulus>
Wire Permute(CircuitBuilder<FrModulus>& b, Wire state, Wire message, const std::vector<Fp<FrModulus>>& constants) {
  using Fr = Fp<FrModulus>;
  for (size_t round = 0; round < constants.size(); ++round) {
    auto base = b.Linear({{Fr::One(), state}, {constants[round], kOneWire}});
    if (round == 0) b.Accumulate(base, Fr::One(), message);
    Wire square = b.Multiply(base, base);
    Wire fourth = b.Multiply(b.Linear(square), b.Linear(square));
    state = b.Multiply(b.Linear(fourth), base);
  }
  return state;
}

template <class FrModulus>
Result<Circuit> Make(CurveId curve, const ChainOptions& options) {
  using Fr = Fp<FrModulus>;
  PL_ASSIGN_OR_RETURN(std::vector<Fr> constants, RoundConstants<Fr>(options.rounds));
  PL_ASSIGN_OR_RETURN(SeededStream inputs, SeededStream::Create(options.seed, "chain inputs"));
  PL_ASSIGN_OR_RETURN(Fr first, SampleField<Fr>([&](MutableByteSpan out) { return inputs.Fill(out); }));

  CircuitBuilder<FrModulus> b(curve);
  Wire last = b.AddOutput();
  Wire state = b.AddPublicInput(first);
  std::vector<uint64_t> values(options.steps);
  PL_RETURN_IF_ERROR(inputs.Fill(MutableByteSpan(reinterpret_cast<uint8_t*>(values.data()), values.size() * 8)));
  std::vector<Wire> messages;
  for (uint64_t v : values) messages.push_back(b.AddPrivateInput(Fr::FromU64(v)));
  for (uint32_t step = 0; step < options.steps; ++step) {
    b.Decompose(b.Linear(messages[step]), values[step], kMessageBits);
    state = Permute<FrModulus>(b, state, messages[step], constants);
  }
  b.AssertOutput(last, b.Linear(state));
  return std::move(b).Finish();
}

}  // namespace

uint64_t ChainConstraints(const ChainOptions& options) {
  return uint64_t{options.steps} * (3 * uint64_t{options.rounds} + kMessageBits + 1) + 1;
}

Result<Circuit> MakeChainCircuit(CurveId curve, const ChainOptions& options) {
  return curve == CurveId::kBn254 ? Make<Bn254FrModulus>(curve, options) : Make<Bls12381FrModulus>(curve, options);
}

}  // namespace proofline
